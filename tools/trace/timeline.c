// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes the calls of the converter to the consumer of the trace.

#include "timeline.h"

void timeline_at(struct timeline *line, uint64_t ticks) {
  if (line->sink->at)
    line->sink->at(line, ticks);
}

void timeline_create(struct timeline *line, uint64_t g, uint64_t by,
                     uint64_t start_stack) {
  if (line->sink->create)
    line->sink->create(line, g, by, start_stack);
}

void timeline_state(struct timeline *line, uint64_t g, enum thread_state state,
                    struct trace_text reason, uint64_t stack) {
  if (line->sink->state)
    line->sink->state(line, g, state, reason, stack);
}

void timeline_unblock(struct timeline *line, uint64_t g, uint64_t by,
                      uint64_t stack) {
  if (line->sink->unblock)
    line->sink->unblock(line, g, by, stack);
}

void timeline_kernel_thread(struct timeline *line, uint64_t g, uint64_t m) {
  if (line->sink->kernel_thread)
    line->sink->kernel_thread(line, g, m);
}

void timeline_name(struct timeline *line, uint64_t g, struct trace_text name) {
  if (line->sink->name)
    line->sink->name(line, g, name);
}

void timeline_label(struct timeline *line, uint64_t g,
                    struct trace_text label) {
  if (line->sink->label)
    line->sink->label(line, g, label);
}

void timeline_region_begin(struct timeline *line, uint64_t g,
                           struct trace_text name, uint64_t task,
                           uint64_t stack) {
  if (line->sink->region_begin)
    line->sink->region_begin(line, g, name, task, stack);
}

void timeline_region_end(struct timeline *line, uint64_t g) {
  if (line->sink->region_end)
    line->sink->region_end(line, g);
}

void timeline_instant(struct timeline *line, uint64_t g, const char *category,
                      struct trace_text name, struct trace_text value,
                      uint64_t stack) {
  if (line->sink->instant)
    line->sink->instant(line, g, category, name, value, stack);
}

void timeline_lock(struct timeline *line, uint64_t g, struct trace_text name) {
  if (line->sink->lock)
    line->sink->lock(line, g, name);
}

void timeline_sample(struct timeline *line, uint64_t g, uint64_t stack) {
  if (line->sink->sample)
    line->sink->sample(line, g, stack);
}

void timeline_charge(struct timeline *line, uint64_t g, uint64_t ns,
                     uint64_t stack) {
  if (line->sink->charge)
    line->sink->charge(line, g, ns, stack);
}

void timeline_stopped(struct timeline *line, uint64_t g, bool is_preempted,
                      uint64_t ns) {
  if (line->sink->stopped)
    line->sink->stopped(line, g, is_preempted, ns);
}

void timeline_range_begin(struct timeline *line, enum range_kind kind,
                          uint64_t id, struct trace_text name) {
  if (line->sink->range_begin)
    line->sink->range_begin(line, kind, id, name);
}

void timeline_range_end(struct timeline *line, enum range_kind kind,
                        uint64_t id) {
  if (line->sink->range_end)
    line->sink->range_end(line, kind, id);
}

void timeline_task_begin(struct timeline *line, uint64_t g, uint64_t id,
                         uint64_t parent, struct trace_text name) {
  if (line->sink->task_begin)
    line->sink->task_begin(line, g, id, parent, name);
}

void timeline_task_end(struct timeline *line, uint64_t g, uint64_t id) {
  if (line->sink->task_end)
    line->sink->task_end(line, g, id);
}

void timeline_counter(struct timeline *line, enum counter_kind kind,
                      uint64_t value) {
  if (line->sink->counter)
    line->sink->counter(line, kind, value);
}
