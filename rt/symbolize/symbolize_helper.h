// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks a helper process for the names of addresses. The helper is a copy of
// this process and runs llvm-symbolizer. The code in the helper may allocate,
// take the loader's lock, start a process, print warnings or crash without any
// effect on the program. Call all functions except
// mprof_symbolize_helper_forget with writer_lock held.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_HELPER_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_HELPER_H

#include "symbolize/maps.h"

// Asks about the return address pc in the mapping m. is_mapped: m is still
// mapped. Starts the helper if it does not run. Returns the answer, in the form
// of names.h, which is valid until the next call. Returns NULL if there is no
// answer; the function has then reported why.
const char *mprof_symbolize_ask(mprof_pc pc, const struct mprof_mapping *m,
                                bool is_mapped);
// Ends the helper. A later question starts a new helper, unless the helper has
// not answered in time: then this process asks no further questions.
void mprof_symbolize_helper_stop(void);
// Called in a forked child, which must not use the parent's helper. The child
// asks no questions if its parent's helper has not answered in time.
void mprof_symbolize_helper_forget(void);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_HELPER_H
