# `make demo` and `make test` are the two to know; each sets up all it needs on a fresh machine. `make help` lists the rest.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# The first Python from 3.11 on; override with PYTHON=... (then `make clean` first, if .venv exists).
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
VENV := .venv
PY := $(VENV)/bin/python
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
XLA_HEADERS := $(VENV)/xla-headers
PIP := $(PY) -m pip --disable-pip-version-check
GAMES ?= 200
FUZZ_SECONDS ?= 300
BRIEF_FUZZ ?= 10
PYTEST ?= $(PY) -m pytest -p no:benchmark
PYTEST_JOBS ?= 2
DEMO_OUT ?= runs/demo
# MAKEFLAGS is emptied: ninja would look for the job server of a make that did not hand it on.
RUN := MAKEFLAGS= PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
CPP_FILES = $(shell git ls-files 'csrc/*.h' 'csrc/*.cpp' 'csrc/*.cu' 'bindings/*.h' 'bindings/*.cpp' 'tests/cpp/*.h' 'tests/cpp/*.cpp' 'tests/fuzz/*.h' 'tests/fuzz/*.cpp')

.PHONY: help demo test check build bench parity fuzz asan sanitize test-long lint format stubs types unit tidy clean setup-train setup-dev native cpp-test

help:
	@echo "make demo        train the default agent, evaluate it on held-out games, say where the results are (< 8 min)"
	@echo "make test        every test but the long ones (< 15 min); make test-long has those"
	@echo "make check       lint, types, unit tests (< 2 min after the first build)"
	@echo "make build       .venv with the training extra and the native core, in place"
	@echo "make bench       steps/s, tokens/s, resets/s, forks/s on this machine; results in benchmarks/results/"
	@echo "make parity      play GAMES=200 fresh games beside the original engine"
	@echo "make fuzz        fuzz the loaders and decoders for FUZZ_SECONDS=300 each (needs clang)"
	@echo "make sanitize    C++ tests under ASan, UBSan and TSan, each fuzz target for BRIEF_FUZZ=10 seconds"
	@echo "make format      ruff and clang-format, in place"
	@echo "make clean       remove .venv, build/ and the built module"

# --- the two commands ------------------------------------------------------------------------------------------------

# A demo that was interrupted goes on; one that has finished shows its results again (rm -r runs/demo starts anew).
demo:
	@$(MAKE) --no-print-directory -j2 --output-sync=target setup-train native
	@if [ -e $(DEMO_OUT)/config.yaml ]; then $(RUN) agentenv-fast train --resume $(DEMO_OUT); \
	else $(RUN) agentenv-fast train --config demo --out $(DEMO_OUT); fi

test: setup-dev
	@$(MAKE) --no-print-directory native cpp-test asan
	$(RUN) $(PYTEST) -n $(PYTEST_JOBS) --dist loadfile --no-loadscope-reorder -m "not long" tests

check: setup-dev
	@$(MAKE) --no-print-directory native lint types unit

# --- set-up: a stamp for each part, so that a second call is quick -----------------------------------------------------

$(STAMPS)/venv:
	@if [ -z "$(PYTHON)" ]; then echo "error: no Python 3.11 or newer found; install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; fi
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || tools/need.sh required python3-venv "$(PYTHON) -c 'import ensurepip'" "the virtual environment"
	@echo "making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) && mkdir -p $(STAMPS) && touch $@

# What the native build needs; a system cmake serves if it is new enough.
$(STAMPS)/tools: $(STAMPS)/venv
	@tools/need.sh required g++ "$${CXX:-g++} --version" "building the native core"
	@$(PIP) install -qq "pybind11>=3.0" ninja numpy "scikit-build-core>=1.1" \
	  $$(cmake --version 2>/dev/null | head -1 | $(PY) -c 'import re, sys; v = re.findall(r"\d+", sys.stdin.read()); print("" if tuple(map(int, v[:2])) >= (3, 24) else "cmake")')
	@touch $@

# The package itself is the source tree (a .pth file); CMake is run by `native` below, so nothing is built twice.
EDITABLE = $(PIP) install -qq --no-build-isolation --config-settings=wheel.cmake=false --config-settings=editable.mode=inplace -e

setup-train: $(STAMPS)/train
$(STAMPS)/train: $(STAMPS)/tools pyproject.toml
	@echo "installing the packages of the extra 'train'"
	@$(EDITABLE) ".[train]" && touch $@

setup-dev: $(STAMPS)/dev
$(STAMPS)/dev: $(STAMPS)/tools pyproject.toml
	@echo "installing the packages of the extra 'dev'"
	@$(EDITABLE) ".[dev]" && touch $@ $(STAMPS)/train
	@tools/need.sh optional doctest-dev "test -e /usr/include/doctest/doctest.h" "C++ unit tests"

# Kept apart from the jaxlib that trains, which may be newer, and which pip may be installing while the core is built.
$(STAMPS)/headers: $(STAMPS)/tools
	@tools/xla_headers.sh $(PY) $(XLA_HEADERS) && touch $@

