// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "v2_range.h"

#include "common/idmap.h"
#include "common/memory.h"
#include "report.h"
#include "table.h"
#include "trace_data.h"
#include "v2_state.h"
#include "v2_types.h"

#include <inttypes.h>

void v2_task_begin(struct v2_state *s, const struct trace_event *ev) {
  size_t index;
  if (!idmap_find(&s->task_ids, ev->args[0], &index)) {
    index = s->task_count;
    idmap_add(&s->task_ids, ev->args[0], index);
    *APPEND(s->tasks, s->task_count, s->task_capacity) = false;
  }
  if (s->tasks[index])
    V2_FAIL(s, ev, TASK_UNIQUE,
            "%s: task %" PRIu64 " already exists and has not ended",
            describe(ev), ev->args[0]);
  s->tasks[index] = true;
  v2_check_context(s, ev, MUST, MUST);
}

void v2_task_end(struct v2_state *s, const struct trace_event *ev) {
  size_t index;
  if (idmap_find(&s->task_ids, ev->args[0], &index))
    s->tasks[index] = false;
  v2_check_context(s, ev, MUST, MUST);
}

void v2_region(struct v2_state *s, const struct trace_event *ev) {
  v2_check_context(s, ev, MUST, MUST);
  uint64_t id = v2_m_of(s, ev->m)->g;
  if (id == TRACE_NONE)
    return;
  struct g_state *g = v2_g_of(s, id);
  // Keep the name as a text, not as a string id, because ids have other
  // meanings in the next generation.
  struct trace_text name = trace_string(s->trace, ev->args[1]);
  if (ev->type == V2_UserRegionBegin) {
    *APPEND(g->regions, g->region_count, g->region_capacity) =
        (struct region){ev->args[0], name};
  } else if (g->region_count) {
    const struct region *open = &g->regions[--g->region_count];
    if (open->task != ev->args[0] || !trace_text_equal(open->name, name))
      V2_FAIL(s, ev, REGION_NESTING,
              "%s: this event must end the innermost open region, which is "
              "%.*s of task %" PRIu64,
              describe(ev), (int)open->name.length, open->name.bytes,
              open->task);
  }
}

// Reports a violation if the event begins a range (a time span, such as a
// sweep) that is already open, or ends a range that is not open. Then updates
// *open.
// *open: whether the range of the event is open.
// begins: true: the event begins the range; false: the event ends the range.
static void range(struct v2_state *s, const struct trace_event *ev, bool *open,
                  bool begins, enum trace_rule rule) {
  if (*open == begins)
    violate(s->trace, rule, ev->offset,
            "%s: the time range of this event is %s", describe(ev),
            begins ? "already open" : "not open");
  *open = begins;
}

// Handles an event such as GCSweepActive, which tells at the start of a
// generation that a range is open. In the first generation, no earlier event
// can have opened the range, so *open must be false. In a later generation,
// *open must be true, because earlier events have told that the range is open.
static void active(struct v2_state *s, const struct trace_event *ev, bool *open,
                   enum trace_rule rule) {
  bool first = s->trace->generation == s->first_generation;
  if (*open == first)
    violate(s->trace, rule, ev->offset,
            "%s: the time range of this event is %s", describe(ev),
            first ? "already open" : "not open");
  *open = true;
}

void v2_stop_or_assist(struct v2_state *s, const struct trace_event *ev) {
  v2_check_context(s, ev, MUST, MUST);
  uint64_t id = v2_m_of(s, ev->m)->g;
  if (id == TRACE_NONE)
    return;
  struct g_state *g = v2_g_of(s, id);
  if (ev->type == V2_STWBegin || ev->type == V2_STWEnd)
    range(s, ev, &g->stop, ev->type == V2_STWBegin, TRACE_RULE_STOP_NESTING);
  else
    range(s, ev, &g->assist, ev->type == V2_GCMarkAssistBegin,
          TRACE_RULE_ASSIST_NESTING);
}

void v2_assist_active(struct v2_state *s, const struct trace_event *ev) {
  active(s, ev, &v2_g_of(s, ev->args[0])->assist, TRACE_RULE_ASSIST_NESTING);
}

void v2_sweep(struct v2_state *s, const struct trace_event *ev) {
  v2_check_context(s, ev, MUST, MAY);
  uint64_t p = v2_m_of(s, ev->m)->p;
  if (p != TRACE_NONE)
    range(s, ev, &v2_p_of(s, p)->sweep, ev->type == V2_GCSweepBegin,
          TRACE_RULE_SWEEP_NESTING);
}

void v2_sweep_active(struct v2_state *s, const struct trace_event *ev) {
  active(s, ev, &v2_p_of(s, ev->args[0])->sweep, TRACE_RULE_SWEEP_NESTING);
}

bool v2_is_next_collection(struct v2_state *s, const struct trace_event *ev) {
  bool any = !s->collections_known && ev->type != V2_GCEnd;
  return any || ev->args[0] == s->collection_seq + 1;
}

void v2_collection(struct v2_state *s, const struct trace_event *ev) {
  bool first = !s->collections_known;
  if (!first) {
    bool wanted = ev->type != V2_GCBegin;
    if (s->collecting != wanted)
      V2_FAIL(s, ev, GC_NESTING, "%s: a garbage collection is %s", describe(ev),
              s->collecting ? "already open" : "not open");
    v2_check_context(s, ev, MUST, MUST);
  } else if (ev->type == V2_GCEnd) {
    V2_FAIL(s, ev, GC_NESTING, "%s: no garbage collection has begun",
            describe(ev));
  }
  s->collections_known = true;
  s->collecting = ev->type != V2_GCEnd;
  s->collection_seq = ev->args[0];
}
