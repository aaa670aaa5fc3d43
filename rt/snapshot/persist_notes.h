// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds notes to the file of the option persist (persistent.h): what a profile
// shows of a bucket and is not in the bucket, which are the modules with the
// code of its stack, its labels, and the name of its lock or profile. A process
// that is killed cannot look for them at its end, so they are noted when the
// bucket is new.

#ifndef MPROF_RT_SNAPSHOT_PERSIST_NOTES_H
#define MPROF_RT_SNAPSHOT_PERSIST_NOTES_H

#include "sys/base.h"

// Begins to observe the buckets if the option persist is set.
void mprof_persist_notes_init(void);
// Notes a set of labels to which a record of the trace refers. Does nothing
// without the option. Call with the recursion guard set.
void mprof_persist_note_labels(uint16_t set);

#endif // MPROF_RT_SNAPSHOT_PERSIST_NOTES_H
