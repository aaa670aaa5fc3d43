// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the executable mappings of the process from /proc/self/maps. A list may
// also contain unloaded modules (module_unloads.h). The functions here take no
// lock of the loader and allocate nothing from libc's heap.

#ifndef MPROF_RT_SYMBOLIZE_MAPS_H
#define MPROF_RT_SYMBOLIZE_MAPS_H

#include "sys/base.h"

struct mprof_mapping {
  uintptr_t start, limit;
  uint64_t offset; // of start in the file
  uintptr_t bias;  // an address minus bias is the address in the ELF file
  char file[256];
  char build_id[41]; // lower-case hex, "" if none; truncated if longer
  // Set by module_unloads.c, which numbers unloads. The mapping applies to
  // buckets whose field gone is greater than from and at most to. Output files
  // show an address of an unloaded module with shift added.
  uint32_t from, to;
  uintptr_t shift;
  int64_t noted_ns; // when the mapping was first seen, CLOCK_REALTIME
  uint64_t module;  // identifies the module (symbolize.c); 0: not computed yet
  // Used only by the writers of output files.
  bool has_names; // some frame in the mapping has a function name
  uint64_t id;
  struct mprof_mapping *next;
};
struct mprof_maps {
  struct mprof_mapping *v; // executable mappings; v[0] is the main program's
  size_t len;              // number of current mappings
  size_t past_len;         // unloaded mappings behind them, by unload number
  size_t mapped_bytes;
};
// Reads the current mappings into m, without unloaded modules. Returns 0 or
// -errno. Free the list with mprof_maps_free.
int mprof_maps_read(struct mprof_maps *m);
void mprof_maps_free(struct mprof_maps *m);
// Returns the shown address of the return address pc, which is the address in
// output files. gone is the field gone of pc's bucket: the number of the unload
// after which the bucket is no longer used, or 0. The shown addresses of two
// different modules never overlap, even if one of the modules is unloaded.
mprof_pc mprof_maps_shown(const struct mprof_maps *m, mprof_pc pc,
                          uint32_t gone);
// Returns the mapping that contains addr, or NULL. addr is an address as output
// files show it (mprof_maps_shown).
const struct mprof_mapping *mprof_maps_find(const struct mprof_maps *m,
                                            uintptr_t addr);
// Stores the build id of an ELF file in out, as hex. data is the content of the
// whole file as it is on disk, not as the loader maps it. Returns false if the
// file has no build id.
bool mprof_maps_file_build_id(const void *data, size_t len, char out[41]);

#endif // MPROF_RT_SYMBOLIZE_MAPS_H
