// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the functions, files and lines of return addresses. A helper process
// runs mprof, so that the program is not disturbed (symbolizers.c). Call all
// functions of this file with writer_lock held, except mprof_symbolize_forget.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_H

#include "sys/base.h"

struct mprof_bucket;
struct mprof_maps;
struct mprof_outfile;

struct mprof_frame {
  const char *function; // demangled name; "" if unknown
  const char *file;     // source file; "" if unknown
  unsigned line;
  unsigned start_line; // line at which the function begins; 0: unknown
  const char *module;  // file name of the mapping; "" if unknown
  bool is_library;     // true if module is not the main program's file
  uintptr_t offset;    // address in the module's file
};
// Prepares for calls of mprof_symbolize. Returns 0 or -errno. If `names` is
// true, mprof_symbolize gets the names of functions from mprof.
// mprof_symbolize starts a helper process for the first address whose names are
// unknown, and keeps the names for later profiles (names.h). Frames have only
// module and offset if mprof is not found, or if the process is AT_SECURE. The
// first time that mprof is not found, this is reported on stderr.
//
// mprof_symbolize_end ends the helper process. Calls of mprof_symbolize_begin
// may be nested. The inner calls use the helper of the outermost call.
int mprof_symbolize_begin(bool names);
// Like mprof_symbolize_begin, for a caller that has just read the mappings with
// mprof_unloads_read and has not changed the list since. Reading the mappings
// takes most of the time of a small profile.
int mprof_symbolize_begin_with(bool names, const struct mprof_maps *maps);
void mprof_symbolize_end(void);

// --- many addresses ---
//
// One request for many names is much faster than a request for each. So a
// writer runs twice: it first collects its addresses, and then writes.
//
//   if (mprof_symbolize_collect(f)) {
//     write(f); // mprof_symbolize_want_stack instead of each stack
//     mprof_symbolize_look_up(f);
//   }
//   write(f);

// Begins to collect addresses. Until mprof_symbolize_look_up, nothing is
// written to f, unless it is NULL, and mprof_symbolize gives only the names
// that are known already. Returns false, and does nothing, if no names can be
// looked up.
bool mprof_symbolize_collect(struct mprof_outfile *f);
// Collects a return address, as shown in output files. Looks up what is
// collected if these are 20,000 addresses.
void mprof_symbolize_want(mprof_pc pc);
// While addresses are collected, collects the addresses of the stack of b, and
// returns true. At other times, returns false.
bool mprof_symbolize_want_stack(const struct mprof_bucket *b);
// Looks up the names of all collected addresses together.
void mprof_symbolize_look_up(struct mprof_outfile *f);
// Until mprof_symbolize_end, frames have only the names that are known already,
// because a search for others would take too long.
void mprof_symbolize_only_known(void);
// If `off` is true, later calls of mprof_symbolize_begin ignore their argument
// `names`, so that frames have only module and offset. If `off` is false,
// frames have function names again. Call with writer_lock held.
void mprof_symbolize_turn_off(bool off);
bool mprof_symbolize_is_off(void);
// If `does` is true, mprof_symbolize_end leaves the helper process running for
// the next profile, and the helper has a low priority. Call
// mprof_symbolize_drop_helper when no profile is expected any more. A later
// mprof_symbolize_end ends the helper, too, if `does` is false by then.
void mprof_symbolize_keep_helper(bool does);
void mprof_symbolize_drop_helper(void);
// Resets the symbolizer in a forked child. Does not free the symbolizer's
// memory, because another thread of the parent may have been changing this
// memory when the process forked.
void mprof_symbolize_forget(void);
// Returns the address at which output files show the return address pc. `gone`
// is the field of this name of the bucket whose stack contains pc: 0, or the
// number of the unload that removed code in this stack. The result is that of
// mprof_maps_shown (maps.h) for the current list of mappings.
mprof_pc mprof_symbolize_shown(mprof_pc pc, uint32_t gone);
// Calls fn for each function at the return address pc, innermost first. All
// functions but the last are inlined into the last. pc is an address as shown
// in output files. Returns false, without a call of fn, if no mapping contains
// pc. The names of functions of Python are always known.
bool mprof_symbolize(mprof_pc pc,
                     void (*fn)(const struct mprof_frame *, void *), void *arg);

// Receives the name of the variable at an address, with the offset of the
// address in it if that is not 0, such as table+0x50.
typedef void mprof_variable_fn(uintptr_t address, const char *name, void *arg);
// Calls fn for each of the n addresses that lies in a global or static variable
// of the program or of a library. Sorts the addresses.
void mprof_symbolize_variables(uintptr_t *addresses, size_t n,
                               mprof_variable_fn *fn, void *arg);

// The part of a stack to remove because of the field `skip` of its bucket,
// which is the number of innermost functions to remove. One frame may represent
// several inlined functions, so the frames to remove are known only when their
// names are. The part is at the leaf: first `frames` whole frames, then
// the `functions` innermost functions of the next frame. If has_names is true,
// call mprof_stack_skipped between mprof_symbolize_begin and
// mprof_symbolize_end. If has_names is false, each frame counts as one
// function.
struct mprof_skipped {
  uint32_t frames;
  unsigned functions;
};
struct mprof_skipped mprof_stack_skipped(const struct mprof_bucket *b,
                                         bool has_names);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_H
