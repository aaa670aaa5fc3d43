// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls an empty function, for function tracers. Each call is two events, or
// one record of both. Compiled with XRAY, the program records the calls itself
// if OPTIONS are given.
//
// usage: trace_calls STEPS REPEATS [OPTIONS]

#include "bench.h"

#ifdef XRAY
// <xray/xray_log_interface.h> is for C++ only, so it is repeated here. Each
// function returns the state that it has reached.
enum { SELECTED = 0, INITIALIZED = 2, FINALIZED = 4, FLUSHED = 2, PATCHED = 1 };
int __xray_log_select_mode(const char *mode);
int __xray_log_init_mode(const char *mode, const char *options);
int __xray_log_finalize(void);
int __xray_log_flushLog(void);
int __xray_patch(void);

static void check(const char *what, int is_done) {
  if (is_done)
    return;
  fprintf(stderr, "xray: cannot %s\n", what);
  exit(1);
}

static void xray_begin(const char *options) {
  check("select", __xray_log_select_mode("xray-fdr") == SELECTED);
  check("begin", __xray_log_init_mode("xray-fdr", options) == INITIALIZED);
  check("patch", __xray_patch() == PATCHED);
}

static void xray_end(void) {
  check("end", __xray_log_finalize() == FINALIZED);
  check("write", __xray_log_flushLog() == FLUSHED);
}

__attribute__((xray_always_instrument))
#endif
static __attribute__((noinline)) void
called(long i) {
  bench_sink(&i);
}

static void loop(int thread, long steps, long arg) {
  (void)thread, (void)arg;
  for (long i = 0; i < steps; i++)
    called(i);
}

int main(int argc, char **argv) {
  static struct bench b;
  b.loop = loop;
  b.threads = 1;
  b.steps = bench_arg(argc, argv, 1);
  b.repeats = (int)bench_arg(argc, argv, 2);
#ifdef XRAY
  if (argc > 3)
    xray_begin(argv[3]);
#endif
  bench_run(&b);
#ifdef XRAY
  if (argc > 3)
    xray_end();
#endif
  return 0;
}
