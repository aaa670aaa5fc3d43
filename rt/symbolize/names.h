// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache of the functions, files and lines of return addresses. The cache
// stays after a profile is written, so that the next profile does not look up
// the same addresses again. Also reads the names that mprof has kept for an
// earlier process, so that most short processes that follow each other need not
// start mprof, and asks mprof (tools/mprof/names/serve.c), in a helper process,
// for the others. symbolizer_protocol.h describes the messages. Call all
// functions with writer_lock held, except mprof_names_forget and
// mprof_symbolizers_forget.

#ifndef MPROF_RT_SYMBOLIZE_NAMES_H
#define MPROF_RT_SYMBOLIZE_NAMES_H

#include "symbolize/maps.h"
#include "sys/base.h"

struct mprof_name {
  const char *function, *file; // "": unknown
  uint32_t line, start_line;   // 0: unknown
};
// The functions of an address, innermost first. len is 0 if mprof does not
// know the address.
struct mprof_names {
  uint64_t module;
  size_t len;
  struct mprof_name v[];
};
// Returns the names of the return address pc, or NULL if they are not in the
// cache. module: number of the module that is at pc now. It is needed because
// another module may have been loaded at this address since the names were
// stored.
const struct mprof_names *mprof_names_find(mprof_pc pc, uint64_t module);
// Stores the names of pc in the cache. `reply` has a string for each frame, in
// the form of symbolizer_protocol.h, and an empty string at its end. Returns
// NULL if there is no memory. The result is valid until mprof_names_trim is
// called.
const struct mprof_names *mprof_names_keep(mprof_pc pc, uint64_t module,
                                           const char *reply);
// Drops all names if they take more memory than the limit. Also drops all names
// if they take more than half of the limit and a module was unloaded since the
// last call, because the names of the unloaded module are no longer needed.
// unloads: number of modules that were unloaded so far.
void mprof_names_trim(uint32_t unloads);
// Returns the number of bytes that the names take.
size_t mprof_names_bytes(void);
// Empties the cache in a forked child. The child does not inherit the memory of
// the names, so this function frees nothing.
void mprof_names_forget(void);

// --- names that mprof has kept ---

// Receives the frames of the return address pc: a string for each frame in the
// form of symbolizer_protocol.h, and an empty string at the end.
typedef void mprof_names_fn(mprof_pc pc, const char *frames, void *arg);
// Passes all kept names of addresses in the mapping m to fn. Does nothing if
// there are no names, if other users can change them, if the module is another
// file than the one that m maps, or if one of the files has changed from which
// the names come. directory: the user's cache directory. program: path of
// mprof.
void mprof_kept_names_read(const char *directory, const char *program,
                           const struct mprof_mapping *m, mprof_names_fn *fn,
                           void *arg);

// --- asking mprof (symbolizers.c) ---

// Passes all names to fn that mprof has kept for an earlier process about the
// module that m maps. Does not start mprof, and does nothing if mprof cannot be
// used.
void mprof_symbolizers_recall(const struct mprof_mapping *m, mprof_names_fn *fn,
                              void *arg);
// Asks mprof about the n return addresses in the mapping m. Calls fn for each
// address that has a reply. Starts mprof if it does not run. If mprof cannot be
// used, prints a message on stderr, but only for the first failure. Returns
// false if mprof has failed to answer, perhaps because of the file that m maps.
bool mprof_symbolizers_ask(const struct mprof_mapping *m, const mprof_pc *pc,
                           size_t n, mprof_names_fn *fn, void *arg);
// Asks about the n addresses of variables of the file that m maps. Passes the
// string of symbolizer_protocol.h to fn, as above.
void mprof_symbolizers_ask_variables(const struct mprof_mapping *m,
                                     const uintptr_t *addresses, size_t n,
                                     mprof_names_fn *fn, void *arg);
// Prepares for the next profile, but leaves mprof running, because its start
// copies the page tables of this process. Ends a process that cannot be used.
void mprof_symbolizers_rest(void);
// If `is` is true, an mprof that is started later has a low priority, so that
// it does not delay the threads of this process.
void mprof_symbolizers_be_patient(bool is);
// Ends the helper process. A later question starts it again, unless it has not
// replied in time.
void mprof_symbolizers_stop(void);
// Forgets the parent's helper process in a forked child, which must not use it.
void mprof_symbolizers_forget(void);

#endif // MPROF_RT_SYMBOLIZE_NAMES_H
