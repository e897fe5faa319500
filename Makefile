# dgap: every command that a newcomer or CI needs. Wants Python 3.11 and make, nothing else.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
# Newer than both files below exactly when the environment is what they say.
STAMP := .venv/installed
PACKAGES := protocol spec proofs runtime
# Where the ranks of the tests write their traces: of runs that end, and of those that are killed.
TRACES := runs/traces
# Folders of ours outside the four packages that style and types are checked in.
OTHERS := $(wildcard tests examples benchmarks)

.PHONY: help setup demo test replay lint verify verify-core mutants bench
.DEFAULT_GOAL := help

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1: /p' $(MAKEFILE_LIST)

setup: $(STAMP)  ## the environment alone (.venv, exact versions from constraints.txt)

$(STAMP): pyproject.toml constraints.txt
	@echo 'installing into .venv: some minutes, once'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --quiet -c constraints.txt -e '.[verify,report,demo,dev]'
	@touch $@

demo: setup  ## the main job: train on real text, fixed batches against dgap (FAULT=dataset: a failing rank)
	$(BIN)/python -m examples.demo $(if $(FAULT),--fault $(FAULT))

test: lint  ## style, types and all tests
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --traces $(TRACES)

replay: setup  ## explain every step of every rank in the last `make test`, by the transition table
	$(BIN)/python -m dgap.proofs replay $(TRACES)/whole
	$(BIN)/python -m dgap.proofs replay --cut $(TRACES)/cut

lint: setup  ## style and types alone
	$(BIN)/ruff check .
	$(BIN)/mypy $(PACKAGES:%=-p dgap.%)
	$(BIN)/mypy $(OTHERS)

# Also wants Java, gcc and rumur (Debian: default-jre-headless gcc rumur); a missing one fails it.
verify: setup  ## prove and explore the transition table; ends with one line that counts the checks
	$(BIN)/python -m dgap.proofs

# Needs rumur, gcc and Java neither installed nor run, and promises less than `verify`.
verify-core: setup  ## the smaller promise: what Z3 proves for every number of ranks, in seconds
	$(BIN)/python -m dgap.proofs --core

mutants: setup  ## change the table in every small way; each change is caught as recorded, or changes nothing
	$(BIN)/python -m dgap.proofs mutants

# The peers that dgap is compared with stay out of .venv: they are not what the tests run with.
BENCH_STAMP := .venv-bench/installed

bench: $(BENCH_STAMP)  ## compare with what you would use instead: 25 minutes on two quiet cores (QUICK=1: three)
	.venv-bench/bin/python -m benchmarks $(if $(QUICK),--quick)

$(BENCH_STAMP): pyproject.toml constraints.txt benchmarks/constraints.txt
	@echo 'installing into .venv-bench: some minutes, once'
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --quiet -c constraints.txt \
		-c benchmarks/constraints.txt -e '.[bench,report]'
	@touch $@
