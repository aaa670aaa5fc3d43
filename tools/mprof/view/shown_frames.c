// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "view/shown_frames.h"

uint32_t view_shown(const struct view *v, const struct view_stack *s,
                    bool keeps_std, struct shown_frame *frames) {
  const struct stack_frame *all = &v->stack_frames[s->first];
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->count && !keeps_std; i++)
    if (!v->frames[all[i].frame].is_std) {
      const bool calls_std = i > 0 && v->frames[all[i - 1].frame].is_std;
      frames[count++] = (struct shown_frame){
          all[i].frame, calls_std ? all[i - 1].frame : NO_FRAME,
          v->places[all[i].place]};
    }
  if (count == 0)
    for (; count < s->count; count++)
      frames[count] = (struct shown_frame){all[count].frame, NO_FRAME,
                                           v->places[all[count].place]};
  return count;
}

bool shown_are_equal(const struct shown_frame *a, const struct shown_frame *b,
                     uint32_t count, bool has_via) {
  for (uint32_t i = 0; i < count; i++)
    if (a[i].frame != b[i].frame || (has_via && a[i].via != b[i].via))
      return false;
  return true;
}

uint32_t shown_hash(const struct shown_frame *frames, uint32_t count,
                    bool has_via) {
  uint32_t hash = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t key[] = {frames[i].frame, has_via ? frames[i].via : 0};
    hash = intern_hash(hash, key, sizeof key);
  }
  return hash;
}

uint32_t view_depth(const struct view *v) {
  uint32_t depth = 0;
  for (size_t i = 0; i < v->stack_count; i++)
    if (v->stacks[i].count > depth)
      depth = v->stacks[i].count;
  return depth;
}
