#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs programs of Debian, as Debian has built them, plain and under `mprof run`
# with all kinds of profiles, and compares their exit status and their output.
# Then compares the number of allocations and the bytes that are left with those
# that heaptrack finds. docs/no-rebuild.md shows the result.
#   reach.sh             all programs of utils/reach/programs.py
#   reach.sh NAME...     some of them
# Installs the programs. Takes about four minutes.

set -eu

cd -P -- "$(dirname -- "$0")/.."
. utils/configure.sh
utils/setup.sh
utils/setup.sh reach
configure release build
cmake --build build
exec python3 utils/reach/reach.py "$@"
