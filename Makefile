# Everything here works from a fresh clone with Python 3.11 or later; `make` says what there is.

PYTHON ?= python3
VENV ?= .venv

bin := $(VENV)/bin
program := $(VENV)/.program
tools := $(VENV)/.tools
pip := $(bin)/python -m pip --disable-pip-version-check -qq
locking := $(VENV)/.lock
compile := $(locking)/bin/uv pip compile pyproject.toml --group build --universal --python-version 3.11 \
	--generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links --quiet --upgrade \
	--custom-compile-command "make lock"

# The oldest Python is checked before anything is made, so that the first message is one that helps.
define check_python
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	echo "Broadsheet needs Python 3.11 or later, and '$(PYTHON)' is not one:" >&2; \
	$(PYTHON) --version >&2; \
	echo "Install it, or name it: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
endef

.DEFAULT_GOAL := help
.PHONY: help run test check bench docs lock clean

help:
	@echo "make run     install what is needed, load the sample into an empty library, and serve the site"
	@echo "make test    lint, check types and run all tests"
	@echo "make check   lint and check types"
	@echo "make bench   run the benchmarks"
	@echo "make docs    bring the generated parts of the reference pages up to date"
	@echo "make lock    bring requirements.txt and requirements-dev.txt up to date"
	@echo "make clean   remove what was installed and made here; libraries are kept"
	@echo
	@echo "Another Python: make run PYTHON=python3.12     Another port: make run SERVE='--port 9000'"
	@echo "Another library: BROADSHEET_HOME=folder make run"

# The stamps are newer than what they were made from, so a second run installs nothing and needs no network.
$(program): requirements.txt pyproject.toml
	@$(check_python)
	@echo "1/3 Installing what Broadsheet needs into $(VENV) (once; it takes some minutes)"
	@$(bin)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	@$(pip) install --require-hashes -r requirements.txt
	@$(pip) install --no-deps --no-build-isolation --editable .
	@touch $@

$(tools): requirements-dev.txt $(program)
	@echo "Installing what the tests need into $(VENV)"
	@$(pip) install --require-hashes -r requirements-dev.txt
	@touch $@

run: $(program)
	@echo "2/3 Opening the library; the sample is loaded if it is empty"
	@$(bin)/broadsheet import --sample --if-empty
	@echo "3/3 Starting the site"
	@$(bin)/broadsheet serve $(SERVE)

check: $(tools)
	@echo "1/3 ruff"
	@$(bin)/ruff check .
	@echo "2/3 mypy"
	@$(bin)/mypy

test: check
	@echo "3/3 pytest"
	@$(bin)/python -m pytest -n auto --dist loadfile $(PYTEST)

bench: $(tools)
	@$(bin)/python -m bench $(BENCH)

docs: $(program)
	@$(bin)/python -m broadsheet.cli.reference docs

lock:
	@$(check_python)
	@test -x $(locking)/bin/uv || { $(PYTHON) -m venv $(locking) && $(locking)/bin/python -m pip --quiet install uv; }
	@echo "requirements.txt"
	@$(compile) --output-file requirements.txt
	@echo "requirements-dev.txt"
	@$(compile) --extra dev --constraint requirements.txt --output-file requirements-dev.txt

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis src/*.egg-info
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
