#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures the cost of MProf's profiles and of MProf's execution trace. Measures
# other tools in the same run, for comparison:
#   run.sh heap [PART...]     the heap profile: all parts, or only the named parts
#   run.sh locks [PART...]    the block and mutex profiles
#   run.sh trace [PART...]    the execution trace
#   run.sh threads [PART...]  the stacks of all threads, and labels
#   run.sh real [PART...]     real programs, in instructions, and in time over many
#                             random layouts of each program
#   run.sh preload [PART...]  programs that were built without MProf
#   run.sh all                all of the above, one after another
#   run.sh gate [--write]     compares the instructions of short loads with gate.txt,
#                             or writes gate.txt anew; takes less than a minute
# A PART is the name of a function in measure_heap.py, measure_locks.py,
# measure_trace.py, measure_threads.py, measure_real.py or measure_preload.py. Some
# parts of heap are in measure_turns.py, measure_exact.py and measure_library.py. Writes
# the results into build/bench/heap.json, locks.json and so on. Makes a section of
# docs/benchmarks.md and its plot from this file. real downloads the sources of SQLite
# and Lua. BENCH_QUICK=1 makes the run short, to test the scripts, and writes the page
# and the plot below build/bench/ instead, from results in heap-quick.json and so on.
# The exit status does not depend on the figures, except that of gate. It is 1 only
# when a program fails, or when a profile of locks or a trace lacks events.

set -eu

case ${1-} in
heap | locks | trace | threads | real | preload | gate) what=$1 ;;
all)
  for each in heap locks trace threads real preload; do
    "$0" "$each"
  done
  exit
  ;;
*)
  echo "usage: ${0##*/} heap|locks|trace|threads|real|preload [PART...]" >&2
  echo "       ${0##*/} all" >&2
  echo "       ${0##*/} gate [--write]" >&2
  exit 2
  ;;
esac
shift

cd -P -- "$(dirname -- "$0")/../.."
top=$PWD
out=$top/build/bench
src=$top/utils/bench

if [ "$what" = gate ]; then
  utils/setup.sh
else
  utils/setup.sh bench
fi
if [ ! -f build/build.ninja ]; then
  cmake --preset release
fi
cmake --build build
if [ "$what" = gate ] &&
  ! grep -q '^CMAKE_BUILD_TYPE:.*=Release$' build/CMakeCache.txt; then
  echo "gate: the instructions in gate.txt are those of a release build; run" \
    "cmake --preset release" >&2
  exit 1
fi
mkdir -p "$out"

GO=$(command -v go || command -v /usr/local/go/bin/go ||
  echo /usr/lib/go-1.19/bin/go)
GO_1_19=/usr/lib/go-1.19/bin/go
export GO GO_1_19
mprof=$top/build/bin/mprof-clang
# The plain programs are compiled by clang 19. mprof-clang would take the newest
# clang for which the plugin was built.
export MPROF_CLANG=clang-19
frames='-fno-omit-frame-pointer -momit-leaf-frame-pointer'
# The page's programs follow frame pointers, unless a section says otherwise.
by_frames=-fmprof-unwind=frames
resource=$(clang-19 -print-resource-dir)

# Builds program $1 as $1-plain without MProf and as $1-mprof with MProf. $2 is empty
# for C and ++ for C++. The programs have no debug information, because valgrind
# 3.19 cannot read the debug information of clang 19.
build() {
  name=$1
  plus=${2-}
  source=$src/$name.c${plus:+pp}
  "clang$plus-19" -O2 -Iinclude "$source" -o "$out/$name-plain"
  "$mprof$plus" -O2 -fmprof $by_frames -Iinclude "$source" -o "$out/$name-mprof"
}

# Builds demonstration program $1 as $1-plain, $1-mprof and $1-frames, which has
# frame pointers. $2 is empty for C and ++ for C++. The other arguments are sources
# and flags.
build_demo() {
  name=$1
  plus=$2
  shift 2
  "clang$plus-19" -O2 "$@" -lm -o "$out/$name-plain"
  # shellcheck disable=SC2086
  "clang$plus-19" -O2 $frames "$@" -lm -o "$out/$name-frames"
  "$mprof$plus" -O2 -fmprof $by_frames "$@" -lm -o "$out/$name-mprof"
}

# Builds Go program $1 as $1-go. If $2 and $3 are given, uses the go command $2 and
# names the program $3.
build_go() {
  command=${2-$GO}
  output=$out/${3-$1-go}
  rm -f "$output"
  if [ -x "$command" ]; then
    GO111MODULE=off "$command" build -o "$output" "$src/$1.go"
  fi
}

