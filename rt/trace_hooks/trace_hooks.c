// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See trace_hooks.h.

#include "trace_hooks/trace_hooks.h"

#include "sys/clock.h"

atomic_uint mprof_trace_session;
struct mprof_trace_hooks mprof_trace_hooks;

uint64_t mprof_trace_frequency(void) {
  const uint64_t frequency =
      mprof_clock_ticks_per_second() / MPROF_TRACE_TICK_DIV;
  return frequency != 0 ? frequency : 1;
}
