# Each target makes its own virtual environment in .venv; nothing else is needed.
#   make demo        train, fit and check on real data; writes out/report.html
#   make test        linters, types, tests and doctests
#   make test-long   the same with large budgets
#   make test-array-api ARRAY_API_TESTS=folder
#                    the official suite of the array API standard, on pullback.numpy
#   make test-clients
#                    gradients of public packages; writes the table of docs/clients.md
#                    and runs autograd's examples and tests, and packages that need autograd,
#                    by autograd and by pullback (an hour or two, counts in docs/autograd.md)
#   make coverage-table
#                    write docs/coverage.md from the samples
#   make docs        build the site, with every page executed, in docs/_build/html
#   make bench       speed, measured next to autograd and PyTorch
#   make clean       remove what these made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Seconds for one test.
TIMEOUT := 300

# Two test processes share two cores best if each computes in one thread.
export OPENBLAS_NUM_THREADS ?= 1
# Tests start some 200 processes, which would each compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-long test-array-api test-clients coverage-table docs bench clean lint types pytest

demo: $(STAMP)-demo
	$(BIN)/python -m examples.demo

# Types are checked beside the tests, which begin if the linter finds nothing.
test: lint
	@$(MAKE) --no-print-directory --jobs 2 types pytest
	@$(BIN)/python tools/count_code.py

test-long: export PULLBACK_LONG := 1
test-long: TIMEOUT := 3600
test-long: test

# The suite is a checkout of https://github.com/data-apis/array-api-tests, with its submodule.
# Where NumPy departs from the standard so do we: NumPy keeps a list of that for the option
# `--xfails-file` in its `tools/ci/array-api-xfails.txt`; pass it as PYTEST_OPTIONS.
test-array-api: $(STAMP)-test
	@test -d "$(ARRAY_API_TESTS)/array_api_tests" || { echo \
	"ARRAY_API_TESTS=folder is to be a checkout of data-apis/array-api-tests."; exit 1; }
	$(BIN)/pip install --quiet --requirement "$(ARRAY_API_TESTS)/requirements.txt"
	cd "$(ARRAY_API_TESTS)" && ARRAY_API_TESTS_MODULE=pullback.numpy \
	"$(CURDIR)/$(BIN)/pytest" array_api_tests $(PYTEST_OPTIONS)

# Gradients of public packages, in an environment of their own; writes the table of docs/clients.md.
# What cannot be installed is named and left out. After a stop, what has passed is not asked again.
# Plugins of pytest that the packages bring along are not loaded: one is of an older pytest.
# The cases of a package are asked in a process of their own, which ends if one takes too long.
# Then what needs autograd, by autograd itself and by pullback, in an environment for each.
test-clients: export PULLBACK_CLIENTS_ASKED = $(CURDIR)/out/clients/asked
test-clients: export PULLBACK_CACHE = off
test-clients:
	$(PYTHON) tools/install_clients.py out/clients
	PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 out/clients/bin/python -m pytest tests/clients/test_gradients.py \
	-c /dev/null --rootdir . -p xdist --numprocesses 2 --dist loadgroup $(PYTEST_OPTIONS) \
	|| FAILED=yes; \
	PYTHONPATH=. out/clients/bin/python tools/client_table.py --write; \
	PYTHONPATH=. $(PYTHON) tools/autograd_clients.py out/autograd; \
	test -z "$$FAILED"

coverage-table: $(STAMP)-test
	$(BIN)/python tools/coverage_table.py

docs: $(STAMP)-docs
	PULLBACK_CACHE=off $(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going --jobs auto docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(STAMP)-bench
	@for script in benchmarks/bench_*.py; do $(BIN)/python "$$script" || exit 1; done

lint: $(STAMP)-test
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(STAMP)-test
	$(BIN)/mypy

pytest: $(STAMP)-test
	$(BIN)/pytest --numprocesses 2 --timeout $(TIMEOUT) $(PYTEST_OPTIONS)

# One environment serves all targets; each adds the dependency group that bears its name.
# Modules are compiled as they are imported: most never are.
$(STAMP)-%: $(STAMP)
	$(BIN)/pip install --quiet --no-compile --editable '.[compile,learn,plot,scipy]' --group $*
	@touch $@

# Dependency groups (PEP 735) need pip 25.1.
$(STAMP): pyproject.toml
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --upgrade 'pip>=25.1'
	@touch $@

clean:
	rm -rf $(VENV) out build dist docs/_build .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
