#!/usr/bin/env bash
# Checks everything: format, lints, documentation and tests. Exits with 0 if all is well.
#
#   ./scripts/test.sh
#
# Needs Rust and a C compiler; missing parts of the Rust toolchain are installed with rustup, and Chromium, which
# the tests of the annotation page drive, with apt-get.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() { printf '\n== %s\n' "$1"; }

fail() {
    printf 'scripts/test.sh: %s\n' "$1" >&2
    exit 1
}

# component NAME COMMAND...: installs a part of the toolchain unless the command works.
component() {
    local name=$1
    shift
    if "$@" >/dev/null 2>&1; then return; fi
    step "Installing $name"
    command -v rustup >/dev/null || fail "$name is missing. Install it with your package manager, or Rust from https://rustup.rs"
    rustup component add "$name" || fail "rustup could not install $name. Is there a network connection?"
}

# chromium: installs the browser unless there is one that the tests find.
chromium() {
    if [ -n "${FIELDMARK_CHROMIUM:-}" ] || [ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ]; then return; fi
    local name root=()
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        if type -P "$name" >/dev/null; then return; fi
    done
    step "Installing Chromium"
    command -v apt-get >/dev/null ||
        fail "Chromium is missing. Install it, or name a program of its kind in FIELDMARK_CHROMIUM"
    if [ "$(id -u)" != 0 ]; then root=(sudo); fi
    { "${root[@]}" apt-get update -q &&
        DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -q -y --no-install-recommends chromium; } ||
        fail "apt-get could not install chromium. Install it, or name a program of its kind in FIELDMARK_CHROMIUM"
}

command -v cargo >/dev/null || fail "cargo is missing. Install Rust from https://rustup.rs"
command -v cc >/dev/null || fail "a C compiler is missing. Install gcc or clang (on Debian: apt install gcc)"
component rustfmt cargo fmt --version
component clippy cargo clippy --version
chromium

step "Format"
cargo fmt --all --check || fail "run \`cargo fmt --all\`"

step "Lints"
cargo clippy --workspace --all-targets --locked -- -D warnings

step "Documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked ||
    fail "the documentation has warnings"

# Last, so that the output ends with the results of the tests.
step "Tests"
exec cargo test --workspace --locked --no-fail-fast
