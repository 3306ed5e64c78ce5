# `make demo` runs the main job and shows its report; `make test` passes the tests.
# Both set everything up by themselves: a virtual environment in .venv, and builds in the user's cache.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2
# Neighbours share builds: a worker takes tests that stand together, and at the end those of a slower one.
WORKERS := -n $(JOBS) --dist worksteal
# What to make faster next.
SLOWEST := --durations=20 --durations-min=1
# More of pyproject.toml's extras: `make test EXTRAS=networks` runs the tests of both front ends too.
EXTRAS ?=
# A share of the slow tests beside the others: `make test SHARE=7`, of 20 (`tests/shares.py`).
SHARE  ?=
STAMP  := $(VENV)/.installed$(if $(EXTRAS),-$(EXTRAS))
# What a user needs, and nothing else.
CORE   := $(VENV)/.installed-core

# Proofs and simulations are many short processes: without bytecode each compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

# The instruction sets that `make prove` proves: a minute on two cores, and nothing where the cache knows the verdicts.
PROVED := v1_4 v2_4 v3_4 conv_v3 conv_v4

.PHONY: demo test test-all bench prove docs lint setup prerequisites icarus clean help

help:
	@echo "make demo      compile, build and simulate a 128x128x128 matmul on v3_16, beside the CPU"
	@echo "make test      all tests but the slow ones     make test-all   all tests"
	@echo "make bench     the benchmarks, each with its ratio or table"
	@echo "make prove     proves the formal models of $(PROVED)"
	@echo "make docs      the documentation as a site: build/site/index.html"
	@echo "make lint      formatter, linter, type checker, and which folder imports which"
	@echo "EXTRAS=networks with any of them: PyTorch, ONNX and scikit-learn too (.venv takes 7 GB then)"

demo: $(CORE)
	$(BIN)/axiloom run matmul:128x128x128 --accel v3 --against neon

test: $(STAMP) icarus
	$(BIN)/python -m pytest $(WORKERS) $(if $(SHARE),--share $(SHARE),-m "not slow") $(SLOWEST) $(PYTEST_ARGS)

test-all: $(STAMP) icarus
	$(BIN)/python -m pytest $(WORKERS) $(PYTEST_ARGS)

bench: $(STAMP)
	$(BIN)/python -m benchmarks

prove: $(STAMP)
	for accel in $(PROVED); do $(BIN)/axiloom prove spec --accel $$accel || exit 1; done
	$(BIN)/axiloom prove rules

docs: $(STAMP)
	$(BIN)/python -m tools.site

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m tools.structure --brief

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt | prerequisites
	@$(PYTHON) tools/install.py $(VENV) dev $(EXTRAS)
	@touch $@ $(CORE)

$(CORE): pyproject.toml constraints.txt | prerequisites
	@$(PYTHON) tools/install.py $(VENV)
	@touch $@

prerequisites:
	@PYTHON="$(PYTHON)" sh tools/prerequisites.sh

# Icarus is optional: its tests say that they were skipped where it cannot be installed.
icarus:
	@sh tools/icarus.sh

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache
