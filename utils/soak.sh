#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks that MProf reports no stuck threads in healthy programs. Runs the programs
# at the same time. Each program has several threads, and one thread that asks MProf
# for stuck threads once a second. MProf also looks for stuck threads by itself
# (stuck=1:stuck_report=1). Prints a line for each program. Fails if MProf reported
# a stuck thread, if a result was wrong, or if a program made no check.
#   soak.sh [MINUTES [PROGRAM...]]
# By default, the script runs for 10 minutes, with all programs of utils/soak/ and
# the server of utils/demo.sh. SOAK_SECONDS=N makes the run last N seconds, to test
# the script. Leaves the reports in build/soak/PROGRAM/.

set -eu

cd -P -- "$(dirname -- "$0")/.."
. utils/configure.sh
top=$PWD
soak=$top/build/soak
minutes=${1-10}
case $minutes in
'' | *[!0-9]* | 0)
  echo "usage: ${0##*/} [MINUTES [PROGRAM...]]" >&2
  exit 2
  ;;
esac
[ "$#" = 0 ] || shift
seconds=${SOAK_SECONDS:-$((minutes * 60))}

utils/setup.sh
configure release build >/dev/null
cmake --build build
rm -rf "$soak"
mkdir -p "$soak"

flags='-fmprof -O2 -g1'
mprof=$top/build/bin/mprof-clang

# Compiles program $1. The other arguments are the compiler and its flags.
build() {
  name=$1
  shift
  mkdir "$soak/$name"
  # shellcheck disable=SC2086  # words of a list
  "$@" $flags "utils/soak/$name".c* "$soak/check.o" -o "$soak/$name/program"
}

build_openmp() {
  if ! echo '#include <omp.h>' | clang-19 -fopenmp -xc -fsyntax-only - \
    2>"$soak/openmp.log"; then
    echo 'skipped openmp: this clang has no omp.h'
    return 1
  fi
  build openmp "$mprof" -fopenmp
}

build_glib_pool() {
  # shellcheck disable=SC2046  # words of a list
  build glib_pool "$mprof" $(pkg-config --cflags --libs glib-2.0)
}

# Compiles the service of utils/demo.sh, together with check.o.
build_server() {
  mkdir "$soak/server"
  # shellcheck disable=SC2086
  "$mprof" $flags -c /usr/share/duktape/duktape.c -o "$soak/server/duktape.o"
  # shellcheck disable=SC2046,SC2086
  "$mprof++" $flags -std=c++20 -I/usr/share/duktape utils/demo/server.cpp \
    "$soak/server/duktape.o" "$soak/check.o" \
    $(pkg-config --cflags --libs cpp-httplib) -lm -o "$soak/server/program"
}

build_one() {
  case $1 in
  server) build_server ;;
  openmp) build_openmp ;;
  glib_pool) build_glib_pool ;;
  futures) build futures "$mprof++" -std=c++20 ;;
  pool | semaphores | barriers) build "$1" "$mprof" ;;
  *)
    echo "${0##*/}: unknown program $1" >&2
    exit 2
    ;;
  esac
}

# Runs the service, and clients that send requests until the time is over.
run_server() {
  mkfifo ready
  ./program >ready &
  service=$!
  read -r port <ready
  rm ready
  MPROF_OPTIONS=profile=0:report=0:heap=0 timeout "$seconds" ../client client \
    "$port" 1000000000 >/dev/null 2>&1 || [ "$?" = 124 ]
  # A last client sends a few requests, checks the answers and stops the service.
  MPROF_OPTIONS=profile=0:report=0:heap=0 ../client client "$port" 100 \
    2>/dev/null
  wait "$service"
}

# Runs program $1 in its directory.
run() {
  cd "$soak/$1"
  export MPROF_OPTIONS=stuck=1:stuck_report=1:log_path=mprof
  if [ "$1" = server ]; then
    run_server
  else
    timeout $((seconds * 2 + 60)) ./program "$seconds"
  fi >said 2>log
}

# Prints the names of the files in which MProf reports a stuck thread of program $1.
accusations() {
  grep -slE '^SUMMARY: MProf: threadleak: [1-9]' "$soak/$1"/mprof.*.txt || :
  find "$soak/$1" -name 'stuck.*'
}

judge() {
  checks=0
  if [ -f "$soak/$1/checks" ]; then
    read -r checks _ <"$soak/$1/checks"
  fi
  said=$(tail -n 1 "$soak/$1/said")
  found=$(accusations "$1")
  verdict=ok
  why=
  if [ "$2" != 0 ]; then
    verdict=FAIL why=", exit code $2: see build/soak/$1/log"
  elif [ -n "$found" ]; then
    verdict=FAIL why=", called stuck: $(echo "$found" | tr '\n' ' ')"
  elif [ "$checks" = 0 ]; then
    verdict=FAIL why=', nothing was checked'
  fi
  printf '%-4s %-10s %6d checks, %s%s\n' "$verdict" "$1" "$checks" "$said" "$why"
  [ "$verdict" = ok ]
}

[ "$#" -gt 0 ] ||
  set -- server pool futures semaphores barriers glib_pool openmp
"$mprof" -fmprof -O2 -g1 -Iinclude -c utils/soak/check.c -o "$soak/check.o"
programs=
for program in "$@"; do
  if build_one "$program"; then
    programs="$programs $program"
  fi
done
case $programs in
# The client is a copy of the server. The client's own threads are not checked.
*server*) cp "$soak/server/program" "$soak/client" ;;
esac

echo "soak: $minutes minutes of$programs"
started=
trap 'kill $started 2>/dev/null || :' EXIT
trap 'exit 1' HUP INT TERM
for program in $programs; do
  (run "$program") &
  started="$started $!"
done
failed=0
for program in $programs; do
  code=0
  # shellcheck disable=SC2086  # the first word
  set -- $started
  wait "$1" || code=$?
  shift
  started=$*
  judge "$program" "$code" || failed=1
done
trap - EXIT
exit "$failed"
