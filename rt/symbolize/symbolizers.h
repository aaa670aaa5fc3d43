// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the command mprof for the names of addresses
// (tools/mprof/names/serve.c), in a helper process. symbolizer_protocol.h
// describes the messages. Call all functions of this file with writer_lock
// held, except mprof_symbolizers_forget.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZERS_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZERS_H

#include "symbolize/maps.h"
#include "symbolize/names.h"

// Passes all names to fn that mprof has kept for an earlier process about the
// module that m maps (names.h). Does not start mprof, and does nothing if
// mprof cannot be used.
void mprof_symbolizers_recall(const struct mprof_mapping *m, mprof_names_fn *fn,
                              void *arg);
// Asks mprof about the n return addresses in the mapping m. Calls fn for each
// address that has a reply. Starts mprof if it does not run. If mprof cannot be
// used, prints a message on stderr, but only for the first failure. Returns
// false if mprof has failed to answer, perhaps because of the file that m maps.
bool mprof_symbolizers_ask(const struct mprof_mapping *m, const mprof_pc *pc,
                           size_t n, mprof_names_fn *fn, void *arg);
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

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZERS_H
