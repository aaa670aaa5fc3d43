// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stacks, names and label sets to which the records of a trace in the file
// of the option persist refer. trace_stacks.c defines the functions by which
// the runtime's writer of traces gets them in a program. In the tool, they
// return what is in the file, after persist_stacks_use.

#ifndef MPROF_TOOL_PERSIST_TRACE_STACKS_H
#define MPROF_TOOL_PERSIST_TRACE_STACKS_H

#include "common/idmap.h"
#include "model/profile.h"
#include "persist/file.h"

struct persist_stacks {
  struct persist_file *file;
  struct profile *names;  // a location for each address
  struct idmap locations; // from a return address to its location
  struct idmap buckets;   // the handles that were checked
  uint64_t last_g;        // the highest number of a thread
};

void persist_stacks_begin(struct persist_stacks *s, struct persist_file *f);
void persist_stacks_end(struct persist_stacks *s);
// Returns whether the handle is 0, or that of a stack in the file. Adds the
// addresses of the stack to s->names.
bool persist_stacks_add(struct persist_stacks *s, uint64_t handle);
// Returns whether the handle is 0, or that of a name in the file.
bool persist_stacks_has_name(struct persist_stacks *s, uint64_t handle);
// Makes the runtime's writer use these stacks; NULL: none.
void persist_stacks_use(struct persist_stacks *s);

#endif
