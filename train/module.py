"""What Lightning trains: a value network, its loss, its schedule, what is logged."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import lightning
import torch
from torch import Tensor

from deepstack.run.errors import InputError
from deepstack.values.model import ValueNetwork
from train.data import Batch, SolvedData
from train.metrics import Errors, loss
from train.pictures import draw_situations

WARM_UP = 200
"""Steps over which the learning rate grows to its full size."""
PUBLISHED = (200 / 350, 0.1)
"""DeepStack: after 200 of some 350 epochs the learning rate falls to a tenth."""
PICTURES = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to train and how the learning rate moves.

    Attributes:
        rate: the highest learning rate.
        decay: AdamW's weight decay.
        schedule: ``cosine`` to zero, or ``published``.
        epochs: passes over the data, or None if time decides.
        minutes: of training, over all runs that continue each other; or None.
    """

    rate: float
    decay: float
    schedule: str = "cosine"
    epochs: float | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        if self.schedule not in ("cosine", "published"):
            raise InputError(f"schedule {self.schedule!r}: expected cosine or published")
        if (self.epochs is None) == (self.minutes is None):
            raise InputError(f"epochs={self.epochs} minutes={self.minutes}: expected one of them")
        for name, value in (("epochs", self.epochs), ("minutes", self.minutes)):
            if value is not None and not value > 0:
                raise InputError(f"{name}={value}: expected a positive number")
        if not self.rate > 0 or not self.decay >= 0:
            raise InputError(
                f"learning_rate={self.rate} weight_decay={self.decay}: expected a positive number "
                "and one that is not negative"
            )

    def factor(self, done: float, step: int) -> float:
        """What the learning rate is multiplied with when a share of the training is done."""
        warm = min(1.0, (step + 1) / WARM_UP)
        if self.schedule == "published":
            return 1.0 if done < PUBLISHED[0] else PUBLISHED[1]
        return warm * (0.5 + 0.5 * math.cos(math.pi * min(done, 1.0)))


class Training(lightning.LightningModule):
    """A value network under training.

    Args:
        network: to be trained.
        plan: for how long and how.
        about: what checkpoints keep beside the weights; ``promote`` reads it.
    """

    def __init__(self, network: ValueNetwork, plan: Plan, about: dict[str, Any]) -> None:
        super().__init__()
        self.network, self.plan, self.about = network, plan, about
        self.errors = Errors()
        self.figures: dict[str, float] = {}
        self.seconds = 0.0
        """Trained so far, in earlier runs too."""
        self._clock = 0.0

    # ---- time

    @property
    def data(self) -> SolvedData:
        data: Any = self.trainer.datamodule  # type: ignore[attr-defined]
        return data

    @property
    def passes(self) -> float:
        """Passes over the data so far."""
        return self.global_step * self.data.batch / self.data.samples

    @property
    def done(self) -> float:
        """The share of the training that is done."""
        if self.plan.minutes is not None:
            return self.seconds / (60 * self.plan.minutes)
        assert self.plan.epochs is not None
        return self.passes / self.plan.epochs

    def on_fit_start(self) -> None:
        self.errors = Errors(self.data.sources)

    def on_train_start(self) -> None:
        self._clock = time.perf_counter()

    def on_train_epoch_start(self) -> None:
        self.data.begin_epoch(self.current_epoch)

    # ---- steps

    def configure_optimizers(self) -> torch.optim.Optimizer:
        plan = self.plan
        # biases, slopes and scales are not decayed
        plain = [p for p in self.network.parameters() if p.ndim < 2]
        decayed = [p for p in self.network.parameters() if p.ndim >= 2]
        groups: list[dict[str, Any]] = [{"params": decayed}, {"params": plain, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=plan.rate, weight_decay=plan.decay, betas=(0.9, 0.98))

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        now = time.perf_counter()
        self.seconds, self._clock = self.seconds + now - self._clock, now
        rate = self.plan.rate * self.plan.factor(self.done, self.global_step)
        optimizers = self.optimizers()
        for group in optimizers.param_groups:  # type: ignore[union-attr]
            group["lr"] = rate

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        found = loss(self.network(batch.situations), batch.values)
        if not torch.isfinite(found):
            raise InputError(
                f"loss {float(found)} at step {self.global_step}: expected a finite one; "
                "go on from the last checkpoint with a smaller net.learning_rate"
            )
        if self.global_step % 50 == 0:
            self.log("training/huber", found, prog_bar=False)
        return found

    def on_train_batch_end(self, outputs: Any, batch: Batch, batch_idx: int) -> None:
        if self.done >= 1:
            self.trainer.should_stop = True

    # ---- validation

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        said = self.network(batch.situations)
        self.errors.add(batch.situations, said, batch.values, batch.source)

    def on_validation_epoch_end(self) -> None:
        # every process measures all of the validation data
        self.figures = self.errors.figures()
        for name, figure in self.figures.items():
            self.log(name.replace("validation_", "validation/"), figure, rank_zero_only=True)
        for name, figure in self.errors.groups().items():
            self.log(f"huber by {name}", figure, rank_zero_only=True)
        self.errors = Errors(self.data.sources)
        if self.trainer.is_global_zero and not self.trainer.sanity_checking:
            self._log_pictures()

    def _log_pictures(self) -> None:
        """Pictures at the first validation, after 1, 3, 7, … more, and at the end."""
        epoch, writer = self.current_epoch + 1, getattr(self.logger, "experiment", None)
        if writer is None or (epoch & (epoch - 1) and self.done < 1):
            return
        batches = self.data.validation_batches()
        batch = batches.batch(self.data.held_out[:PICTURES])
        for number, figure in enumerate(draw_situations(self.network, batch)):
            writer.add_figure(f"situation {number}", figure, self.global_step)

    # ---- checkpoints

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["seconds"] = self.seconds
        origin = {"epochs": self.passes, "figures": self.figures}
        checkpoint["about"] = {**self.about, **origin}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.seconds = float(checkpoint["seconds"])
