// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "v1_cursor.h"

#include "trace_data.h"
#include "v1_scan.h"
#include "v1_types.h"

// Sets ev->g to the G (goroutine, or thread) to which the event belongs. Sets
// c->g to the G that runs on the cursor's P (processor) after the event.
static void set_thread(struct v1_cursor *c, struct trace_event *ev) {
  enum { KEEPS, STARTS, LEAVES, OF_NO_G, OF_ARG };
  static const uint8_t kinds[V1_COUNT] = {[V1_GoStart] = STARTS,
                                          [V1_GoStartLocal] = STARTS,
                                          [V1_GoStartLabel] = STARTS,
                                          [V1_GCStart] = OF_NO_G,
                                          [V1_GCDone] = OF_NO_G,
                                          [V1_GoEnd] = LEAVES,
                                          [V1_GoStop] = LEAVES,
                                          [V1_GoSched] = LEAVES,
                                          [V1_GoPreempt] = LEAVES,
#define WAIT(name) [V1_##name] = LEAVES,
                                          V1_WAITS(WAIT)
#undef WAIT
                                              [V1_GoSysBlock] = LEAVES,
                                          [V1_GoSysExit] = OF_ARG,
                                          [V1_GoSysExitLocal] = OF_ARG,
                                          [V1_GoWaiting] = OF_ARG,
                                          [V1_GoInSyscall] = OF_ARG};
  switch (kinds[ev->type]) {
  case STARTS:
    c->g = ev->g = ev->args[0];
    break;
  case LEAVES:
    c->g = 0;
    break;
  case OF_NO_G:
    ev->g = 0;
    break;
  case OF_ARG:
    ev->g = ev->args[0];
    break;
  default:
    break;
  }
}

static void fill_event(struct v1_cursor *c, struct trace *t,
                       const struct v1_record *r) {
  struct trace_event *ev = &c->head;
  unsigned first = 1;
  if (t->minor < 7) {
    c->seq += r->values[0];
    first = 2;
  }
  c->ticks += r->values[first - 1];
  c->head_seq = c->seq;
  *ev = (struct trace_event){.ticks = c->ticks,
                             .offset = r->offset,
                             .g = c->g,
                             .p = c->stream->id,
                             .m = TRACE_NONE,
                             .type = r->type,
                             .text = r->text};
  unsigned last = r->count - v1_has_stack(r->type);
  for (unsigned i = first; i < last; i++)
    ev->args[ev->arg_count++] = r->values[i];
  if (v1_has_stack(r->type))
    ev->stack = r->values[last];
  set_thread(c, ev);
}

bool v1_next_event(struct v1_cursor *c, struct trace *t) {
  for (;;) {
    while (c->at < c->end) {
      struct v1_record r;
      if (!v1_decode(t, &c->at, &r))
        return false;
      if (r.type == V1_String || r.type == V1_Stack || r.type == V1_Frequency ||
          r.type == V1_TimerGoroutine || r.type == V1_CPUSample)
        continue;
      fill_event(c, t, &r);
      return true;
    }
    if (c->batch == c->stream->count)
      return false;
    const struct batch *batch = &c->stream->batches[c->batch++];
    c->at = t->data + batch->start;
    c->end = t->data + batch->end;
    c->ticks = batch->ticks;
    c->seq = batch->seq;
  }
}
