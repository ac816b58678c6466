# The two commands: `make run` and `make test` set up what they need in .venv and work from a clean clone.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# processes of tests: some wait, so a third one helps on two cores
PROCESSES ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores < 7 ? cores + 1 : 8)))
# tests start many processes, which shall not compile the same files each time
unexport PYTHONDONTWRITEBYTECODE
# which tests: those of a room, such as ROOM=storage, and those that pytest's -k takes; empty for all
ROOM ?=
ONLY ?=
# a wheel that is tested in place of the files here
WHEEL ?=
PROGRAM := $(or $(WHEEL),--editable .)
PYTEST := $(BIN)/python -m pytest --dist worksteal --durations=25 -k '$(ONLY)'
TESTS := $(if $(ROOM),tests/$(ROOM))
# a table of each kind of space with all commands, what libraries of another version could break, the README's session,
# the five tasks of the tutorial
SMOKE := tests/api tests/bfs tests/docs/test_readme.py \
	'tests/docs/test_pages.py::test_sessions_and_examples_print_what_they_show[how-to/five-tasks.md]' \
	tests/storage/test_damage.py tests/storage/test_manifest.py tests/tables/test_every_kind.py \
	tests/tables/test_resume_kill.py tests/tilings

.PHONY: help run explore setup test test-slow test-smoke test-all lint docs dist manual bench atlas clean

help:
	@echo "make run        compute the table of three-colours, 12,108,096 positions, and show it"
	@echo "make explore    show what was computed in a browser"
	@echo "make setup      install what the tests need; the others do so by themselves"
	@echo "make test       the fast tests, a few minutes at most; make test ROOM=storage those of one room"
	@echo "make test-slow  the tests that take longer"
	@echo "make test-smoke a part of the fast tests, for another Python: make test-smoke PYTHON=python3.13 VENV=.venv-newer;"
	@echo "                or of a wheel: make dist, make test-smoke VENV=/tmp/wheel WHEEL=\$$(ls dist/*.whl)"
	@echo "make test-all   all tests, with ten times the kills and many more examples: hours"
	@echo "make lint       ruff and mypy"
	@echo "make docs       build the site of the documentation in build/site"
	@echo "make dist       build the wheel and the source distribution in dist/, and check them and the repository"
	@echo "make manual     write the man page and the completions that the wheel has"
	@echo "make bench      measure everything and write docs/benchmarks.md"
	@echo "make atlas      compute all bundled puzzles, or make atlas ONLY='ivy m12' these, and write docs/atlas.md"
	@echo "make clean      remove the virtual environment and caches"

run: $(VENV)/.installed
	$(BIN)/antipodes run three-colours --overwrite

explore: $(VENV)/.installed-for-web
	$(BIN)/antipodes serve --open

setup: $(VENV)/.installed-for-tests

test: $(VENV)/.installed-for-tests
	$(PYTEST) $(TESTS) -n $(PROCESSES)

test-smoke: $(VENV)/.installed-for-tests
	$(PYTEST) $(SMOKE) -n $(PROCESSES)

test-slow: $(VENV)/.installed-for-tests
	$(PYTEST) $(TESTS) -n $$(($(PROCESSES) + 1)) -m slow

test-all:
	KILLS=10 HYPOTHESIS_PROFILE=nightly $(MAKE) test test-slow

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
	$(BIN)/python -m manual

bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks

atlas: $(VENV)/.installed
	$(BIN)/python -m atlas $(ONLY)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "expected Python 3.11 or newer, found $$($(PYTHON) --version); try make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet $(PROGRAM)
	@touch $@

$(VENV)/.installed-for-web: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet $(PROGRAM)'[web]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-for-tests: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet $(PROGRAM)'[test,lint]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-for-web

$(VENV)/.installed-for-docs: pyproject.toml | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --no-compile --group docs
	@touch $@

# the tools alone, by the groups of pyproject.toml, which need a newer pip than some Pythons bring
$(VENV)/.installed-for-dist: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --no-compile --group dist
	@touch $@
