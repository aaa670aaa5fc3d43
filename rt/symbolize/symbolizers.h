// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks helper processes for the names of addresses. One executes the command
// mprof (tools/mprof/names/serve.c). The other one is a copy of this process
// that runs llvm-symbolizer, for a machine where mprof is not installed, and
// for files that mprof cannot read. Both exchange the messages of
// symbolizer_protocol.h with this process. Call all functions of this file with
// writer_lock held, except mprof_symbolizers_forget.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZERS_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZERS_H

#include "symbolize/maps.h"
#include "symbolize/symbolizer_answer.h"

// Passes all names to fn that mprof has kept for an earlier process about the
// module that m maps (kept_names.h). Does not start mprof, and does nothing if
// mprof cannot be used.
void mprof_symbolizers_recall(const struct mprof_mapping *m, mprof_names_fn *fn,
                              void *arg);
// Asks mprof about the n return addresses in the mapping m. Calls fn for each
// address that mprof knows. Starts mprof if it does not run. Does nothing if
// mprof cannot be used. No failure is reported, because llvm-symbolizer is
// asked next.
void mprof_symbolizers_ask(const struct mprof_mapping *m, const mprof_pc *pc,
                           size_t n, mprof_names_fn *fn, void *arg);
// Asks llvm-symbolizer about the return address pc in the mapping m. Calls fn
// if there is a reply. If the reason for no reply is a failure, such as a
// helper that has ended, prints a message on stderr, but only for the first
// failure.
void mprof_symbolizers_ask_llvm(const struct mprof_mapping *m, mprof_pc pc,
                                mprof_names_fn *fn, void *arg);
// Prepares for the next profile, but leaves mprof running, because its start
// copies the page tables of this process. Ends a process that cannot be used,
// and llvm-symbolizer.
void mprof_symbolizers_rest(void);
// If `is` is true, an mprof that is started later has a low priority, so that
// it does not delay the threads of this process.
void mprof_symbolizers_be_patient(bool is);
// Ends the helper processes. A later question starts them again, unless they
// have not replied in time.
void mprof_symbolizers_stop(void);
// Forgets the parent's helper processes in a forked child, which must not use
// them.
void mprof_symbolizers_forget(void);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZERS_H
