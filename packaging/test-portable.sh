#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Uses mprof run and mprof attach as their users do who have only unpacked the
# tarball, or installed the wheel. The argument is the command mprof, which is not in PATH. Ends with an
# error if a profile is wrong.

set -eu
mprof=$1
dir=$(mktemp -d)
cd "$dir"

cat >sorts.c <<'END'
#include <pthread.h>
#include <stdlib.h>

static void *volatile last;

static int compare(const void *a, const void *b) {
  last = malloc(1000);
  return *(const char *)a - *(const char *)b;
}

static void *sort(void *arg) {
  char text[] = "a text with several characters";
  qsort(text, sizeof(text) - 1, 1, compare);
  last = NULL;
  return arg;
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, sort, NULL) != 0)
    return 1;
  pthread_join(thread, NULL);
  sort(NULL);
  return 0;
}
END

# Fails unless a stack of the program $1 matches $2, when its frames are on one line.
# The other arguments are options of mprof traces.
has_stack() {
  program=$1 pattern=$2
  shift 2
  "$mprof" traces "$@" --no-pager --sample=alloc_space -n 0 \
    mprof."$program".*.heap.pb.gz >"$program.txt"
  awk 'BEGIN { RS = "" } { gsub(/ *\n */, " | "); print }' "$program.txt" >"$program.lines"
  grep -q -e "$pattern" "$program.lines" || {
    head -n 100 "$program.txt" >&2
    echo "test-portable.sh: $program: no stack matches $pattern" >&2
    exit 1
  }
}

gcc -O2 -g -fno-optimize-sibling-calls sorts.c -o sorts -pthread
"$mprof" run -q --heap-rate=1 ./sorts 2>sorts.err
if grep 'found no mprof' sorts.err >&2; then
  exit 1
fi
# Through the code of libc, which has no frame pointers, to the start of each thread.
has_stack sorts '| compare [^|]*| sort [^|]* via qsort[^|]*| main [^|]*$'
has_stack sorts '| compare [^|]*| sort [^|]* via qsort[^|]*$'
echo "$mprof: the stacks of the C program are complete"

"$mprof" run -q --heap-rate=4096 python3 -c 'import json
json.dumps([{str(i): i} for i in range(5000)])'
# The frames of the interpreter, which are hidden without --std, to the start.
has_stack python3 ' Py_RunMain.*| Py_BytesMain[^|]*$' --std
echo "$mprof: the stacks of python3 are complete"

cat >serves.c <<'END'
#include <stdlib.h>
#include <time.h>

static void *volatile last;

__attribute__((noinline)) static void serve(void) {
  last = malloc(1000);
  free(last);
}

int main(void) {
  const struct timespec pause = {.tv_nsec = 1000000};
  for (;;) {
    serve();
    nanosleep(&pause, NULL);
  }
}
END
gcc -O2 -g -fno-optimize-sibling-calls serves.c -o serves
./serves &
service=$!
trap 'kill "$service"' EXIT
until grep -q serves "/proc/$service/comm"; do
  sleep 0.1 # until the shell has executed the program
done
"$mprof" attach --seconds 2 -q -o . --heap-rate=1 "$service"
has_stack serves '| serve [^|]*| main [^|]*$'
kill -0 "$service"
echo "$mprof: the stacks of the running program are complete"
