#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Uses an installed MProf as its users do: the driver, CMake with clang and with gcc,
# pkg-config, and mprof run. PATH contains MProf's commands. Ends with an error if
# a profile is wrong.

set -eu
dir=$(mktemp -d)
cd "$dir"
export MPROF_OPTIONS=heap_rate=1

cat >leak.c <<'END'
#include <mprof/mprof.h>
#include <stdlib.h>
#include <string.h>

static char *last;

static void remember(void) {
  last = malloc(1000);
  memset(last, 1, 1000);
}

int main(void) {
  for (int i = 0; i < 100; i++)
    remember();
  return last == NULL;
}
END

# Succeeds if the profile of program $1 shows 100,000 bytes in remember.
shows_leak() {
  mprof top --format=csv --no-pager mprof."$1".*.heap.pb.gz >"$1.csv"
  grep -q '^remember,.*100000' "$1.csv" || grep -q '100000.*remember' "$1.csv" || {
    cat "$1.csv" >&2
    echo "test-installed.sh: $1: the profile does not show the leak" >&2
    return 1
  }
  echo "$1: the profile shows the leak"
}

mprof-clang -fmprof -O1 -g1 leak.c -o driver
./driver
shows_leak driver

clang-19 -O1 -g1 leak.c -o plain -I "$(dirname "$(dirname "$(command -v mprof)")")/include"
mprof run -q ./plain
shows_leak plain

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(leak C)
find_package(MProf REQUIRED)
add_executable(${NAME} leak.c)
mprof_instrument(${NAME})
END
CC=clang-19 cmake -S . -B b1 -DNAME=cmake-clang -DCMAKE_BUILD_TYPE=Debug
cmake --build b1
b1/cmake-clang
shows_leak cmake-clang
CC=gcc cmake -S . -B b2 -DNAME=cmake-gcc -DCMAKE_BUILD_TYPE=Debug
cmake --build b2
b2/cmake-gcc
shows_leak cmake-gcc

# A package in /usr is found without settings.
bin=$(dirname "$(command -v mprof)")
if [ "$bin" != /usr/bin ]; then
  export PKG_CONFIG_PATH="${bin%/bin}/lib/pkgconfig"
fi
# shellcheck disable=SC2046  # words of a list
gcc -g leak.c $(pkg-config --cflags --libs mprof-preload) -o pc-gcc
./pc-gcc
shows_leak pc-gcc
# shellcheck disable=SC2046
clang-19 -O1 -g1 $(pkg-config --cflags mprof) leak.c \
  $(pkg-config --libs mprof-program) -o pc-clang
./pc-clang
shows_leak pc-clang

mprof run -q perl -e '@x = map { "$_" x 10 } 1 .. 1000'
# Ubuntu's perl has Perl_safesysmalloc only as an inlined function.
mprof top --no-pager mprof.perl.*.heap.pb.gz | grep -q -e Perl_safesysmalloc \
  -e Perl_safesysrealloc
echo 'perl: the profile shows its allocations'

if [ "$bin" = /usr/bin ]; then
  for page in mprof mprof-top mprof-clang mprof-clang++ mprof-trace \
    mprof-options mprof-formats mprof.h; do
    test -n "$(man -w "$page")"
  done
  test -s /usr/share/bash-completion/completions/mprof
  test -s /usr/share/doc/mprof/copyright
  echo 'the manual pages are installed'
fi
