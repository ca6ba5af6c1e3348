# Everything a newcomer needs. Each target sets up what it needs by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo test lint types bench conformance soak clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/.base: pyproject.toml
	@echo "Setting up $(VENV), about a minute"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[graph]"
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

demo: $(VENV)/.base  ## Import ten months of conversation, ask about it, turn it into knowledge, show what a model gets
	@$(BIN)/langmemory demo

test: $(VENV)/.dev  ## Run the tests
	$(BIN)/python -m pytest

lint: $(VENV)/.dev  ## Check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## Check types, strictly
	$(BIN)/mypy

bench: $(VENV)/.dev  ## Measure against LangGraph's own stores (about 15 minutes)
	$(BIN)/python -m benchmarks

conformance: $(VENV)/.dev  ## Run LangGraph's own store test suites against MemoryStore
	$(BIN)/python scripts/conformance.py

soak: $(VENV)/.dev  ## Two processes on one file for a minute
	LANGMEMORY_SOAK_SECONDS=60 $(BIN)/python -m pytest tests/durability -q

clean:  ## Remove what the targets made, but for the benchmark's embeddings (a quarter of an hour's work)
	rm -rf $(VENV) .cache/conformance .mypy_cache .ruff_cache .pytest_cache .hypothesis
