// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds notes to the file of the option persist (persist_head.h): what a profile
// shows of a bucket and is not in the bucket, which are the modules with the
// code of its stack, its labels, and the name of its lock or profile. A process
// that is killed cannot look for them at its end, so they are noted when the
// bucket is new.

#ifndef MPROF_RT_SNAPSHOT_PERSIST_NOTES_H
#define MPROF_RT_SNAPSHOT_PERSIST_NOTES_H

// Begins to observe the buckets if the option persist is set.
void mprof_persist_notes_init(void);

#endif // MPROF_RT_SNAPSHOT_PERSIST_NOTES_H
