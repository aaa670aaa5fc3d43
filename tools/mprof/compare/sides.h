// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two sides of profiles that are compared: OLD and NEW. All files are read into
// one profile, so that both sides have the same stacks, types and names. The
// values of each file are kept apart. A side with several files has the mean of
// the values of its files, or their sum.

#ifndef MPROF_TOOL_SIDES_H
#define MPROF_TOOL_SIDES_H

#include "compare/noise.h"
#include "view/view.h"

enum { OLD, NEW, SIDES };

struct side_file {
  int64_t *values; // as profile.values; only of the samples read so far
  size_t value_count;
};

struct sides {
  struct profile *profile; // its values are the sums of the side NEW
  // The files of a side are those of several processes of one run, so
  // sides_value returns their sum.
  bool adds_up;
  struct side {
    struct side_file *files;
    size_t count, capacity;
    size_t first_comment; // of the profile that this side's files have added
  } side[SIDES];
};

// Reads a file and adds it to a profile. Returns NULL or a message.
typedef const char *sides_reader(struct profile *p, const char *path);

struct sides *sides_new(void);
// Adds the file at path to a side. Returns NULL or a message.
const char *sides_read(struct sides *s, unsigned side, const char *path,
                       sides_reader *reader);
// Must be called after the last file, before a view is made.
void sides_finish(struct sides *s);

// Returns whether only the differences between files can tell the error of the
// values of this type, but a side has only one file.
bool sides_lack_error(const struct sides *s, unsigned type);

// Returns the options with what a view of both sides needs.
struct view_options sides_view_options(struct view_options options);

// Returns the mean of one stack over the files of a side, without spread, or
// the sum if the files add up.
struct estimate sides_value(const struct sides *s, unsigned side, unsigned type,
                            const struct view_stack *k);
// Returns the mean of the sum over all stacks of the view.
struct estimate sides_total(const struct sides *s, unsigned side,
                            const struct view *v);

#endif
