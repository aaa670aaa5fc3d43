// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Go's trace formats 1.22 and later: the states of all Gs (goroutines), Ps
// (processors of Go's scheduler) and Ms (threads), and the checks that the
// handlers of several event types share.

#ifndef MPROF_TRACE_V2_STATE_H
#define MPROF_TRACE_V2_STATE_H

#include "common/idmap.h"
#include "text.h"

struct trace;
struct trace_event;

enum g_status {
  G_ABSENT,
  G_RUNNABLE,
  G_RUNNING,
  G_IN_CALL,
  G_WAITING,
  G_KINDS
};
extern const char *const v2_g_names[];

enum p_status { P_ABSENT, P_RUNNING, P_IDLE, P_IN_CALL, P_ABANDONED, P_KINDS };
extern const char *const v2_p_names[];

struct region {
  uint64_t task;
  struct trace_text name;
};

struct g_state {
  enum g_status status;
  // Sequence number, and the generation in which seq counts. seq begins at 0 in
  // each generation.
  uint64_t generation, seq;
  bool assist, stop;      // a GC assist or a stop of the world is open
  struct region *regions; // open regions, innermost last
  size_t region_count, region_capacity;
};

struct p_state {
  enum p_status status;
  // Sequence number, and the generation in which seq counts. seq begins at 0 in
  // each generation.
  uint64_t generation, seq;
  bool sweep; // a sweep is open
};

struct m_state {
  uint64_t g, p; // G and P of the thread; TRACE_NONE: none
};

struct v2_state {
  struct trace *trace;
  uint64_t first_generation;
  struct idmap g_ids, p_ids, m_ids, task_ids;
  struct g_state *gs;
  size_t g_count, g_capacity;
  struct p_state *ps;
  size_t p_count, p_capacity;
  struct m_state *ms;
  size_t m_count, m_capacity;
  bool *tasks; // for each task: has begun and not ended
  size_t task_count, task_capacity;
  bool collections_known; // an event of a garbage collection has been seen
  bool collecting;
  // Sequence number of the last event of a garbage collection.
  uint64_t collection_seq;
};

struct v2_state *v2_state_new(struct trace *t);
void v2_state_free(struct v2_state *state);
void v2_begin_generation(struct v2_state *state);

// Return the state of a G (goroutine), a P (processor of Go's scheduler) or an
// M (thread). If the id is new, the function adds a state to the array. Adding
// may move the array, so earlier pointers to states of the same kind are then
// invalid.
struct g_state *v2_g_of(struct v2_state *s, uint64_t id);
struct p_state *v2_p_of(struct v2_state *s, uint64_t id);
struct m_state *v2_m_of(struct v2_state *s, uint64_t id);

// Returns whether `new` is the next sequence number after `old`, and `old` was
// set in the current generation. generation: the generation in which `old` was
// set.
bool v2_follows(const struct v2_state *s, uint64_t generation, uint64_t old,
                uint64_t new);

enum need { MAY, MUST, MUST_NOT };
// Reports a violation if the thread of ev has a P (processor) or a G
// (goroutine) that it must not have, or lacks a P or a G that it must have. p
// and g say what is required. MUST: the thread must have one. MUST_NOT: the
// thread must have none. MAY: both are valid.
void v2_check_context(struct v2_state *s, const struct trace_event *ev,
                      enum need p, enum need g);
// Reports a violation if the G (goroutine) g is not in the state `wanted`. Does
// nothing if g is TRACE_NONE.
void v2_check_g_status(struct v2_state *s, const struct trace_event *ev,
                       uint64_t g, enum g_status wanted);

// Reports that event ev breaks the rule. The arguments after rule are those of
// printf.
#define V2_FAIL(s, ev, rule, ...)                                              \
  violate((s)->trace, TRACE_RULE_##rule, (ev)->offset, __VA_ARGS__)

#endif
