// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With the option trace_schedule, adds messages to the trace that say for how
// long a thread that the trace shows as running had no processor.
//
// At each begin and end of a wait, the thread asks the kernel how often it was
// switched out: by the scheduler, or because it waited. If neither happened
// between two waits, it had a processor all the time. So the clock of the
// thread, which takes longer to read, is read only if it was switched out. If
// the thread has also waited, for example for a page of a file, the times of
// both are not known separately.

#include "options/flags.h"
#include "sys/clock.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "trace/trace.h"
#include "trace/trace_rows.h"

// Shorter times are not recorded.
#define LEAST_NS 1000u

void mprof_trace_schedule_begin(struct mprof_trace_row *r, uint64_t now) {
  if (mprof_likely(mprof_flags.trace_schedule == 0))
    return;
  const struct mprof_thread_switches s = mprof_sys_own_switches();
  // The kernel has updated the processor time when the thread waited.
  const bool has_waited =
      r->runs.switches.waits != 0 && s.waits != r->runs.switches.waits;
  r->runs.cpu_ns = has_waited ? s.cpu_ns : mprof_sys_thread_ran_ns(r->tid);
  r->runs.switches = s;
  r->runs.since = now;
}

void mprof_trace_schedule_end(struct mprof_trace_row *r, uint64_t now) {
  if (mprof_likely(mprof_flags.trace_schedule == 0))
    return;
  const uint64_t since = r->runs.since;
  bool is_certain = false, is_switched = true;
  if (r == mprof_tls.trace_row) {
    const struct mprof_thread_switches s = mprof_sys_own_switches();
    is_certain = s.waits == r->runs.switches.waits;
    is_switched = !is_certain || s.preemptions != r->runs.switches.preemptions;
    r->runs.switches = s;
  }
  r->runs.since = 0;
  if (since == 0 || now <= since || !is_switched)
    return;
  const uint64_t ran = mprof_sys_thread_ran_ns(r->tid) - r->runs.cpu_ns;
  const uint64_t took = mprof_clock_ns(now - since);
  if (took > ran + LEAST_NS)
    mprof_trace_put_off_cpu(r, now, is_certain, took - ran);
}
