# Everything a newcomer needs. Each target sets up what it needs by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Keep compiled modules, as Python does by itself: without them each process that a test or a target
# starts compiles the package and the tests anew.
unexport PYTHONDONTWRITEBYTECODE

# All but those about files. `make soak-postgres` kills clients and crashes the server.
POSTGRES_TESTS ?= $(filter-out tests/sqlite/ tests/durability/ tests/integration/ tests/__pycache__/,$(wildcard tests/*/)) \
	tests/test_middleware.py tests/test_middleware_prompt.py tests/test_events.py tests/test_languages.py

.DEFAULT_GOAL := help
.PHONY: help demo inspect test test-postgres test-all browser lint types docs dist bench conformance soak soak-postgres clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/.base: pyproject.toml
	@echo "Setting up $(VENV), about a minute"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[graph]"
	@touch $@

$(VENV)/.dev: pyproject.toml
	@echo "Setting up $(VENV) with what the tests need, about two minutes"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $(VENV)/.base $@  # it has the extra "graph", too

$(VENV)/.docs: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@

demo: $(VENV)/.base  ## Import ten months of conversation, ask about it, turn it into knowledge, show what a model gets
	@$(BIN)/langmemory demo

$(VENV)/.server: $(VENV)/.base
	@echo "Adding what the server needs"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[server]"
	@touch $@

inspect: $(VENV)/.server  ## Serve the demo's memory file with the pages that show it; Ctrl-C stops
	@$(BIN)/python -m scripts.inspect_demo

# schemathesis is for thorough tests only, and its plugin takes a second of every process to load.
test: $(VENV)/.dev  ## Run the tests, on all processors, but for what takes long
	LANGMEMORY_THOROUGH= $(BIN)/python -m pytest -n logical --dist loadgroup --durations=20 -m "not thorough" -p no:schemathesis

# One server of the development packages for all processes, or the one at MEMORY_POSTGRES_URL.
test-postgres: $(VENV)/.dev  ## Run the tests of behaviour on PostgreSQL, but for what takes long
	LANGMEMORY_TEST_ENGINE=postgres LANGMEMORY_THOROUGH= $(BIN)/python -m pytest -n logical --dist loadgroup \
		-m "not thorough" -p no:schemathesis $(POSTGRES_TESTS)

test-all: $(VENV)/.dev  ## Run all tests, with every seed of the random walks
	LANGMEMORY_THOROUGH=1 $(BIN)/python -m pytest -n logical --dist loadgroup --durations=20

browser: $(VENV)/.dev  ## Install Debian's Chromium for the tests of the inspector, where root finds none
	@$(BIN)/python -m scripts.browser

lint: $(VENV)/.dev  ## Check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## Check types, strictly
	$(BIN)/mypy

docs: $(VENV)/.docs  ## Build the documentation as a site, with the API reference, in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

dist: $(VENV)/.dev  ## Build the wheels, the plugin for Claude Code, the TypeScript client and the bill of materials, and use the wheels in a clean environment
	$(BIN)/python -m scripts.dist

bench: $(VENV)/.dev  ## Measure against LangGraph's own stores (about 15 minutes)
	$(BIN)/python -m benchmarks

conformance: $(VENV)/.dev  ## Run LangGraph's own store test suites against MemoryStore
	$(BIN)/python scripts/conformance.py $(CONFORMANCE)

soak: $(VENV)/.dev  ## Two processes on one file for a minute, 200 clients of a server that is killed among them, 10,000 operations of the vault
	LANGMEMORY_SOAK_SECONDS=60 LANGMEMORY_VAULT_OPERATIONS=10000 $(BIN)/python -m pytest tests/durability tests/server/test_soak.py -q -s --ignore tests/durability/test_postgres_soak.py

soak-postgres: $(VENV)/.dev  ## 16 clients of a PostgreSQL server for two minutes, with 30 kills and three crashes of the server
	LANGMEMORY_SOAK_SECONDS=120 $(BIN)/python -m pytest tests/durability/test_postgres_soak.py -q -s

clean:  ## Remove what the targets made, but for the benchmark's embeddings (a quarter of an hour's work)
	rm -rf $(VENV) build dist .cache/conformance .mypy_cache .ruff_cache .pytest_cache .hypothesis
