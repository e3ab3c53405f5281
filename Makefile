# make demo   sets everything up and compares two SQLite targets: under 3 minutes after set-up
# make test   sets everything up and runs the whole test suite, with real PostgreSQL and MariaDB servers
# make check  formatting, lint, types
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ENGINE := engine/target/release/dbversus-engine

.PHONY: demo test check format setup engine aarch64 lock clean

setup: $(VENV)/.ready engine

$(VENV)/.ready: requirements.txt requirements-dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "dbversus needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

engine:
	@command -v cargo >/dev/null || { echo "dbversus needs a Rust toolchain (cargo) to build its engine"; exit 1; }
	cargo build --release --locked --manifest-path engine/Cargo.toml

demo: setup
	$(BIN)/dbversus demo

test: setup
	$(BIN)/python tests/with_postgres.py $(BIN)/python tests/with_mysql.py cargo test --release --locked --manifest-path engine/Cargo.toml
	$(BIN)/python tests/with_postgres.py $(BIN)/pytest -m 'not alone' --numprocesses 2 --dist loadfile --no-loadscope-reorder
	$(BIN)/python tests/with_postgres.py $(BIN)/pytest -m alone

check: setup
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	cargo fmt --all --check --manifest-path engine/Cargo.toml
	cargo clippy --release --locked --all-targets --manifest-path engine/Cargo.toml -- -D warnings

format: setup
	$(BIN)/ruff format src tests benchmarks
	$(BIN)/ruff check --fix src tests benchmarks
	cargo fmt --all --manifest-path engine/Cargo.toml

# does the engine compile for aarch64? CONTRIBUTING.md says what that needs
aarch64: export CC_aarch64_unknown_linux_gnu := aarch64-linux-gnu-gcc
aarch64: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER := aarch64-linux-gnu-gcc
aarch64:
	cargo build --locked --workspace --target aarch64-unknown-linux-gnu --manifest-path engine/Cargo.toml

# pinned versions with hashes; run after changing dependencies in pyproject.toml
lock:
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -o requirements.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --group dev -o requirements-dev.txt pyproject.toml

clean:
	rm -rf $(VENV) engine/target
