"""``deepstack report``: the page of results and its plots, from the files of experiments."""

from __future__ import annotations

from pathlib import Path

from omegaconf import DictConfig

from deepstack.experiments.pages import EXPERIMENTS, PROGRAMS, write_page
from deepstack.run.errors import InputError
from deepstack.run.results import read_result


def run(config: DictConfig) -> dict:
    folder, page = Path(config.results), Path(config.page)
    if not folder.is_dir():
        raise InputError(f"results={folder}: expected a folder of result files")
    if page.suffix != ".md":
        raise InputError(f"page={page}: expected a file that ends in .md")
    files = {name: folder / f"{name}.json" for name in (*EXPERIMENTS, *PROGRAMS)}
    results = {name: read_result(file) for name, file in files.items() if file.exists()}
    write_page(results, page)
    missing = [name for name in EXPERIMENTS if name not in results]
    print(f"{page}: {len(results)} experiments" + "".join(f"\n  not run: {m}" for m in missing))
    return {"experiments": list(results), "not_run": missing}
