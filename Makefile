# make demo   sets everything up and compares two SQLite targets: a minute and a half after set-up
# make test   sets everything up and runs the tests, with real PostgreSQL and MariaDB servers
# make quick  for daily work: formatting, lint, types, imports, and tests without servers, in some 3 minutes
# make check  formatting, lint, types, imports, licences
# make fuzz   broken journals and broken answers of servers, in two minutes
# make audit  known vulnerabilities of dependencies; needs a network
# make docs   the documentation as a site, in dist/docs
# make wheel  a wheel with the engine in it, for glibc 2.28 and later, in dist/; ARCH=aarch64 for that machine
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTHON_FILES := src tests benchmarks tools

.PHONY: demo test quick fuzz audit check format setup engine notice docs wheel lock clean

# both at the same time: pip waits for the network, cargo for the CPU
setup:
	@$(MAKE) --no-print-directory --jobs 2 $(VENV)/.ready engine

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

# a server that cannot be had fails the tests that need it; see CONTRIBUTING.md
test: export DBVERSUS_TEST_REQUIRE ?= builds
test: setup
	$(BIN)/python tests/with_postgres.py $(BIN)/python tests/with_mysql.py cargo test --release --locked --manifest-path engine/Cargo.toml
	$(BIN)/python tests/with_postgres.py $(BIN)/pytest -m 'not alone$(if $(DBVERSUS_TEST_LONG),, and not long)' --numprocesses 3 --dist worksteal
	$(BIN)/python tests/with_postgres.py $(BIN)/pytest -m alone

quick: $(VENV)/.ready
	$(BIN)/ruff format --check $(PYTHON_FILES)
	$(BIN)/ruff check $(PYTHON_FILES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/pytest -m 'not alone and not e2e and not slow' --numprocesses auto --dist worksteal

# breaks journals, and what servers send, at random: a minute each, unless FUZZ_SECONDS says otherwise
FUZZ_SECONDS ?= 60
fuzz: setup
	$(BIN)/python tools/fuzz_journal.py --seconds $(FUZZ_SECONDS)
	DBVERSUS_FUZZ_SECONDS=$$(($(FUZZ_SECONDS) / 2)) DBVERSUS_FUZZ_SEED=$$(date +%s) cargo test --release --locked --manifest-path engine/Cargo.toml --test mysql_mutations --test postgres_mutations broken -- --nocapture

# known vulnerabilities of dependencies (SECURITY.md); needs a network
audit: $(VENV)/.ready
	$(BIN)/python tools/advisories.py

check: setup
	$(BIN)/ruff format --check $(PYTHON_FILES)
	$(BIN)/ruff check $(PYTHON_FILES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/python tools/notice.py --check
	cargo fmt --all --check --manifest-path engine/Cargo.toml
	cargo clippy --release --locked --all-targets --manifest-path engine/Cargo.toml -- -D warnings

format: setup
	$(BIN)/ruff format $(PYTHON_FILES)
	$(BIN)/ruff check --fix $(PYTHON_FILES)
	cargo fmt --all --manifest-path engine/Cargo.toml

# after a change of dependencies
notice: setup
	$(BIN)/python tools/notice.py

# a page per verb is made from --help; a link to a page or heading that is not there fails
docs: $(VENV)/.docs
	$(BIN)/python tools/docs_site.py dist/docs-pages
	$(BIN)/zensical build --clean --strict
	@echo "dist/docs/index.html; with search: $(PYTHON) -m http.server --directory dist/docs"

$(VENV)/.docs: $(VENV)/.ready requirements-docs.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.txt
	touch $@

# ARCH: x86_64 or aarch64. auditwheel refuses files that need a later glibc, and gives the wheel its platform's name
ARCH ?= x86_64
GLIBC ?= 2.28
RUST_TARGET := $(ARCH)-unknown-linux-gnu
WHEEL_ENGINE := engine/target/$(RUST_TARGET)/dist

wheel: $(VENV)/.wheel
	@command -v cargo >/dev/null || { echo "a wheel needs a Rust toolchain (cargo) for its engine"; exit 1; }
	@test -d "$$(rustc --print target-libdir --target $(RUST_TARGET) 2>/dev/null)" || { echo "Rust has no standard library for $(RUST_TARGET) here; 'rustup target add $(RUST_TARGET)' installs it."; exit 1; }
	PATH="$(CURDIR)/$(BIN):$$PATH" cargo zigbuild --profile dist --locked --manifest-path engine/Cargo.toml --target $(RUST_TARGET).$(GLIBC)
	$(BIN)/python tools/notice.py --texts > $(WHEEL_ENGINE)/LICENSES.txt
	rm -rf $(WHEEL_ENGINE)/wheel
	DBVERSUS_WHEEL_ENGINE=$(WHEEL_ENGINE) DBVERSUS_WHEEL_ARCH=$(ARCH) $(BIN)/hatchling build -t wheel -d $(WHEEL_ENGINE)/wheel
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/audit.py $(ARCH) repair --plat manylinux_$(subst .,_,$(GLIBC))_$(ARCH) --only-plat -w dist $(WHEEL_ENGINE)/wheel/*.whl

$(VENV)/.wheel: requirements-wheel.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-wheel.txt
	touch $@

# pinned versions with hashes; run after changing dependencies in pyproject.toml
lock:
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -o requirements.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --group dev -o requirements-dev.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --group docs -c requirements-dev.txt -o requirements-docs.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --group wheel -c requirements-dev.txt -o requirements-wheel.txt

clean:
	rm -rf $(VENV) engine/target dist .cache
