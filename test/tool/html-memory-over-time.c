// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the overview of a page of mprof html shows the memory in use over
// time with the peak, also if there is only the heap profile of the end. The
// steps of the time cover the whole run. mprof top shows it below a table of
// the whole heap.
//
// REQUIRES: browser
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 %s -o app
// RUN: %run{heap_rate=1:peak=1:log_path=p:report=0} ./app
// RUN: %build/bin/mprof html p.*.heap.pb.gz -o page.html
// RUN: %python %S/Inputs/browser.py text all page.html#all | FileCheck %s
// CHECK: Memory over timeAt most 8.00 MiB, after {{[0-9.]+ m?s}}; 1.00 MiB at the last moment.
// RUN: %build/bin/mprof info p.*.heap.pb.gz | FileCheck %s --check-prefix=CURVE
// CURVE: inuse_over_time: {{[0-9]+}} ns, KiB: 0 0 0 {{.*}} 8192 {{(1024 )+}}4096 {{(1024 )*1024$}}
// RUN: env LC_ALL=C.UTF-8 %build/bin/mprof top p.*.heap.pb.gz | FileCheck %s --check-prefix=TOP
// TOP: in use over time: {{.*}}▂█▂{{.*}} at most 8.00 MiB in {{[0-9.]+ m?s}}
// RUN: env LC_ALL=C.UTF-8 %build/bin/mprof top --ignore=main p.*.heap.pb.gz | not grep 'over time'
//
// It ends at the moment of the profile, and not when the files are written.
// RUN: env LC_ALL=C.UTF-8 %build/bin/mprof run --heap-rate=1 -o run ./app short 2> run.txt
// RUN: %python -c "import re; t = open('run.txt').read(); \
// RUN:   of = lambda p: (lambda n, u: float(n) * {'s': 1e3, 'ms': 1, 'us': 1e-3}[u])( \
// RUN:     *re.search(p + r' ([0-9.]+) (s|ms|us)\b', t).groups()); \
// RUN:   took, exit = of('over time: .* in'), of('inuse_space of .* at exit,'); \
// RUN:   assert took <= exit, (took, exit)"
//
// Without the peak there is no curve.
// RUN: %run{heap_rate=1:peak=0:log_path=none:report=0} ./app
// RUN: %build/bin/mprof info none.*.heap.pb.gz | not grep over_time
//
// A comment with wrong numbers gives no curve, nor do bytes that are too few
// for whole KiB.
// RUN: for text in '0 ns, KiB: 99 99' '1 ns, KiB: 99 -99' '1 ns, KiB: 99 99 x' \
// RUN:     '1 ns, KiB: 99 99999999999999999999' '1 ns, KiB: 0 9'; do \
// RUN:   echo '1 64 f' | %python -B %S/Inputs/heap_profile.py 1 0 bad.pb.gz "inuse_over_time: $text" && \
// RUN:   env LC_ALL=C.UTF-8 %build/bin/mprof top bad.pb.gz | not grep 'over time' && \
// RUN:   %build/bin/mprof html bad.pb.gz -o bad.html && \
// RUN:   %python -B %S/Inputs/browser.py text all bad.html#all | not grep 'over time' || exit 1; done

#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  static char *volatile kept;
  const useconds_t pause_us = argc > 1 ? 0 : 50000;
  (void)argv;
  usleep(pause_us);
  kept = malloc(1 << 20);
  usleep(pause_us);
  char *volatile most = malloc(7 << 20);
  free(most);
  usleep(pause_us);
  most = malloc(3 << 20);
  free(most);
}
