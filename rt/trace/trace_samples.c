// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The samples of the CPU profile in the trace. They are no records of a row,
// because a signal handler must not write to the row of the thread that it has
// interrupted. (Go: traceCPUSample)

#include "bucket/bucket.h"
#include "cpu/cpu.h"
#include "sys/clock.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "trace/trace_events.h"
#include "trace/trace_out.h"
#include "trace/trace_rows.h"
#include "trace/write_trace.h"

// The newest samples are kept. Their memory is used only as far as there are
// samples.
enum { SAMPLES = 1 << 18 };

struct sample {
  struct mprof_trace_moment moment;
  atomic_uint stack; // handle of the bucket; 0: the sample is incomplete
};

static struct {
  struct sample *_Atomic v; // a ring of SAMPLES elements; NULL: no memory yet
  _Atomic uint64_t len;     // number of samples that were ever added
} samples;

bool mprof_trace_moment(struct mprof_trace_moment *m) {
  const unsigned session = atomic_load(&mprof_trace_session);
  const struct mprof_trace_row *r = mprof_tls.trace_row;
  if (session == 0 || mprof_tls.trace_session != session || !r || r->g == 0)
    return false;
  *m = (struct mprof_trace_moment){
      .when = mprof_clock_now(), .g = r->g, .row = r->id, .tid = r->tid};
  return true;
}

static struct sample *ring(void) {
  struct sample *v = atomic_load(&samples.v), *none = NULL;
  if (v)
    return v;
  v = mprof_os_map(SAMPLES * sizeof(*v));
  if (v && !atomic_compare_exchange_strong(&samples.v, &none, v)) {
    mprof_os_unmap(v, SAMPLES * sizeof(*v));
    v = none;
  }
  return v;
}

void mprof_trace_sample(const struct mprof_trace_moment *m,
                        const struct mprof_bucket *b) {
  struct sample *v = ring();
  if (!v)
    return;
  struct sample *s = &v[atomic_fetch_add(&samples.len, 1) % SAMPLES];
  atomic_store_explicit(&s->stack, 0, memory_order_relaxed);
  s->moment = *m;
  atomic_store_explicit(&s->stack, mprof_persistent_handle(b),
                        memory_order_release);
}

void mprof_trace_write_samples(struct mprof_trace_writer *w,
                               uint64_t end_ticks) {
  if (!w->format->sample)
    return;
  mprof_cpu_drain();
  const struct sample *v = atomic_load(&samples.v);
  const uint64_t len = atomic_load(&samples.len);
  if (!v)
    return;
  for (uint64_t i = len > SAMPLES ? len - SAMPLES : 0; i < len; i++) {
    const struct sample *s = &v[i % SAMPLES];
    const unsigned stack =
        atomic_load_explicit(&s->stack, memory_order_acquire);
    const uint64_t ticks = mprof_trace_ticks(s->moment.when);
    // Samples of earlier sessions are older than the first batch.
    if (stack != 0 && ticks <= end_ticks)
      w->format->sample(w, ticks, (uint64_t)s->moment.tid, s->moment.row,
                        s->moment.g, mprof_trace_stack_number(w, stack));
  }
}

void mprof_trace_samples_reset(void) { atomic_store(&samples.len, 0); }
