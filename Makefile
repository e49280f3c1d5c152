# geobill's own chores. Needs python3 (3.11 to 3.13, with venv), make and the package registries; `make` lists the targets.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-run test-rest bench fuzz lint sample notebooks hooks web bundle lock clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WEB := geobill/web/static/vendor/.made

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

demo: $(STAMP) ## one month of the sample town: documents and annexes in demo/
	@$(BIN)/geobill demo demo
	@$(MAKE) --no-print-directory web || echo "geobill serve, the review page, waits for its scripts: make web" >&2

test: $(STAMP) $(WEB) ## everything that CI runs, in two halves at once: two cores
	@tools/debian-packages.sh
	@$(MAKE) --no-print-directory -j2 -O -k test-run test-rest

# what runs the longest, command after command; the other half is all the rest, so that no new folder is left out
RUN := tests/pipeline tests/test_cases.py
test-run: $(STAMP)
	@$(BIN)/python -m pytest $(RUN)

test-rest: $(STAMP)
	@$(BIN)/python -m pytest tests $(addprefix --ignore=,$(RUN))

bench: $(STAMP) ## how fast the program starts; the real month and 26 past years on ../shared/data; a million rows read; 200,000 stretches compared; 50,000 findings
	@$(BIN)/python benchmarks/start.py
	@$(BIN)/python benchmarks/real_month.py
	@$(BIN)/python benchmarks/same_strip.py
	@$(BIN)/python benchmarks/past_months.py
	@$(BIN)/python benchmarks/intake.py
	@$(BIN)/python benchmarks/detection.py
	@$(BIN)/python benchmarks/review_page.py

fuzz: $(STAMP) ## five minutes of mutated files against the reader; what fails is kept in fuzz/found
	@$(BIN)/python fuzz/intake.py

lint: $(STAMP) ## ruff, and mypy on the pure rooms
	@$(BIN)/ruff check .
	@$(BIN)/mypy

sample: $(STAMP) ## reports/sample anew: one invoice, one minuta, one page of a month
	@$(BIN)/python tools/make_sample.py

notebooks: $(STAMP) ## executes the notebooks and keeps their outputs
	@$(BIN)/python tools/run_notebooks.py

hooks: $(STAMP) ## let git run lint's checks on what is committed (no network)
	@$(BIN)/pre-commit install

web: $(STAMP) $(WEB) ## the review page's scripts (MapLibre, htmx, pmtiles), from npm by frontend/package-lock.json

bundle: $(STAMP) $(WEB) ## dist/geobill-bundle-….zip for a desktop without internet; PLATFORM=win_amd64 PYTHON_VERSION=3.12 for another
	@$(BIN)/python tools/bundle.py $(if $(PLATFORM),--platform $(PLATFORM)) $(if $(PYTHON_VERSION),--python-version $(PYTHON_VERSION))

lock: $(STAMP) ## requirements.lock anew from pyproject.toml, with the hashes of the public index and nothing of this machine
	env -u PIP_FIND_LINKS -u PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE=/dev/null $(BIN)/pip-compile --quiet --upgrade \
	  --generate-hashes --allow-unsafe --strip-extras --extra dev --build-deps-for editable --no-header --no-emit-index-url \
	  --no-emit-find-links --no-emit-options --no-emit-trusted-host --output-file requirements.lock pyproject.toml
	@! grep -nE '://|file:/|--find-links|--index|$(CURDIR)' requirements.lock

clean: ## remove what make and the tools made; keeps .venv and workspaces
	rm -rf demo build dist frontend/node_modules geobill/web/static/vendor .pytest_cache .ruff_cache .mypy_cache .hypothesis *.egg-info
	find geobill tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(WEB): frontend/package.json frontend/package-lock.json tools/web_assets.py
	@$(PYTHON) tools/web_assets.py >/dev/null
	@touch $@

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; (3, 11) <= v < (3, 14) or sys.exit(f"geobill needs Python 3.11, 3.12 or 3.13; $(PYTHON) is {v[0]}.{v[1]}. Try: make PYTHON=python3.11")'
	@echo "installing into $(VENV) (once, and again when requirements.lock changes) ..." >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
