// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the executable mappings of the process from /proc/self/maps. A list of
// mappings may also contain unloaded modules (module_unloads.h). The functions
// of this file do not take the loader's lock and do not use libc's heap.

#ifndef MPROF_RT_SYMBOLIZE_MAPS_H
#define MPROF_RT_SYMBOLIZE_MAPS_H

#include "sys/base.h"

struct mprof_mapping {
  uintptr_t start, limit;
  uint64_t offset; // offset of start in the file
  uintptr_t bias;  // address in memory minus address in the ELF file
  char file[256];
  char build_id[41]; // lower-case hex; "": none; first 20 bytes only
  // Set by module_unloads.c, which numbers the unloads of modules. The module
  // of this mapping was loaded after unload `from`, and unload `to` removed it.
  // The field `gone` of a bucket is the number of the unload that removed code
  // in the bucket's stack. So an address in this stack can belong to this
  // mapping only if from < gone <= to. Output files show an address of an
  // unloaded module with `shift` added.
  uint32_t from, to;
  uintptr_t shift;
  int64_t noted_ns; // CLOCK_REALTIME at which the mapping was first seen
  uint64_t module;  // identifies the module (symbolize.c); 0: not computed yet
  bool is_unreadable; // mprof has failed to read its names
  bool is_recalled;   // the kept names of the module were read (symbolize.c)
  bool is_jit;        // code that the program has made at run time
  // The next fields are used only by the writers of output files.
  bool has_names; // at least one frame in the mapping has a function name
  uint64_t id;
  struct mprof_mapping *next;
};
struct mprof_maps {
  // Executable mappings. v[0] is the main program's. Behind the last one is the
  // mapping "[JIT PID]" of all code made at run time, without start and limit.
  struct mprof_mapping *v;
  size_t len;      // number of current mappings
  size_t past_len; // number of unloaded mappings, which follow in v
  size_t mapped_bytes;
};
// Reads the current mappings into m, without unloaded modules. Returns 0 or
// -errno. The caller must free the list by mprof_maps_free.
int mprof_maps_read(struct mprof_maps *m);
// Makes *to a copy of a list that was just read. Returns 0 or -errno.
int mprof_maps_copy(struct mprof_maps *to, const struct mprof_maps *from);
void mprof_maps_free(struct mprof_maps *m);
// Returns the address at which output files show the return address pc. `gone`
// is the field `gone` of the bucket with pc: 0, or the number of the module
// unload that removed code in the bucket's stack. The shown addresses of two
// different modules never overlap, even if one module was unloaded and the
// other was loaded at the same addresses.
mprof_pc mprof_maps_shown(const struct mprof_maps *m, mprof_pc pc,
                          uint32_t gone);
// Returns the mapping that contains addr, or NULL. addr must be an address as
// shown in output files (mprof_maps_shown). If the program makes code at run
// time, or has made code, at addr, returns the mapping of all such code.
const struct mprof_mapping *mprof_maps_find(const struct mprof_maps *m,
                                            uintptr_t addr);
// Keeps the kernel's list of the mappings open, so that mprof_maps_read can
// read it after a chroot to a directory without /proc. Call with writer_lock
// held.
void mprof_maps_file_keep_open(void);
// Closes the list. Called in a forked child, too, because the list is that of
// the parent.
void mprof_maps_file_forget(void);
// Returns whether m maps a file.
bool mprof_maps_is_file(const struct mprof_mapping *m);
// Returns whether mprof may know the names of code in m.
bool mprof_maps_may_have_names(const struct mprof_mapping *m);
// Stores the build ID of an ELF file in out, as a hexadecimal string. data is
// the content of the whole file as it is on disk, not as the loader maps the
// file. len is its length. Returns false if the file has no build ID.
bool mprof_maps_file_build_id(const void *data, size_t len, char out[41]);

#endif // MPROF_RT_SYMBOLIZE_MAPS_H
