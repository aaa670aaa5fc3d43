#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shows MProf on two real programs, Duktape with a set of scripts and nlohmann
# json, and what it costs them. Leaves the profiles and reports in build/demo/.

set -eu

runs=${MPROF_DEMO_RUNS:-5}
cd -P -- "$(dirname -- "$0")/.."
utils/setup.sh
cmake --preset release >/dev/null
cmake --build build

demo=$PWD/build/demo
mkdir -p "$demo"

# Compiles NAME, and without MProf NAME-plain and NAME-frames; the latter keeps
# frame pointers where MProf's pass keeps them.
build() {
  name=$1
  driver=$2
  shift 2
  set -- -O2 -g1 "$@" -lm
  "build/bin/$driver" "$@" -o "$demo/$name-plain"
  "build/bin/$driver" -fno-omit-frame-pointer -momit-leaf-frame-pointer "$@" \
    -o "$demo/$name-frames"
  "build/bin/$driver" -fmprof "$@" -o "$demo/$name"
}
# Takes NAME, and arguments for it.
measure() {
  name=$1
  shift
  python3 utils/demo/measure.py "$runs" "$demo" "$name" "$@"
}

echo "compiling the demonstration programs"
build duk mprof-clang -I/usr/share/duktape utils/demo/duk_host.c \
  /usr/share/duktape/duktape.c
build json mprof-clang++ -std=c++17 utils/demo/json_demo.cpp

echo
cat <<END
User+sys time, median of $runs runs each, in turn; the same output. "frames" is
plain code with frame pointers, which other profilers need as well; "names" is
what naming the functions adds once, at the exit.
END
printf '%-8s %10s %10s %10s %9s %9s %11s\n' program plain frames MProf \
  /plain /frames 'names'
measure duk utils/demo/json.js utils/demo/strings.js utils/demo/objects.js \
  utils/demo/leak.js
measure json

go=$(command -v go || echo /usr/lib/go-1.19/bin/go)
# Shows the functions of NAME with the most bytes: inuse_space, alloc_space.
top() {
  echo
  echo "== $1: go tool pprof -top -sample_index=$2"
  "$go" tool pprof -top -nodecount=10 -sample_index="$2" "$demo/$1" \
    "$demo/$1.heap.pb.gz" 2>/dev/null | sed -n '/^Showing nodes/,$p' |
    cut -c 1-110
}
for name in duk json; do
  echo
  echo "== $name: the head of build/demo/$name.txt"
  head -n 24 "$demo/$name.txt" | cut -c 1-110
  top "$name" inuse_space
  top "$name" alloc_space
done

# leak.js leaks through the host; everything else is freed.
if ! sed -n '/^1\. /{n;p;q;}' "$demo/duk.txt" | grep -q cache_put; then
  echo 'mprof: the leak is not on top of build/demo/duk.txt' >&2
  exit 1
fi

cat <<END

One sample in 512 KiB is the default. Smaller stacks show with a smaller rate,
at a higher cost:
  MPROF_OPTIONS=heap_rate=16384 build/demo/duk utils/demo/leak.js
END
