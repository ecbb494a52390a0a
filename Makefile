# Everything runs in a virtual environment of its own; all it needs is Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint format bench docs clean clean-kernels

help:
	@echo "make demo | test | lint | format | bench | docs | clean | clean-kernels"

demo: $(VENV)/.demo
	$(BIN)/python -m tightcut.demo

test: lint
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.dev
	$(BIN)/ruff check .
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

clean:
	rm -rf $(VENV) build dist docs/_build docs/api docs/gallery .pytest_cache .hypothesis .ruff_cache .mypy_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# numba does not notice an edit in a kernel that another file's kernel calls.
clean-kernels:
	find src -name "*.nb[ci]" -delete

# The stamps record a finished installation; a new pyproject.toml renews it.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[plots,frames]"
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
