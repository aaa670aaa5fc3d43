#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures what MProf costs, and what other tools cost in the same run. The function
# help lists the commands.

set -eu

help() {
  cat <<'END'
usage: run.sh heap|locks|trace|threads|real|preload [PART...]
       run.sh gate [--write]

  heap [pair exact live build process]  the heap profile, and every program
  locks [pair contended]                the block and mutex profiles
  trace [event write]                   the execution trace
  threads [profile crowd]               stacks of all threads; thousands of threads
  real [instructions layouts]           real programs; downloads SQLite and Lua
  preload [programs]                    programs that were built without MProf
  gate [--write]                        compares the instructions of short loads with
                                        gate.txt, or writes it anew

Each part writes its table, and some their picture, into docs/benchmarks.md. Without a
PART, all run. BENCH_QUICK=1 makes the run short, to test the scripts, and writes a copy
of the page into build/bench. The exit status does not depend on the figures, except
that of gate.
END
}

# Debian's python3 finds the packages that setup.sh installs.
export PATH="/usr/bin:$PATH"

what=${1-}
case $what in
heap | locks | trace | threads | real | preload | gate) shift ;;
*)
  help >&2
  exit 2
  ;;
esac

cd -P -- "$(dirname -- "$0")/../.."
out=$PWD/build/bench
src=$PWD/utils/bench

case $what in
gate) utils/setup.sh ;;
preload) utils/setup.sh reach && utils/setup.sh bench ;;
*) utils/setup.sh bench ;;
esac
if [ ! -f build/build.ninja ]; then
  cmake --preset release
fi
cmake --build build
mkdir -p "$out"
if [ "$what" != gate ]; then
  exec python3 -B "$src/measure.py" "$what" "$@"
fi
if ! grep -q '^CMAKE_BUILD_TYPE:.*=Release$' build/CMakeCache.txt; then
  echo "gate: the instructions in gate.txt are those of a release build; run" \
    "cmake --preset release" >&2
  exit 1
fi

mprof=$PWD/build/bin/mprof-clang
# The plain programs are compiled by clang 19. mprof-clang would take the newest clang
# for which the plugin was built.
export MPROF_CLANG=clang-19
by_frames=-fmprof-unwind=frames
echo "bench: building the programs"
heap=$out/gate-heap.o
clang-19 -O2 -c "$src/gate_heap.c" -o "$heap"
clang-19 -O2 -Iinclude "$src/gate.c" "$heap" -o "$out/gate-plain"
"$mprof" -O2 -fmprof -Iinclude "$src/gate.c" "$heap" -o "$out/gate-mprof"
cp "$out/gate-plain" "$out/gate-frames-plain"
"$mprof" -O2 -fmprof $by_frames -Iinclude "$src/gate.c" "$heap" \
  -o "$out/gate-frames-mprof"
clang++-19 -O2 -std=c++17 "$src/strings.cpp" "$heap" \
  -o "$out/gate-strings-plain"
"$mprof++" -O2 -fmprof -std=c++17 "$src/strings.cpp" "$heap" \
  -o "$out/gate-strings-mprof"
library=$out/gate-library.o
clang++-19 -O2 -std=c++17 -fno-builtin -c "$src/gate_library.cpp" \
  -o "$library"
clang++-19 "$library" "$heap" -o "$out/gate-library-plain"
"$mprof++" -fmprof "$library" "$heap" -o "$out/gate-library-mprof"
exec python3 -B "$src/gate.py" "$@"
