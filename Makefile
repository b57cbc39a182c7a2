# `make` lists the targets. Needs Python 3.11 or newer; uses uv where it is found, plain venv and pip where not.
VENV    ?= .venv
PINS    ?= constraints.txt
OUT     ?= out
WORKERS ?= 2
SECONDS ?= 300
SEED    ?= 0
# Lowest line and branch coverage of the pure-Python run, in per cent.
COVERAGE ?= 85

# Tests run in WORKERS processes: threads of their linear algebra would only wait for one another.
export OPENBLAS_NUM_THREADS ?= 1

BIN     := $(VENV)/bin
PYTEST  := $(BIN)/python -m pytest
# Some tests take minutes: who is free helps.
SPREAD  := -n $(WORKERS) --dist worksteal
UV      := $(shell command -v uv 2>/dev/null)
# Bridges need torch and jax, which the extra `test` goes without, and have no examples in docstrings.
BRIDGES := spatialops/interop/torch.py spatialops/interop/jax.py
BOUNDS_TESTS := $(or $(wildcard $(addprefix tests/,algebra tree dynamics contact collision simulation)),tests)

# Half of pip's time is bytecode of modules that are never imported; Python makes it where it may, and uv makes none.
LAZY := $(if $(UV)$(PYTHONDONTWRITEBYTECODE),,--no-compile)

# Two at once: what the package needs, and the package, which is built in an environment of its own.
# They put different files into one place, and the one that looks at all of them then need not look.
QUIET := $(if $(UV),,--no-warn-conflicts)

# Lines of pyproject.toml: what the package needs, and what draws its figures.
NEEDS := /^(dependencies|plots) = \[/,/^\]/

ifeq ($(UV),)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(PINS)
else
INSTALL = $(UV) pip install --quiet --python $(BIN)/python -c $(PINS)
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all test-extra test-slow test-bounds test-python test-lowest test-newest ci doctest lint format bench \
        wheel docs notebooks pictures fuzz soak mutate install install-dev robots clean distclean

help:  ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed  ## Simulate the 12-link pendulum; plots and a 3-D replay in out/pendulum
	@$(BIN)/spatialops pendulum --links 12 --duration 3 --out $(OUT)/pendulum
	@echo; echo "Pictures and the 3-D replay (open the .html file in a browser):"
	@find $(OUT)/pendulum -type f \( -name '*.png' -o -name '*.svg' -o -name '*.html' \) | sort | sed 's/^/  /'

test: lint doctest  ## Lint, types, floors, doctests and all quick tests
	$(PYTEST) $(SPREAD) -m "not slow"

test-all: test test-extra  ## Everything: also slow tests, bounds checks, pure Python with coverage

ci: test-all  ## The same

test-extra: test-slow test-bounds test-python  ## What test-all has beyond test

test-slow: $(VENV)/.installed-dev robots  ## Slow tests, and the references with every robot
	@$(PYTEST) $(SPREAD) -m slow || test $$? -eq 5
	@$(PYTEST) $(SPREAD) tests/dynamics/test_references.py  # now also the robots of the two packages

test-bounds: $(VENV)/.installed-dev  ## Quick tests of the kernels, compiled with bounds checks
	NUMBA_BOUNDSCHECK=1 $(PYTEST) $(SPREAD) -m "not slow" $(BOUNDS_TESTS)

test-python: $(VENV)/.installed-dev  ## Quick tests with nothing compiled, measuring coverage
	NUMBA_DISABLE_JIT=1 $(PYTEST) $(SPREAD) -m "not slow and not compiled" \
	    --cov --cov-report=term-missing --cov-fail-under=$(COVERAGE)

test-lowest: build/lowest.txt  ## Quick tests with the oldest dependencies that pyproject.toml admits
	$(MAKE) VENV=build/lowest PINS=build/lowest.txt build/lowest/.installed-test
	build/lowest/bin/python -m pytest $(SPREAD) -m "not slow"

test-newest:  ## What depends on Numba's, NumPy's and CPython's insides, and quick tests, with the newest of everything
	@mkdir -p build && touch build/newest.txt
	$(MAKE) VENV=build/newest PINS=build/newest.txt build/newest/.newest
	build/newest/bin/python -m pytest tests/_compile
	build/newest/bin/python -m pytest $(SPREAD) -m "not slow"

build/lowest.txt: pyproject.toml
	@mkdir -p build
	@sed -n -E '$(NEEDS)s/^ *"(.*)>=(.*)",$$/\1==\2/p' pyproject.toml > $@

doctest: $(VENV)/.installed-dev  ## The examples in the docstrings
	@$(PYTEST) -q $(SPREAD) --doctest-modules $(BRIDGES:%=--ignore=%) spatialops || test $$? -eq 5

lint: $(VENV)/.installed-dev  ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p spatialops -p examples  # tests hand over wrong types on purpose
	$(BIN)/lint-imports
	$(BIN)/python -m tests.style.packed  # one statement a line

format: $(VENV)/.installed-dev  ## Rewrite the sources as ruff likes them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed-bench  ## Speed, side by side with Pinocchio and MuJoCo
	$(BIN)/spatialops bench