build/dev/build.ninja: $(STAMPS)/tools $(STAMPS)/headers
	@$(RUN) cmake --fresh -S . -B build/dev -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE=$(CURDIR)/$(PY) \
	  -Dpybind11_DIR=$$($(PY) -m pybind11 --cmakedir) \
	  $$([ ! -e $(XLA_HEADERS) ] || echo -DAE_XLA_INCLUDE=$(CURDIR)/$(XLA_HEADERS)) > build.log 2>&1 || { cat build.log; exit 1; }
	@rm -f build.log

native: build/dev/build.ninja
	@$(RUN) ninja -C build/dev --quiet _core

build: setup-train native

# --- checks ------------------------------------------------------------------------------------------------------------

lint: setup-dev
	@$(BIN)/ruff check .
	@$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)
	@$(BIN)/lint-imports

types: setup-dev
	@$(BIN)/basedpyright --level error

unit: setup-dev native
	$(RUN) $(PYTEST) -n $(PYTEST_JOBS) --dist loadfile --no-loadscope-reorder -m "not long and not slow and not parity" tests

# The C++ tests share the objects of the core; doctest-dev may be missing where nobody is root.
cpp-test: native
	@if [ -e /usr/include/doctest/doctest.h ]; then \
	  $(RUN) cmake -DAE_TESTS=ON build/dev >/dev/null && $(RUN) ninja -C build/dev --quiet && \
	  $(RUN) ctest --test-dir build/dev --output-on-failure; \
	else echo "skipping the C++ tests: doctest is missing; to have it: sudo apt-get install doctest-dev"; fi

format: setup-dev
	@$(BIN)/ruff check --fix-only . && $(BIN)/ruff format . && $(BIN)/clang-format -i $(CPP_FILES)

stubs: setup-dev native
	@$(PY) -m pybind11_stubgen agentenv_fast.native._core -o build/stubs >/dev/null
	@cp build/stubs/agentenv_fast/native/_core.pyi agentenv_fast/native/_core.pyi

tidy: native
	@tools/need.sh optional clang-tidy "clang-tidy --version" "clang-tidy checks"
	@! command -v clang-tidy >/dev/null || clang-tidy -p build/dev --quiet $(filter %.cpp,$(CPP_FILES))

test-long: setup-dev native
	$(RUN) $(PYTEST) -m long --timeout 3600 tests

parity: setup-dev native
	$(RUN) AE_PARITY_GAMES=$(GAMES) $(PYTEST) -m parity --timeout 7200 tests/parity

bench: setup-dev native
	$(RUN) $(PY) -m pytest benchmarks --benchmark-only --benchmark-json=benchmarks/results/pytest.json
	$(RUN) $(BIN)/agentenv-fast bench

# --- harsher checks of the C++ side --------------------------------------------------------------------------------------

# The core without Python: these builds leave the module that you import alone. -O1 halves their compile time.
CPP_ONLY = $(RUN) cmake -S . -G Ninja -DAE_PYTHON=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g"
HAVE_DOCTEST = $(if $(wildcard /usr/include/doctest/doctest.h),ON,OFF)

# C++ tests under ASan and UBSan, and $(BRIEF_FUZZ) seconds of each fuzz target, with the compiler at hand.
asan: $(STAMPS)/tools
	@$(CPP_ONLY) -B build/asan -DAE_TESTS=$(HAVE_DOCTEST) -DAE_FUZZ=ON -DAE_FUZZ_SECONDS=$(BRIEF_FUZZ) -DAE_SANITIZE=address,undefined >/dev/null
	@$(RUN) ninja -C build/asan --quiet
	$(RUN) ctest --test-dir build/asan --output-on-failure

sanitize: asan
	@$(CPP_ONLY) -B build/tsan -DAE_TESTS=$(HAVE_DOCTEST) -DAE_SANITIZE=thread >/dev/null
	@$(RUN) ninja -C build/tsan --quiet
	$(RUN) ctest --test-dir build/tsan --output-on-failure

# libFuzzer under Clang; what it found interesting is kept in build/corpus. Then the loader, in Python.
fuzz: setup-dev native
	@tools/need.sh required clang "clang++ --version" "libFuzzer"
	@tools/need.sh required libclang-rt-$$(clang++ -dumpversion | cut -d. -f1)-dev \
	  "ls $$(clang++ -print-resource-dir)/lib/*/libclang_rt.fuzzer*" "libFuzzer"
	@$(CPP_ONLY) -B build/fuzz -DCMAKE_CXX_COMPILER=clang++ -DAE_FUZZ=ON -DAE_SANITIZE=address,undefined >/dev/null
	@$(RUN) ninja -C build/fuzz --quiet
	for name in source rows program; do mkdir -p build/corpus/$$name; \
	  build/fuzz/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -len_control=0 -max_len=$$([ $$name = program ] && echo 65536 || echo 2048) \
	    -timeout=20 -rss_limit_mb=2048 -artifact_prefix=build/corpus/ build/corpus/$$name; done
	$(RUN) AE_FUZZ_SECONDS=$(FUZZ_SECONDS) $(PYTEST) --timeout 0 tests/fuzz

clean:
	rm -rf $(VENV) build agentenv_fast/native/_core*.so
