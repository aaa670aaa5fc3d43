// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the mappings, functions and locations of a profile: all fields that
// describe the addresses of stacks. See pprof.h for who may call these
// functions.
//
// The file has function names and lines. Inlined functions are additional lines
// of a location. The file has them because "go tool pprof" does not find
// inlined functions itself, and the binary may be missing where the file is
// read.

#ifndef MPROF_RT_WRITE_PPROF_LOCATIONS_H
#define MPROF_RT_WRITE_PPROF_LOCATIONS_H

#include "sys/base.h"

struct mprof_bucket;
struct mprof_pprof;

// Adds all current mappings to the list of mappings that will be written. An
// unloaded mapping is added only when a stack needs it.
void mprof_pprof_list_mappings(struct mprof_pprof *w);
// Stores the location ids of the stack of b in w->ids, leaf first, and returns
// their number. Stops at an address that is no longer mapped, because the
// addresses after it may be wrong. Writes locations when they are first needed.
size_t mprof_pprof_locate_stack(struct mprof_pprof *w,
                                const struct mprof_bucket *b);
// Writes the mappings. This function is called after all locations were
// written, because only then it is known which mappings have function names.
// Readers symbolize the addresses in all other mappings themselves.
void mprof_pprof_put_mappings(struct mprof_pprof *w);

#endif // MPROF_RT_WRITE_PPROF_LOCATIONS_H
