// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "v2_state.h"

#include "common/idmap.h"
#include "common/memory.h"
#include "report.h"
#include "trace_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *const v2_g_names[] = {"not known", "runnable", "running",
                                  "in a system call", "waiting"};

const char *const v2_p_names[] = {"not known", "running", "idle",
                                  "in a system call",
                                  "in a system call of an unknown thread"};

struct g_state *v2_g_of(struct v2_state *s, uint64_t id) {
  size_t index;
  if (!idmap_find(&s->g_ids, id, &index)) {
    index = s->g_count;
    idmap_add(&s->g_ids, id, index);
    *APPEND(s->gs, s->g_count, s->g_capacity) = (struct g_state){0};
  }
  return &s->gs[index];
}

struct p_state *v2_p_of(struct v2_state *s, uint64_t id) {
  size_t index;
  if (!idmap_find(&s->p_ids, id, &index)) {
    index = s->p_count;
    idmap_add(&s->p_ids, id, index);
    *APPEND(s->ps, s->p_count, s->p_capacity) = (struct p_state){0};
  }
  return &s->ps[index];
}

struct m_state *v2_m_of(struct v2_state *s, uint64_t id) {
  size_t index;
  if (!idmap_find(&s->m_ids, id, &index)) {
    index = s->m_count;
    idmap_add(&s->m_ids, id, index);
    *APPEND(s->ms, s->m_count, s->m_capacity) =
        (struct m_state){TRACE_NONE, TRACE_NONE};
  }
  return &s->ms[index];
}

struct v2_state *v2_state_new(struct trace *t) {
  struct v2_state *s = zeroed(1, sizeof *s);
  s->trace = t;
  return s;
}

void v2_begin_generation(struct v2_state *s) {
  if (!s->first_generation)
    s->first_generation = s->trace->generation;
}

void v2_state_free(struct v2_state *s) {
  idmap_clear(&s->g_ids);
  idmap_clear(&s->p_ids);
  idmap_clear(&s->m_ids);
  idmap_clear(&s->task_ids);
  for (size_t i = 0; i < s->g_count; i++)
    free(s->gs[i].regions);
  free(s->gs);
  free(s->ps);
  free(s->ms);
  free(s->tasks);
  free(s);
}

static const char *lacks(const char *what, enum need need, uint64_t id) {
  static char text[64];
  if (need == MAY || (need == MUST) == (id != TRACE_NONE))
    return NULL;
  snprintf(text, sizeof text, "the kernel thread must %shave a %s",
           need == MUST ? "" : "not ", what);
  return text;
}

void v2_check_context(struct v2_state *s, const struct trace_event *ev,
                      enum need p, enum need g) {
  const struct m_state *m = v2_m_of(s, ev->m);
  const char *text =
      ev->m == TRACE_NONE ? "the event must have a kernel thread" : NULL;
  if (!text)
    text = lacks("processor (P)", p, m->p);
  if (!text)
    text = lacks("thread (G)", g, m->g);
  if (text)
    V2_FAIL(s, ev, CONTEXT, "%s: %s", describe(ev), text);
}

bool v2_follows(const struct v2_state *s, uint64_t generation, uint64_t old,
                uint64_t new) {
  return generation == s->trace->generation && new == old + 1;
}

void v2_check_g_status(struct v2_state *s, const struct trace_event *ev,
                       uint64_t g, enum g_status wanted) {
  if (g != TRACE_NONE && v2_g_of(s, g)->status != wanted)
    V2_FAIL(s, ev, NOT_RUNNING, "%s: G %" PRIu64 " is %s, not %s", describe(ev),
            g, v2_g_names[v2_g_of(s, g)->status], v2_g_names[wanted]);
}
