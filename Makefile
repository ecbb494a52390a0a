# Everything runs in a virtual environment of its own; all it needs is Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help ask demo test quick fuzz test-oldest lint format bench results reproduce docs wheel clean clean-kernels

# This list: each target with the line of comment above it.
help:
	@awk '/^# /{line=substr($$0, 3); next} /^[a-z-]+:/{if (line) printf "make %-14s %s\n", substr($$1, 1, index($$1, ":") - 1), line} {line=""}' Makefile

# Answer questions about handwritten digits, in a local page.
ask: $(VENV)/.ask
	$(BIN)/tightcut ask digits

# Cluster handwritten digits with and without four pairs; writes demo.png.
demo: $(VENV)/.demo
	$(BIN)/python -m tightcut.demo

# Style, types, all tests and doctests.
test: lint
	$(BIN)/python -m pytest -n auto

# The tests that are not marked slow: about a minute once the kernels are compiled.
quick: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto -m "not slow"

# An hour of new problems for the compiled kernels, with bounds checks; SEED=7 for a seed of your own.
fuzz: $(VENV)/.dev
	$(BIN)/python tests/fuzz --seconds 3600 $(if $(SEED),--seed $(SEED))

# All tests with the oldest versions that pyproject.toml promises.
test-oldest:
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(VENV)-oldest/bin/python .ci/oldest.py > $(VENV)-oldest/constraints.txt
	$(VENV)-oldest/bin/python -m pip install --quiet --constraint $(VENV)-oldest/constraints.txt --editable ".[test]"
	$(VENV)-oldest/bin/python -m pytest -n auto

# ruff and mypy.
lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Let ruff rewrite.
format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The tables of cuts in benchmarks/results; needs TIGHTCUT_DATA.
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.two_clusters
	$(BIN)/python -m benchmarks.many_clusters

# Every table and figure older than the code it measures, a night; continues where it was interrupted; needs TIGHTCUT_DATA.
results: $(VENV)/.dev
	$(BIN)/python -m benchmarks.status --make

# The paper's experiments into docs/results, about an hour; continues where it was interrupted.
reproduce: $(VENV)/.dev
	$(BIN)/python -m experiments --output docs/results --jobs 2 --cache build/graphs

# Build docs/_build/html/index.html; a warning is an error.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

# Build dist/*.whl, and try it in an empty environment.
wheel:
	rm -rf dist
	$(PYTHON) -m venv --clear $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(VENV)-wheel/bin/python -m pip install --quiet dist/*.whl
	$(VENV)-wheel/bin/python .ci/ten_lines.py

# Remove the environments and all caches.
clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-wheel build dist docs/_build docs/api docs/gallery .pytest_cache .hypothesis .fuzz .ruff_cache .mypy_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Remove compiled kernels, to measure compilation.
clean-kernels:
	find src -name "*.nb[ci]" -delete

# Each stamp records a finished installation, which a newer pyproject.toml renews.
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
