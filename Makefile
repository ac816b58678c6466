# `make run` and `make test` install everything they need in .venv, so they work in a fresh clone.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Number of test processes: one more than cores, because some tests wait, but at most 8
PROCESSES ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores < 7 ? cores + 1 : 8)))
# Tests start many processes; without this, each would compile the same files again.
unexport PYTHONDONTWRITEBYTECODE
# Tests to run: one package, such as PACKAGE=storage, or tests that match ONLY (pytest's -k). By default, all tests.
PACKAGE ?=
ONLY ?=
# Run the slow tests together with the fast ones
SLOW ?=
# uv chooses and unpacks packages in a fraction of the time of pip, which is used where uv does not work.
# $(call install,PACKAGES): install into the virtual environment. Python compiles libraries when it first imports them:
# four of five files are never imported.
# Some Pythons include a pip that knows no dependency groups.
install = $(BIN)/python -m uv pip install --quiet --python $(BIN)/python $(1) || { \
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1' && \
	$(BIN)/python -m pip install --quiet --no-compile $(1); }
# Wheel to test instead of the checkout
WHEEL ?=
PROGRAM := $(or $(WHEEL),--editable .)
# A wheel is tested, not linted.
TOOLS := $(if $(WHEEL),[test],[test,lint])
# The junit file has the CPU time of each test.
PYTEST = $(BIN)/python -m pytest --dist worksteal --durations=25 --junitxml=build/$@.xml -k '$(ONLY)'
TESTS := $(if $(PACKAGE),tests/$(PACKAGE))
# Tests for another Python or for a wheel: all commands on tables of three kinds, the Python functions, tests that depend on
# versions of libraries, the session in the README, and the page "Five tasks". What they call compiles the same kernels as
# the rest of the tests, whose results do not depend on how the program was installed.
SMOKE := tests/interface/test_api.py tests/docs/test_readme.py \
	'tests/docs/test_pages.py::test_sessions_and_examples_print_what_they_show[how-to/five-tasks.md]' \
	$(foreach kind,corners_and_equal_edges reduced_goals keys_of_tiles,'tests/tables/test_every_kind.py::test_commands[$(subst _, ,$(kind))]') \
	tests/storage/test_manifest.py tests/tables/test_resume_kill.py

.PHONY: help run explore setup test test-slow test-bridges test-smoke test-nightly durations lint docs dist manual bench atlas clean

help:
	@echo "make run        compute the table of three-colours (12,108,096 positions) and show it"
	@echo "make explore    show tables and tilings in the browser"
	@echo "make setup      install the test tools; the other targets do this by themselves"
	@echo "make test       run the fast tests, in a few minutes; make test PACKAGE=storage runs only one package"
	@echo "make test SLOW=1  run all tests at once: the slow ones wait while others run"
	@echo "make test-slow  run the tests that take longer"
	@echo "make test-bridges  run the tests of the bridges with the libraries that the other targets do not install"
	@echo "make test-smoke run some of the fast tests, for another Python: make test-smoke PYTHON=python3.13 VENV=/tmp/new,"
	@echo "                or for a wheel: make dist, then make test-smoke VENV=/tmp/wheel WHEEL=\$$(ls dist/*.whl)"
	@echo "make test-nightly run all tests, with ten times as many kills and many more examples; takes hours"
	@echo "make durations  write the CPU time of the last 'make test' to tests/durations.json"
	@echo "make lint       run ruff and mypy"
	@echo "make docs       build the site of the documentation in build/site"
	@echo "make dist       build the wheel and the source distribution in dist/, and check them and the repository"
	@echo "make manual     write the man page and the shell completions of the wheel"
	@echo "make bench      measure everything and write docs/benchmarks.md"
	@echo "make atlas      compute all bundled puzzles (or some: make atlas ONLY='ivy m12') and write docs/atlas.md"
	@echo "make clean      remove the virtual environment and caches"

run: $(VENV)/.installed
	$(BIN)/antipodes run three-colours --overwrite

explore: $(VENV)/.installed-for-web
	$(BIN)/antipodes serve --open

setup: $(VENV)/.installed-for-tests

test: $(VENV)/.installed-for-tests
	$(PYTEST) $(TESTS) -n $(PROCESSES) $(if $(SLOW),-m '')

test-smoke: $(VENV)/.installed-for-tests
	$(PYTEST) $(SMOKE) -n $(PROCESSES)

test-slow: $(VENV)/.installed-for-tests
	$(PYTEST) $(TESTS) -n $(PROCESSES) -m slow

test-bridges: $(VENV)/.installed-for-learning
	$(BIN)/python -m pytest tests/bridges -m ''

durations:
	$(BIN)/python tests/support/durations.py build/test.xml

test-nightly:
	KILLS=10 HYPOTHESIS_PROFILE=nightly $(MAKE) test SLOW=1

lint: $(VENV)/.installed-for-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-for-docs
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=. $(BIN)/mkdocs build --quiet --strict

dist: $(VENV)/.installed-for-dist
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/repo-review .

manual: $(VENV)/.installed
	$(BIN)/python -m workshop.manual

bench: $(VENV)/.installed-for-tests
	$(BIN)/python -m benchmarks

atlas: $(VENV)/.installed
	$(BIN)/python -m workshop.atlas $(ONLY)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "expected Python 3.11 or newer, found $$($(PYTHON) --version); try make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile uv || echo "uv cannot be installed; pip is used instead"

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(call install,$(PROGRAM))
	@touch $@

$(VENV)/.installed-for-web: pyproject.toml | $(VENV)/bin/python
	$(call install,$(PROGRAM)'[web]')
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-for-tests: pyproject.toml | $(VENV)/bin/python
	$(call install,$(PROGRAM)'$(TOOLS)')
	@touch $@ $(VENV)/.installed $(VENV)/.installed-for-web

$(VENV)/.installed-for-docs: pyproject.toml | $(VENV)/.installed
	$(call install,--group docs)
	@touch $@

# These libraries take half a gigabyte. Without them, the tests that read files with them are skipped.
$(VENV)/.installed-for-bridges: pyproject.toml | $(VENV)/.installed-for-tests
	$(call install,--group bridges)
	@touch $@

# Everything that CI needs, whose versions are chosen once
$(VENV)/.installed-for-ci: pyproject.toml | $(VENV)/bin/python
	$(call install,$(PROGRAM)'$(TOOLS)' --group bridges --group docs --group dist)
	@touch $@ $(VENV)/.installed $(VENV)/.installed-for-web $(VENV)/.installed-for-tests \
		$(VENV)/.installed-for-bridges $(VENV)/.installed-for-docs $(VENV)/.installed-for-dist

# torch takes several gigabytes on some systems. Without it, tests that need it are skipped.
$(VENV)/.installed-for-learning: pyproject.toml | $(VENV)/.installed-for-bridges
	$(call install,--group learning)
	@touch $@

# This installs only the tools, from a dependency group in pyproject.toml.
$(VENV)/.installed-for-dist: pyproject.toml | $(VENV)/bin/python
	$(call install,--group dist)
	@touch $@
