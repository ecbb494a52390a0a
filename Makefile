# Everything runs in a virtual environment of its own; all it needs is Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help ask demo test quick fuzz test-oldest lint format bench docs wheel clean clean-kernels

help:
	@echo "make demo | ask | test | quick | fuzz | test-oldest | lint | format | bench | docs | wheel | clean | clean-kernels"

# Ask yourself about handwritten digits, in a local page.
ask: $(VENV)/.ask
	$(BIN)/tightcut ask digits

demo: $(VENV)/.demo
	$(BIN)/python -m tightcut.demo

test: lint
	$(BIN)/python -m pytest -n auto

# Under a minute once the kernels are compiled: all but the tests that are marked slow.
quick: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto -m "not slow"

# An hour of new problems for the compiled kernels, with bounds checks; SEED=7 for a seed of your own.
fuzz: $(VENV)/.dev
	$(BIN)/python tests/fuzz --seconds 3600 $(if $(SEED),--seed $(SEED))

# With the oldest versions that pyproject.toml promises, in an environment of their own.
test-oldest:
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(VENV)-oldest/bin/python .ci/oldest.py > $(VENV)-oldest/constraints.txt
	$(VENV)-oldest/bin/python -m pip install --quiet --constraint $(VENV)-oldest/constraints.txt --editable ".[test]"
	$(VENV)-oldest/bin/python -m pytest -n auto

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.two_clusters
	$(BIN)/python -m benchmarks.many_clusters

# A warning is an error. Open docs/_build/html/index.html afterwards.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

# What a user gets: the wheel in an empty environment, with nothing but what it depends on.
wheel:
	rm -rf dist
	$(PYTHON) -m venv --clear $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(VENV)-wheel/bin/python -m pip install --quiet dist/*.whl
	$(VENV)-wheel/bin/python .ci/ten_lines.py

clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-wheel build dist docs/_build docs/api docs/gallery .pytest_cache .hypothesis .fuzz .ruff_cache .mypy_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# To see what compiling costs; an edit in a kernel needs no cleaning.
clean-kernels:
	find src -name "*.nb[ci]" -delete

# The stamps record a finished installation; a new pyproject.toml renews it.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[plots,frames]"
	@touch $@

$(VENV)/.ask: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[ask]"
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("tightcut needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0] + "; try: make PYTHON=python3.13")'
	$(PYTHON) -m venv $(VENV)