build_heap() {
  for name in pair exact live rss exittime; do
    build "$name"
  done
  "$mprof" -O2 -fmprof=heap "$src/rss.c" -o "$out/rss-heap"
  clang-19 -O2 -fuse-ld=lld "$src/rss.c" -o "$out/rss-plain-lld"
  "$mprof" -O2 -fmprof=heap -fuse-ld=lld "$src/rss.c" -o "$out/rss-heap-lld"
  "$mprof" -O2 -fmprof -fuse-ld=lld "$src/rss.c" -o "$out/rss-mprof-lld"
  "$mprof" -O2 -fmprof -fmprof-unwind=tables "$src/pair.c" -o "$out/pair-tables"
  # measure_turns.py links these in random layouts.
  clang-19 -O2 -ffunction-sections -c "$src/pair.c" -o "$out/pair-turns-plain.o"
  "$mprof" -O2 -fmprof -ffunction-sections -c "$src/pair.c" \
    -o "$out/pair-turns-mprof.o"
  clang-19 -O2 -DBENCH_COUNTDOWN -ffunction-sections -c "$src/pair.c" \
    -o "$out/pair-turns-countdown.o"
  clang-19 -O2 -DBENCH_SAMPLER -ffunction-sections -c "$src/pair.c" \
    -o "$out/pair-turns-sampler.o"
  # shellcheck disable=SC2086
  clang-19 -O2 $frames "$src/pair.c" -o "$out/pair-frames"
  clang-19 -O2 "$src/pair.c" -Wl,--no-as-needed -ljemalloc \
    -o "$out/pair-jemalloc"
  clang-19 -O2 "$src/pair.c" -Wl,--no-as-needed -ltcmalloc \
    -o "$out/pair-tcmalloc"
  rm -f "$out/pair-memprof"
  if [ -f "$resource/lib/linux/libclang_rt.memprof-x86_64.a" ]; then
    clang-19 -O2 -fmemory-profile "$src/pair.c" -o "$out/pair-memprof"
  fi
  build_go pair
  clang-19 -O2 -DMPROF_RUNTIME -D_GNU_SOURCE -Irt -Iinclude "$src/lookup.c" \
    build/lib/libmprof_rt.a "$resource/lib/linux/libclang_rt.stats-x86_64.a" \
    -lpthread -ldl -lm -lrt -o "$out/lookup"
  build_demo duk '' -I/usr/share/duktape utils/demo/duk_host.c \
    /usr/share/duktape/duktape.c
  build_demo json ++ -std=c++17 utils/demo/json_demo.cpp
  build_demo strings ++ -std=c++17 "$src/strings.cpp"
  "$mprof++" -O2 -fmprof $by_frames -fno-mprof-intercept -std=c++17 "$src/strings.cpp" \
    -o "$out/strings-sites"
  build_demo symbolic '' utils/demo/symbolic.c -lgc
}

build_locks() {
  for name in lock_pair lock_handoff lock_cond; do
    build "$name"
  done
  build lock_std ++
  build_go lock
}

build_trace() {
  sites=block,mutex,threadcreate # kinds whose instrumentation a trace also uses
  for name in trace_loop trace_load lock_pair; do
    clang-19 -O2 -Iinclude "$src/$name.c" -o "$out/$name-plain"
    "$mprof" -O2 -fmprof=trace $by_frames -Iinclude "$src/$name.c" -o "$out/$name-trace"
    "$mprof" -O2 -fmprof=$sites $by_frames -Iinclude "$src/$name.c" -o "$out/$name-sites"
  done
  build_go trace
  build_go trace "$GO_1_19" trace-go1.19
  name=trace_calls
  clang-19 -O2 "$src/$name.c" -o "$out/$name-plain"
  clang-19 -O2 -pg "$src/$name.c" -o "$out/$name-pg"
  clang-19 -O2 -finstrument-functions-after-inlining "$src/$name.c" \
    -o "$out/$name-hooks"
  rm -f "$out/$name-xray"
  if [ -f "$resource/lib/linux/libclang_rt.xray-fdr-x86_64.a" ]; then
    clang-19 -O2 -DXRAY -fxray-instrument "$src/$name.c" -o "$out/$name-xray"
  fi
}

build_threads() {
  for name in threads crowd wait_call lock_cond pair; do
    build "$name"
  done
  rm -f "$out/pair-label"
  if grep -q mprof_label_set include/mprof/mprof.h; then
    "$mprof" -O2 -fmprof $by_frames -DBENCH_LABEL -Iinclude "$src/pair.c" \
      -o "$out/pair-label"
  fi
  build_go threads
  build_go threads "$GO_1_19" threads-go1.19
}

build_real() {
  python3 "$src/real_programs.py"
}

build_preload() {
  utils/setup.sh reach
  build_demo duk '' -I/usr/share/duktape utils/demo/duk_host.c \
    /usr/share/duktape/duktape.c
  build_demo json ++ -std=c++17 utils/demo/json_demo.cpp
  clang-19 -O2 "$src/pair.c" -Wl,--no-as-needed -ljemalloc \
    -o "$out/pair-jemalloc"
}

build_gate() {
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
}

echo "bench: building the programs"
"build_$what"

if [ "$what" = gate ]; then
  exec python3 "$src/gate.py" "$@"
fi
python3 "$src/measure.py" "$what" "$@"
if [ "${BENCH_QUICK:-0}" = 0 ]; then
  python3 "$src/report.py" "$what" "$top/docs"
else
  python3 "$src/report.py" "$what" "$out"
fi
