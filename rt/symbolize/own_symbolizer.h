// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the command mprof (tools/mprof/names/serve.c) for the names of
// addresses. symbolize_helper.c asks llvm-symbolizer where mprof is not
// installed, or cannot read a file. Call all functions of
// this file with writer_lock held, except mprof_own_symbolizer_forget.

#ifndef MPROF_RT_SYMBOLIZE_OWN_SYMBOLIZER_H
#define MPROF_RT_SYMBOLIZE_OWN_SYMBOLIZER_H

#include "symbolize/maps.h"
#include "symbolize/symbolizer_answer.h"

// Passes all names to fn that mprof has kept for an earlier process
// about the module that m maps (kept_names.h). Does not start the program, and
// does nothing if the program cannot be used.
void mprof_own_symbolizer_recall(const struct mprof_mapping *m,
                                 mprof_names_fn *fn, void *arg);
// Asks about the n return addresses in the mapping m. Calls fn for each address
// that mprof knows. Starts the program if it does not run. Does
// nothing if the program cannot be used. No failure is reported, because
// llvm-symbolizer is asked next.
void mprof_own_symbolizer_ask(const struct mprof_mapping *m, const mprof_pc *pc,
                              size_t n, mprof_names_fn *fn, void *arg);
// Prepares for the next profile, but leaves the program running, because its
// start copies the page tables of this process. Ends a program that cannot be
// used.
void mprof_own_symbolizer_rest(void);
// If `is` is true, a program that is started later has a low priority, so that
// it does not delay the threads of this process.
void mprof_own_symbolizer_be_patient(bool is);
// Ends the program. A later question starts it again, unless it has not replied
// in time.
void mprof_own_symbolizer_stop(void);
// Forgets the parent's program in a forked child, which must not use it.
void mprof_own_symbolizer_forget(void);

#endif // MPROF_RT_SYMBOLIZE_OWN_SYMBOLIZER_H
