# The verbs of this project. `make run` and `make test` are all a newcomer needs.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
.DEFAULT_GOAL := help
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PACKAGES := gcc libc6-dev postgresql chromium-headless-shell unixodbc tdsodbc odbc-postgresql fonts-dejavu-core libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0
SEED ?= $(shell date +%s)
SEED := $(SEED)
export SEED
# processes are started by the hundred: each would compile the program anew
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/compiled
SHUFFLED = --random-order --random-order-seed=$(SEED)
ON_POSTGRES = -m "postgres and not long"
PYTEST = $(BIN)/python -m pytest $(SHUFFLED) $(WHICH)
.PHONY: new-rule new-reader docs help setup run packages test test-main test-service test-all test-browser test-faults test-postgres check fix accept mutants bench bench-pages bench-fleet pins clean

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

.venv/runs: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.txt
	@printf '#!%s/python\nimport sys\nsys.path.insert(0, "%s")\nfrom advisor.__main__ import main\nsys.exit(main())\n' \
		"$(CURDIR)/$(BIN)" "$(CURDIR)" > $(BIN)/lockwright
	@chmod +x $(BIN)/lockwright
	@touch $@

.venv/tests: .venv/runs requirements-dev.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

setup: .venv/runs ## make the virtual environment from pinned hashes

run: setup ## start the service on this machine: web page, worker, scheduler (LISTEN=host:port)
	$(BIN)/python manage.py up --listen $(or $(LISTEN),127.0.0.1:8000)

packages: ## install the Debian packages that the tests need, as root; else say which are missing
	@missing="$$(for one in $(PACKAGES); do dpkg -s $$one >/dev/null 2>&1 || echo $$one; done)"; \
	test -z "$$missing" || { test "$$(id -u)" = 0 && apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; } || \
	{ echo "the tests need these Debian packages: $$missing"; exit 1; }

test: ## run the tests in an order of their own each time (SEED=number: that one again)
	@echo "make test SEED=$(SEED) runs them in this order again"
	@$(MAKE) --no-print-directory -j2 .venv/tests packages
	$(MAKE) --no-print-directory -j2 test-main test-service

# What fails fails twice, or it was the machine that had no processor for it: the tests that failed run once more,
# alone and with servers of their own, and the output keeps both.
AGAIN = $(BIN)/python -m pytest --last-failed --last-failed-no-failures none
test-main: ALONE = --ignore=tests/browser --ignore=tests/faults tests
test-main:
	$(PYTEST) -n $(JOBS) --dist worksteal $(ALONE) || $(AGAIN) $(ALONE)

# beside the others, as they mostly wait; what they print comes when they are done
test-service:
	@mkdir -p .pytest_cache
	@( $(MAKE) --no-print-directory test-faults; faults=$$?; $(MAKE) --no-print-directory test-browser && exit $$faults ) \
		>.pytest_cache/service 2>&1; failed=$$?; cat .pytest_cache/service; exit $$failed

test-all: ## run all tests: also the long ones, and those of the whole service on PostgreSQL
	$(MAKE) --no-print-directory test WHICH="-m ''"
	$(MAKE) --no-print-directory test-postgres ON_POSTGRES="-m ''"

test-browser: ALONE = -o cache_dir=.pytest_cache/browser tests/browser
test-browser:
	$(PYTEST) $(ALONE) || $(AGAIN) $(ALONE)

# a module has servers of its own, and all wait for them most of the time
test-faults: ALONE = -o cache_dir=.pytest_cache/faults tests/faults
test-faults:
	$(PYTEST) -n 2 --dist loadfile $(ALONE) || $(AGAIN) $(ALONE)

test-postgres: .venv/tests packages ## run what locks, claims and counts on PostgreSQL, too (test-all: all of the service)
	$(BIN)/python -m tests.on_postgres $(SHUFFLED) $(ON_POSTGRES) tests/advisor

check: .venv/tests ## format, lint, types, arrows
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

fix: .venv/tests ## format and repair what a machine can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

new-rule: .venv/tests ## the files of a new rule, with cases that fail (ID=ase/name)
	@$(BIN)/python -m tests.scaffold rule "$(ID)"

new-reader: .venv/tests ## the files of a new reader, with a case that fails (ID=ase/name)
	@$(BIN)/python -m tests.scaffold reader "$(ID)"

docs: .venv/tests ## write the tables of rules and reports in docs/ anew
	@$(BIN)/python -m tests.doc_tables

accept: .venv/tests ## rewrite the verdicts of the stories and tests/accepted: what came out whole of each exhibit and export (ONLY=ase/x; look at the diff)
	$(BIN)/python -m tests.accept $(ONLY)

mutants: .venv/tests ## change rules and readers at 200 places and print the changes that no test notices (SEED=number, COUNT=200)
	$(BIN)/python -m tests.mutants --seed $(SEED) --count $(or $(COUNT),200)

bench: .venv/tests ## megabytes per second, seconds and memory, as ratios to yardsticks of the same run
	@command -v rg >/dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -y -qq ripgrep >/dev/null; } || echo "no ripgrep: its column stays empty (apt-get install ripgrep)"
	$(BIN)/python -m tests.bench
	$(BIN)/python -m tests.bench.month
	$(BIN)/python -m tests.bench.account

bench-pages: .venv/tests packages ## milliseconds of the pages over a large PostgreSQL, beside a bare Django page
	$(BIN)/python -m tests.bench.pages

bench-fleet: .venv/tests packages ## audits per second, queue, memory and growth of a fleet of 1,000 systems on two cores
	$(BIN)/python -m tests.bench.fleet

pins: .venv/tests ## renew the pinned hashes
	$(BIN)/uv pip compile -q --generate-hashes --no-header --universal --python-version 3.11 requirements.in -o requirements.txt
	$(BIN)/uv pip compile -q --generate-hashes --no-header --universal --python-version 3.11 requirements-dev.in -o requirements-dev.txt

clean: ## remove what was made
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
