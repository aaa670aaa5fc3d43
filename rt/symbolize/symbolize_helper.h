// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks a helper process for the names of addresses. The helper is a copy of
// this process and runs llvm-symbolizer. The code in the helper may start a
// process or crash without disturbing the program. Call all functions of this
// file with writer_lock held, except mprof_symbolize_helper_forget.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_HELPER_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_HELPER_H

#include "symbolize/maps.h"

// Asks the helper about the return address pc in the mapping m. Starts the
// helper if it does not run. Returns the reply, in the form that
// symbolizer_answer.h describes. The reply is valid until the next call.
// Returns NULL if there is no reply. If the reason is a failure, such as a
// helper that has ended, prints a message on stderr, but only for the first
// failure.
const char *mprof_symbolize_ask(mprof_pc pc, const struct mprof_mapping *m);
// Ends the helper. A later question starts a new helper. However, if a helper
// has not replied in time, this process asks no further questions.
void mprof_symbolize_helper_stop(void);
// Forgets the parent's helper in a forked child, which must not use it. If the
// parent's helper has not replied in time, the child asks no questions.
void mprof_symbolize_helper_forget(void);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_HELPER_H
