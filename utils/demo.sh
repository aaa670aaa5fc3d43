#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shows MProf on two real programs, Duktape with a set of scripts and nlohmann
# json, and what it costs them. Leaves the profiles and reports in build/demo/.

set -eu

runs=5
cd -P -- "$(dirname -- "$0")/.."
utils/setup.sh
cmake --preset release >/dev/null
cmake --build build

demo=$PWD/build/demo
mkdir -p "$demo"

# Compiles NAME and NAME-plain.
build() {
  name=$1
  driver=$2
  shift 2
  "build/bin/$driver" -O2 -g1 "$@" -lm -o "$demo/$name-plain"
  "build/bin/$driver" -O2 -g1 -fmprof "$@" -lm -o "$demo/$name"
}
# Takes NAME, and arguments for it.
measure() {
  name=$1
  shift
  python3 utils/demo/measure.py "$runs" "$demo" "$name" \
    "$demo/$name-plain" "$demo/$name" "$@"
}

echo "compiling the demonstration programs"
build duk mprof-clang -I/usr/share/duktape utils/demo/duk_host.c \
  /usr/share/duktape/duktape.c
build json mprof-clang++ -std=c++17 utils/demo/json_demo.cpp

echo
echo "user+sys time, median of $runs runs each, in turn; the same output"
printf '%-8s %11s %11s %8s\n' program plain MProf ratio
measure duk utils/demo/json.js utils/demo/strings.js utils/demo/objects.js \
  utils/demo/leak.js
measure json

go=$(command -v go || echo /usr/lib/go-1.19/bin/go)
for name in duk json; do
  echo
  echo "== $name: the head of build/demo/$name.txt"
  head -n 25 "$demo/$name.txt"
  echo
  echo "== $name: go tool pprof -top, bytes in use at exit, then allocated"
  for index in inuse_space alloc_space; do
    "$go" tool pprof -top -nodecount=8 -sample_index=$index \
      "$demo/$name" "$demo/$name.heap.pb.gz" 2>/dev/null
  done
done

cat <<END

One sample in 512 KiB is the default. Smaller stacks show with a smaller rate,
at a higher cost:
  MPROF_OPTIONS=heap_rate=16384 build/demo/duk utils/demo/leak.js
END
