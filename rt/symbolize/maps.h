// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The executable mappings of the process, read from /proc/self/maps. A list may
// also hold modules that were unloaded (module_unloads.h). Takes no lock of the
// loader and needs no heap of libc.

#ifndef MPROF_RT_SYMBOLIZE_MAPS_H
#define MPROF_RT_SYMBOLIZE_MAPS_H

#include "sys/base.h"

struct mprof_mapping {
  uintptr_t start, limit;
  uint64_t offset; // of the mapping in the file
  uintptr_t bias;  // an address minus bias is the address in the ELF file
  char file[256];
  char build_id[41]; // lower-case hex, "" if none; cut if longer
  // Set by module_unloads.c. The mapping is valid for buckets that are gone by
  // an unload number in (from, to]. Addresses of an unloaded module are shown
  // with shift added.
  uint32_t from, to;
  uintptr_t shift;
  int64_t noted_ns; // time when it was seen mapped, CLOCK_REALTIME
  // For the writers' own use.
  bool has_names; // some frame in the mapping has a function name
  uint64_t id;
  struct mprof_mapping *next;
};
struct mprof_maps {
  struct mprof_mapping *v; // executable mappings; v[0] is the main program's
  size_t len;              // number of current mappings
  size_t past_len;         // number of past ones behind them, by unload
  size_t mapped_bytes;
};
// Reads the current mappings into m, and no past ones. Returns 0 or
// -errno. Free the list with mprof_maps_free.
int mprof_maps_read(struct mprof_maps *m);
void mprof_maps_free(struct mprof_maps *m);
// Returns the address at which output files show a return address pc. gone is
// the unload by which pc's bucket is gone, 0 if it is not. No two modules, past
// or present, share a shown address.
mprof_pc mprof_maps_shown(const struct mprof_maps *m, mprof_pc pc,
                          uint32_t gone);
// Returns the mapping of a shown address, or NULL.
const struct mprof_mapping *mprof_maps_find(const struct mprof_maps *m,
                                            uintptr_t addr);
// Stores the build id of an ELF file in out, as hex. data is the whole file,
// mapped or read as it is on disk, not as loaders map it. Returns false if it
// has none.
bool mprof_maps_file_build_id(const void *data, size_t len, char out[41]);

#endif // MPROF_RT_SYMBOLIZE_MAPS_H
