// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of the frames of an allocation log. They are found through a
// profile that has the log's frames as locations.

#ifndef MPROF_TOOL_LOG_NAMES_H
#define MPROF_TOOL_LOG_NAMES_H

#include "model/alloc_log.h"
#include "model/profile.h"

struct log_names {
  const struct alloc_log *log;
  struct profile *profile;
  uint32_t *locations; // for each frame the location + 1, or 0
  uint32_t *mappings;  // for each module the mapping + 1, or 0
  // How the lists show stacks. NULL: with all frames and whole names.
  const struct view *view;
  uint32_t *view_stacks; // for each stack its index in the view + 1, or 0
  bool selects;   // the view has only the stacks that the user has selected
  bool keeps_std; // see view_shown
};

struct log_names log_names_new(const struct alloc_log *log);
void log_names_free(struct log_names *names);

// Asks for the names of the stack's frames. When all stacks are added, names
// are to be found with NAMES_AT_ADDRESSES.
void log_names_want(struct log_names *names, uint32_t stack);

// A function of a frame.
struct log_name {
  const char *function, *file; // file: "" if unknown
  int64_t line;
  char own[512]; // the text to which function points if there is no name
};
// Sets *name to a function of the frame. part: 0 for the innermost function,
// and so on. Returns whether the frame has such a part. A frame without names
// has one, "MODULE+OFFSET" or the address.
bool log_names_part(const struct log_names *names, uint32_t frame, size_t part,
                    struct log_name *name);

#endif
