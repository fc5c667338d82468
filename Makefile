# make run: set up and start. make test: the tests of one change. Both need Python 3.11
# or newer and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Set TORCH_INDEX to PyTorch's index of CPU builds where pip would otherwise bring gigabytes of GPU libraries (see the README).
TORCH_INDEX ?=
INSTALL := $(BIN)/python deploy/install.py
# Tests to run at once: more than there are cores, since many wait for processes that they have killed.
JOBS ?= 3
PYTEST := $(BIN)/python -m pytest
PARALLEL = $(PYTEST) --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder
# The checks start the embedded database, but not in your own data directory.
SCRATCH := YOUTUBE_KB_DATA_DIR=$(CURDIR)/build/lint
DEPLOY := SECURE=true ALLOWED_HOSTS=kb.example.org CSRF_TRUSTED_ORIGINS=https://kb.example.org

# Keep compiled modules; otherwise each of the many test processes compiles all of them.
unexport PYTHONDONTWRITEBYTECODE

PAGES := $(shell find templates -name '*.html')

.PHONY: help setup dev suites run test test-all behaviours image-test lint docs messages format bench release lock clean

help:
	@echo "make run         set up, start Cuebase and print its address"
	@echo "make test        run the tests of a change, at most ten minutes"
	@echo "make test-all    run all tests that this machine can run: kills, upgrades, browser too"
	@echo "make behaviours  list what the tests say that Cuebase does, in build/behaviours.md"
	@echo "make image-test  run the steps of the Dockerfile in a fresh Debian"
	@echo "make lint        check style, types, architecture, settings, migrations"
	@echo "make bench       measure, and write the results to bench/RESULTS.md"
	@echo "make release     build the packages into dist/"
	@echo "make setup       only prepare $(VENV), including $(BIN)/kb"

setup: $(VENV)/.ready

$(VENV)/.ready: requirements-core.lock pyproject.toml
	@test -x $(BIN)/python || echo "Creating a Python environment in $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Downloading and installing 250 MB of packages (once, a minute or two) …"
	@$(INSTALL) --no-deps --no-compile \
	  $$(grep '^setuptools==' requirements.lock) -r requirements-core.lock
	@echo "Installing and compiling Cuebase …"
	@PYTHONWARNINGS=ignore $(BIN)/pip --disable-pip-version-check install --quiet \
	  --no-deps --no-build-isolation --editable .
	@sh deploy/image/trim.sh $(VENV)
	@$(BIN)/python -m compileall -q citations kbsite transcripts
	@touch $@

dev: $(VENV)/.dev

# torch comes first and alone, from the index of its CPU builds where one is named.
$(VENV)/.dev: $(VENV)/.ready requirements.lock requirements-dev.lock
	@echo "Installing what the tests need, PyTorch too (a few minutes the first time) …"
	@$(INSTALL) --no-compile $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) \
	  $$(grep '^torch==' requirements.lock)
	@$(INSTALL) --no-compile -r requirements.lock -r requirements-dev.lock
	@touch $@

# What tests need beside the packages of Python, as far as it can be had; it says what is left out.
suites: dev
	@sh tests/install.sh $(BIN)/python

run: setup
	@LOG_FORMAT=$${LOG_FORMAT:-plain} $(BIN)/kb serve --sample

# Test files run in the order of tests/conftest.py, longest first.
test: suites
	sh tests/frontend/check.sh test
	$(PARALLEL) -m "not thorough"

# Browser tests run last and alone, because they test what a page does within seconds. One that
# fails runs once more; the summary lists it.
test-all: suites
	sh tests/frontend/check.sh test
	$(PARALLEL) --hypothesis-profile thorough --ignore tests/browser --ignore tests/image
	$(PARALLEL) --reruns 1 -raR tests/browser

behaviours: dev
	$(BIN)/python -m tests.behaviours

# The steps of the Dockerfile in a fresh Debian: two to three minutes, as root, with mmdebstrap.
image-test: dev
	$(PYTEST) tests/image

lint: suites
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djade --check $(PAGES)
	sh tests/frontend/check.sh lint
	$(SCRATCH) $(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports
	$(SCRATCH) $(BIN)/python manage.py makemigrations --check --dry-run
	$(SCRATCH) $(DEPLOY) $(BIN)/python manage.py check --deploy --fail-level WARNING

# Update the catalogues in kbsite/locale from the code; needs xgettext and msgmerge of GNU gettext.
messages: dev
	$(SCRATCH) $(BIN)/python -m tests.architecture.translate

# Generate the pages of docs/ that come from the code.
docs: dev
	$(SCRATCH) $(BIN)/python -m tests.architecture

format: dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djade $(PAGES)

# About an hour on two cores; each script can also be run alone. A million segments: python bench/lexical.py 10000 100000 1000000
bench: dev
	$(BIN)/python bench/ingest.py
	$(BIN)/python bench/lexical.py 10000 100000
	$(BIN)/python bench/load.py
	$(BIN)/python bench/search.py 10000 100000
	$(BIN)/python bench/quality.py
	$(BIN)/python bench/overviews.py
	$(BIN)/python bench/relating.py
	$(BIN)/python bench/answering.py

# Build the wheels, their bill of materials and checksums in dist/.
release: setup
	sh deploy/release.sh $(BIN)/python

# Write a new lock from pyproject.toml, in a clean environment so that no stray package gets in.
lock:
	sh deploy/lock.sh $(PYTHON)

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