wheel: $(VENV)/.installed-dev  ## A wheel with machine code for this platform, Python and Numba, in dist (needs cc)
	rm -rf build/wheel
	$(BIN)/python -c "import setuptools.build_meta as b; b.build_sdist('build/wheel')"
	cd build/wheel && tar -xzf *.tar.gz --strip-components=1
	cd build/wheel && $(abspath $(BIN))/python -m tools.machine_code --work ../machine_code
	cd build/wheel && $(abspath $(BIN))/python -c "import setuptools.build_meta as b; b.build_wheel('../../dist')"

docs: $(VENV)/.installed-docs  ## The documentation as a site, out/site/index.html; without network, any warning is an error
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs $(OUT)/site
	@echo "Open $(OUT)/site/index.html in a browser."

notebooks: $(VENV)/.installed-docs  ## The notebooks of the documentation for Jupyter, out/notebooks/*.ipynb
	@mkdir -p $(OUT)/notebooks
	@for page in docs/notebooks/*.md; do \
	    $(BIN)/jupytext --quiet --to ipynb --output $(OUT)/notebooks/$$(basename $$page .md).ipynb $$page; done
	@echo "Open them with jupyter lab $(OUT)/notebooks."

pictures: $(VENV)/.installed-docs  ## Draw the pictures of README and teaching pages anew (needs chromium)
	$(BIN)/python docs/pictures.py

fuzz: $(VENV)/.installed-dev  ## Random scenes and damaged files for SECONDS each, and 20000 commands, from SEED on; findings in out/fuzz
	$(BIN)/python -m tests.trust.fuzz_scenes --seconds $(SECONDS) --seed $(SEED) --out $(OUT)/fuzz
	$(BIN)/python -m tests.trust.fuzz_files --seconds $(SECONDS) --seed $(SEED) --out $(OUT)/fuzz
	$(BIN)/python -m tests.trust.fuzz_commands --n 20000 --seed $(SEED)

soak: $(VENV)/.installed-dev  ## Four scenes for SECONDS in all: what creeps?
	$(BIN)/python -m tests.trust.soak --seconds $(SECONDS) --out $(OUT)/soak

mutate: $(VENV)/.installed-dev  ## Faults put into FILES (default: any) for SECONDS; what no test notices
	$(BIN)/python -m tests.trust.mutate --seconds $(SECONDS) --seed $(SEED) $(FILES)

install: $(VENV)/.installed  ## The package, editable, with what it needs to run and to draw

install-dev: $(VENV)/.installed-dev  ## The same with all that tests and linters need

robots: $(VENV)/.installed-robots  ## More robot files for the tests (900 MB): dm_control, gymnasium-robotics, pybullet, robosuite

clean:  ## Remove what was built or written
	rm -rf $(OUT) build dist docs/api/names *.egg-info .coverage .coverage.* htmlcov .hypothesis
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find . -path ./$(VENV) -prune -o -path ./.git -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf

distclean: clean  ## The same and the environment
	rm -rf $(VENV)

$(VENV)/.created:
	@mkdir -p $(dir $(VENV))
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then exit 0; fi; \
	if [ -n "$(UV)" ]; then $(UV) venv --quiet --allow-existing --python '>=3.11' $(VENV) && exit 0 || exit 1; fi; \
	for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
	    $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    if ! $$python -c 'import ensurepip, venv' 2>/dev/null; then \
	        echo "$$python cannot make an environment. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; fi; \
	    echo "Creating $(VENV) with $$($$python --version)"; \
	    $$python -m venv $(VENV); exit $$?; \
	done; \
	echo "No Python 3.11 or newer was found. On Debian 12 or newer: apt install python3 python3-venv" >&2; exit 1
	@touch $@

$(VENV)/.installed: pyproject.toml $(PINS) | $(VENV)/.created build/needs.txt
	@echo "Installing spatialops into $(VENV) (a minute or so) ..."
	@$(INSTALL) $(LAZY) --no-deps -e . & \
	$(INSTALL) $(LAZY) $(QUIET) -r build/needs.txt; status=$$?; wait $$! && exit $$status
	@touch $@

build/needs.txt: pyproject.toml
	@mkdir -p build
	@sed -n -E '$(NEEDS)s/^ *"(.*)",$$/\1/p' pyproject.toml > $@

# One rule for every extra of pyproject.toml.
$(VENV)/.installed-%: pyproject.toml $(PINS) | $(VENV)/.created
	@echo "Installing spatialops[$*] into $(VENV) (a minute or two) ..."
	@$(INSTALL) -e '.[$*]'
	@touch $@

# Also a Numba that pyproject.toml does not admit yet: tests/_compile says what it breaks.
$(VENV)/.newest: $(VENV)/.installed-test
	@$(INSTALL) --upgrade numba llvmlite
	@touch $@

# Only their files are wanted: what they depend on is large, and needs a compiler or a screen.
$(VENV)/.installed-robots: $(PINS) | $(VENV)/.created
	@echo "Installing more robot files into $(VENV) ..."
	@$(INSTALL) --no-deps dm_control robosuite gymnasium-robotics
	@$(INSTALL) --no-deps pybullet || echo "pybullet has no wheel for this Python: its robots are left out"
	@touch $@
