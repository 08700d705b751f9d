# SPDX-License-Identifier: MIT
# Shared by the scripts in this folder: the root of the repository, and functions for messages and errors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
THRUM_SCRIPT="script/$(basename "$0")"

say() { printf '==> %s\n' "$*"; }
fail() {
  printf '%s: %s\n' "$THRUM_SCRIPT" "$*" >&2
  exit 1
}

THRUM_CMAKE_OPTIONS=()  # further options of cmake, for all presets

# configure_and_build PRESET [target ...]: builds quietly and shows the log of a failure.
configure_and_build() {
  local preset=$1
  shift
  local log="build/$preset.log"
  mkdir -p build
  say "building ($preset); the log is $log"
  if ! cmake --preset "$preset" -DTHRUM_WARNINGS_AS_ERRORS="${THRUM_WARNINGS_AS_ERRORS:-OFF}" \
    "${THRUM_CMAKE_OPTIONS[@]}" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    fail "cmake could not configure the preset '$preset'; the full log is $log"
  fi
  local targets=()
  [ $# -gt 0 ] && targets=(--target "$@")
  if ! cmake --build --preset "$preset" "${targets[@]}" >>"$log" 2>&1; then
    grep -E -A8 'error:|FAILED:|undefined reference' "$log" | head -n 60 >&2
    fail "the build of the preset '$preset' failed; the full log is $log"
  fi
}
