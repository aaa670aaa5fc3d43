// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of both sides by function or by stack. Rows of both sides are the
// same row if the texts of their frames are equal, so profiles of two builds
// can be compared.

#ifndef MPROF_TOOL_CHANGES_H
#define MPROF_TOOL_CHANGES_H

#include "compare/sides.h"
#include "terminal/style.h"
#include "view/shown_frames.h"

struct change {
  size_t first;   // frames: in changes.frames, leaf first
  uint32_t count; // number of frames: 1 in rows by function; 0: no stack
  bool is_noise;  // the difference may be noise, or there is none
  // The largest absolute value that one stack has on the new side. The frames
  // have the places of this stack; in rows by function, the place is the line
  // that has changed most.
  double new_value;
  struct estimate side[SIDES];
  double difference, error; // error: standard error of the difference
  struct estimate blocks;   // the value of NEW of the type count_type
};

struct changes {
  const struct view *view;
  struct change *rows;
  struct shown_frame *frames;
  size_t count, capacity, frame_count, frame_capacity;
  size_t noise_count; // rows that are noise; rows without a change have none
};

enum change_key { BY_FUNCTION, BY_STACK };

struct change_options {
  enum change_key key;
  bool keeps_std; // functions of the standard libraries are frames like others
  bool by_growth; // sorts by the growth, not by the absolute difference
  bool is_exact;  // values have no error
  int count_type; // the value type of change.blocks, or -1
};

// Returns the rows. A difference is noise if it is less than two standard
// errors. Noise comes last.
struct changes changes_of(const struct sides *s, const struct view *v,
                          const struct change_options *options);
void changes_free(struct changes *c);

// Prints the frames of a row, one on each line, without control characters.
void changes_print_frames(const struct changes *c, const struct change *row,
                          FILE *out, const struct style *style);

#endif
