// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pairs of a locks profile: code that waited for a lock, and code that held
// it.

#ifndef MPROF_TOOL_LOCK_PAIRS_H
#define MPROF_TOOL_LOCK_PAIRS_H

#include "view/shown_frames.h"

enum pair_value {
  PAIR_DELAY,
  PAIR_CONTENTIONS,
  PAIR_HELD,
  PAIR_HELD_WAITING,
  PAIR_VALUES
};
// The names of the value types.
extern const char *const pair_value_names[PAIR_VALUES];

// The parts of a stack; count is 0 if the part is not known.
enum pair_part { PAIR_WAITER, PAIR_RELEASE, PAIR_TAKEN, PAIR_MADE, PAIR_PARTS };
struct part_frames {
  size_t first; // in pairs.frames, leaf first
  uint32_t count;
};

struct pair {
  string_id lock, kind, waiter, holder; // labels
  bool has_more_locks;                  // others with the name of `lock`
  bool has_unknown_holds; // pairs_join has added holds whose begin is not known
  struct part_frames parts[PAIR_PARTS];
  int64_t value; // of the view
  int64_t values[PAIR_VALUES];
  int64_t worst, queue;
  int64_t offset; // of the lock in the block of PAIR_MADE
};

struct pairs {
  struct pair *items;
  struct shown_frame *frames;
  size_t count, capacity, frame_count, frame_capacity;
};

// Returns whether the profile has pairs.
bool pairs_are_in(const struct profile *p);
// Returns the pairs of a view by lines, those with the largest values first.
struct pairs pairs_of(const struct view *v, bool keeps_std);
// Joins each pair whose holder is known by its release only with the pair of
// the same waiter, lock and release that says where such a holder took the
// lock, if there is just one: for people, both are one cause.
void pairs_join(const struct profile *p, struct pairs *all);
// Returns whether one of the first pairs has holds whose begin is not known.
bool pairs_have_unknown_holds(const struct pairs *all, size_t count);
void pairs_free(struct pairs *all);

// These functions return texts that the caller frees.
// Where the waiter waited: "NAME  FILE:LINE" of the innermost frame that is the
// user's.
char *pair_waiter(const struct view *v, const struct pairs *all,
                  const struct pair *pair);
// Where the holder took and released the lock. In one function, as
// "NAME  FILE:LINE -> LINE".
char *pair_holder(const struct view *v, const struct pairs *all,
                  const struct pair *pair);
// The name and the address of the lock, or only the name that several locks
// have. A lock without a name is described by the origin of its block.
char *pair_lock(const struct view *v, const struct pairs *all,
                const struct pair *pair);
// The same, with the kind of the lock and how it was taken.
char *pair_lock_name(const struct view *v, const struct pairs *all,
                     const struct pair *pair);

#endif
