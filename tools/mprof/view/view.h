// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A view: one value type of a profile, with the stacks that the user asked for.
// The frames of the view's stacks are functions, source lines or files. All
// commands show views, so that they agree with each other.

#ifndef MPROF_TOOL_VIEW_H
#define MPROF_TOOL_VIEW_H

#include "model/profile.h"

struct short_names;

enum view_grain { GRAIN_FUNCTIONS, GRAIN_LINES, GRAIN_FILES };

struct text_list {
  const char **items;
  size_t count, capacity;
};

// What to show.
struct view_options {
  const char *type;   // NULL: the profile's default type
  const char *focus;  // regular expression: only stacks that match
  const char *ignore; // regular expression: no stacks that match
  // Regular expression: no functions that match. Their values count for the
  // functions that called them.
  const char *hide;
  const char *within;      // like focus; a stack must match both
  struct text_list labels; // KEY=VALUE: only samples that have all of them
  enum view_grain grain;
  bool has_full_names; // functions with template arguments and parameters
  bool keeps_zeros;    // samples with the value 0 have stacks, too
  // NULL: the view makes the short names of its own profile.
  struct short_names *names;
};

// A source line, or only a file if the line is 0. The file is "" if unknown.
struct frame_place {
  string_id file;
  int64_t line;
};

// A frame of a stack. Equal frames have the same index.
struct frame {
  string_id name; // never ""; see short_names_unique
  // The shortest form of the name, which other functions may have, too. Users
  // need not know for which functions the name is longer.
  string_id plain;
  string_id file; // "" if unknown, or if the grain is GRAIN_FUNCTIONS
  int64_t line;   // 0 if unknown, or if the grain is not GRAIN_LINES
  bool is_std;    // a function of a standard library
  // The file of the program or library with the frame, one of them if there are
  // several; "" in the program itself.
  string_id module;
  // Where an example of the frame is, for functions without values of their
  // own and for files of other tools: the source line in the stack with the
  // largest value, or in the first one of equal stacks.
  struct frame_place example;
};

// An element of a stack: indexes in view.frames and view.places.
struct stack_frame {
  uint32_t frame, place;
};

struct view_stack {
  size_t first; // in view.stack_frames, leaf first
  uint32_t count;
  uint32_t sample; // index in the profile
  int64_t value;
  double variance; // of the estimate; 0 if the value is exact
};

// What a view lacks, beside what the profile says itself.
struct view_losses {
  // Stacks were cut, because the profile repeats long stacks so often that they
  // would not fit into memory.
  bool is_cut;
  // Names that could not be compared, because the expression took too many
  // steps: with the expressions of the user, and with drop_frames and
  // keep_frames of the profile.
  unsigned long uncompared, undropped;
};

struct view {
  struct profile *profile;
  unsigned type;
  const char *type_name, *unit;
  // The value type that the view has replaced because all its values are 0;
  // else NULL. See input_view_of_values.
  const char *empty_type;
  bool has_full_names; // as in the options
  struct frame *frames;
  struct frame_place *places;
  struct stack_frame *stack_frames;
  struct view_stack *stacks;
  size_t frame_count, frame_capacity, stack_frame_count, stack_frame_capacity,
      place_count, place_capacity, stack_count, stack_capacity;
  struct intern frame_set;
  // The sum over the shown stacks, and over all samples of the profile. The
  // sums have the absolute values of negative values, as in pprof.
  int64_t total, profile_total;
  double variance, profile_variance;
  struct view_losses losses;
};

// Makes a view. On failure, returns NULL and writes a message of one line to
// error. The view refers to the profile, and adds short names to its strings.
struct view *view_new(struct profile *p, const struct view_options *options,
                      char *error, size_t size);

// Frees the view, but not its profile.
void view_free(struct view *v);

#endif
