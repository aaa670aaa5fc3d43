// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is mapped where, from /proc/self/maps.

#ifndef MPROF_RT_SYMBOLIZE_MAPS_H
#define MPROF_RT_SYMBOLIZE_MAPS_H

#include "sys/base.h"

struct mprof_mapping {
  uintptr_t start, limit;
  uint64_t offset; // in the file
  uintptr_t bias;  // less this, addresses are those in the ELF file
  char file[256];
  char build_id[41]; // lower-case hex, "" if none; longer ones are cut
  // Set by module_unloads.h. It was there for what is gone by an unload after
  // from, up to to. What was unloaded is shown shift above where it was.
  uint32_t from, to;
  uintptr_t shift;
  int64_t noted_ns; // when it was there, CLOCK_REALTIME
  // A writer's own.
  bool has_names; // some frame in it has a function
  uint64_t id;
  struct mprof_mapping *next;
};
struct mprof_maps {
  struct mprof_mapping *v; // executable ones; v[0] is the main program's
  size_t len;              // that are there
  size_t past_len;         // behind them: those that were, last ones last
  size_t mapped_bytes;
};
// Reads /proc/self/maps, and nothing of the past. 0 or errno. Free with
// mprof_maps_free.
int mprof_maps_read(struct mprof_maps *m);
void mprof_maps_free(struct mprof_maps *m);
// Where files show a return address of a bucket that is gone by that unload, 0
// for none: no two modules share such an address.
mprof_pc mprof_maps_shown(const struct mprof_maps *m, mprof_pc pc,
                          uint32_t gone);
// The mapping of an address that is shown.
const struct mprof_mapping *mprof_maps_find(const struct mprof_maps *m,
                                            uintptr_t addr);
// The build id of an ELF file that is mapped as a whole, not as loaders do.
bool mprof_maps_file_build_id(const void *data, size_t len, char out[41]);

#endif // MPROF_RT_SYMBOLIZE_MAPS_H
