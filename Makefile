# The commands of everyday work. CMakePresets.json holds what they build, so
# an editor that knows presets builds the same. Plain enough for GNU make 3.81
# (macOS) and BSD make.
#
#   make JOBS=4       that many compilers and tests at once; default: the cores
#   make SETUP=:      leave the installed packages alone
#   make TRAIN=...    what `make train` runs
#   make FORM=short   the quick part of test-processors, test-arm64

JOBS   ?= $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
SETUP  ?= scripts/setup.sh
PREFIX ?= /usr/local
TRAIN  ?= train configs/fashion-mnist-cnn.toml
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 7200

# Configuring again is quick and picks up a changed preset.
BUILD = build() { preset=$$1; shift; cmake --preset $$preset >/dev/null && \
          cmake --build --preset $$preset -j $(JOBS) "$$@"; }; \
        check() { build $$1 || return; \
          ctest --preset $$1 -j $(JOBS); passed=$$?; \
          scripts/skipped_tests.sh build/$$1; return $$passed; };

build: setup ## build the command and its libraries (the default)
	@$(BUILD) build release --target temper_installed

train: setup ## build the command, then train on this machine
	@$(BUILD) build release --target temper
	@build/release/bin/temper $(TRAIN)

test: setup ## build, then run every test
	@$(BUILD) check release

asan: setup ## the tests under the address and undefined-behaviour sanitizers
	@$(BUILD) check asan

tsan: setup ## the tests under the thread sanitizer
	@$(BUILD) check tsan

test-latest: ## the tests on Debian unstable with the newest LibTorch (root)
	@$(SETUP) latest
	@JOBS="$(JOBS)" scripts/test_latest.sh

test-clean: ## make test as a newcomer, on a bare Debian 12 (root)
	@$(SETUP) clean
	@JOBS="$(JOBS)" scripts/test_clean.sh

test-arm64: ## core and fused training as arm64 code under qemu (FORM=short)
	@$(SETUP) arm64
	@JOBS="$(JOBS)" scripts/test_arm64.sh $(FORM)

test-processors: setup ## as if on other processors, and under load (FORM=short)
	@$(BUILD) build release
	@JOBS="$(JOBS)" scripts/test_processors.sh $(FORM)

fuzz: ## libFuzzer on every reader of data, FUZZ_SECONDS (60) each (clang)
	@$(SETUP) build fuzz
	@JOBS="$(JOBS)" FUZZ_SECONDS="$(FUZZ_SECONDS)" scripts/fuzz.sh

torture: setup ## kill, hang, starve and wear out runs; a table of all gates
	@$(BUILD) build release --target temper_torture
	@SOAK_SECONDS="$(SOAK_SECONDS)" build/release/bin/temper_torture $(GATES)

bench: ## temper beside Python's PyTorch, in turns (docs/bench.md)
	@$(SETUP) build bench
	@$(BUILD) build release --target temper temper_bench_limits
	@bench/peers/bench.py build/release/bin/temper \
	  build/release/bin/temper_bench_limits

bench-check: ## do the peers of make bench train the very same networks
	@$(SETUP) build bench
	@$(BUILD) build release --target temper
	@bench/peers/check.py build/release/bin/temper

bench-scaling: setup ## how a step grows with batch, image, width and samples
	@$(BUILD) build release --target temper temper_bench_plot
	@bench/peers/scaling.py build/release/bin/temper \
	  build/release/bin/temper_bench_plot

bench-loader: setup ## how fast batches are made, beside Python's DataLoader
	@$(BUILD) build release --target temper_bench_loader
	@build/release/bin/temper_bench_loader

bench-executor: setup ## what interpreting a graph costs over torch::nn
	@$(BUILD) build release --target temper_bench_executor
	@build/release/bin/temper_bench_executor

bench-transaction: setup ## what it costs that a step can be taken back
	@$(BUILD) build release --target temper_bench_transaction
	@build/release/bin/temper_bench_transaction

bench-track: setup ## what tracking costs a step, and a million points
	@$(BUILD) build release --target temper_bench_track
	@build/release/bin/temper_bench_track

bench-allocator: setup ## what recycling CPU memory saves in a step
	@$(BUILD) build release --target temper_bench_allocator
	@build/release/bin/temper_bench_allocator

bench-checkpoint: setup ## what a checkpoint a minute costs a run
	@$(BUILD) build release --target temper_bench_checkpoint
	@build/release/bin/temper_bench_checkpoint

bench-cifar10: setup ## ResNet-18 on CIFAR-10, beside PyTorch with the same recipe
	@$(BUILD) build release --target temper
	@bench/cifar10_twin.sh build/release/bin/temper

bench-m1: setup ## MobileNetV2's last layer on CIFAR-10, beside plain PyTorch
	@$(BUILD) build release --target temper
	@bench/m1_benchmark.sh build/release/bin/temper

bench-ordinary: setup ## what defaults reach on ordinary inputs, beside PyTorch
	@$(BUILD) build release --target temper
	@bench/ordinary.py build/release/bin/temper

bench-plan: setup ## is the plan as fast as the best fixed setting
	@$(BUILD) build release --target temper
	@bench/plan_settings.py build/release/bin/temper

lint: ## check the layout (clang-format) and the code (clang-tidy)
	@$(SETUP) build lint
	@JOBS="$(JOBS)" scripts/lint.sh

format: ## lay the code out
	@$(SETUP) lint
	@git ls-files -co --exclude-standard '*.cpp' '*.h' | xargs clang-format -i

install: setup ## build the command and the library, install below PREFIX
	@$(BUILD) build release --target temper
	@cmake --install build/release --prefix "$(PREFIX)"

setup: ## install what the build needs
	@$(SETUP) build

clean: ## remove what was built; .cache, with its chroots, stays
	@rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' \
	  Makefile

.PHONY: build train test asan tsan test-latest test-clean test-arm64 \
  test-processors fuzz torture bench bench-check bench-scaling \
  bench-loader bench-executor bench-transaction bench-track bench-allocator \
  bench-checkpoint bench-cifar10 bench-m1 bench-plan bench-ordinary lint format \
  install setup clean help
