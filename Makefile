# Everything runs from a bare clone: the first target that needs it makes .venv and installs into it.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALLED := .venv/.installed
ORACLE := .venv/.oracle

.PHONY: match play leduc test test-slow test-oracle bench chain lint format clean

match: $(INSTALLED)  ## two agents play heads-up no-limit hold'em
	$(BIN)/deepstack match "agents=[call,random]" hands=10000 seed=1 \
		log=runs/match/match.log result=runs/match/result.json

play: $(INSTALLED)  ## you against an agent
	$(BIN)/deepstack play log=runs/play/play.log result=runs/play/result.json

leduc: $(INSTALLED)  ## a value network for no-limit Leduc from nothing, played and measured
	$(BIN)/python -m data_gen stage=leduc_start samples=30000 seed=1 out=runs/leduc/data \
		executor=processes workers=2
	$(BIN)/python -m train stage=leduc_start net=mlp data=runs/leduc/data minutes=2.5 \
		out=runs/leduc/network
	$(BIN)/deepstack experiment nolimit_leduc "leaves=[network,equity]" grid=0 \
		network=runs/leduc/network/leduc_start.safetensors result=runs/leduc/result.json

test: $(INSTALLED) lint  ## lint, types, layers and the quick tests
	$(BIN)/pytest -q

test-slow: $(INSTALLED)  ## the checks that take minutes
	$(BIN)/pytest -q -m "slow and not oracle"

test-oracle: $(ORACLE)  ## comparisons with software that others wrote
	$(BIN)/pytest -q -m oracle

bench: $(ORACLE)  ## speed, as ratios measured in one run
	$(BIN)/python -m benchmarks

BUDGET ?= small
chain: $(INSTALLED)  ## data and training of all six networks: BUDGET=small|default|paper
	$(BIN)/python -m data_gen.chain budget=$(BUDGET)

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	$(BIN)/python -m deepstack.app.warmup
	touch $@

$(ORACLE): $(INSTALLED)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev,oracle]"
	touch $@
