// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the public functions that fill records share. The functions of the heap
// and of created threads are in records.c, those of waits and of the threads'
// present stacks in records_wait.c.

#ifndef MPROF_RT_API_RECORDS_H
#define MPROF_RT_API_RECORDS_H

#include "bucket/bucket.h"
#include "mprof/mprof.h"

// Begins a public function: stores 0 in *n and sets the recursion guard
// (tls.h). frame: frame address of the public function. Returns 0 on success.
// On failure, returns -errno and does not set the guard.
int mprof_records_enter(const void *records, size_t len, size_t *n,
                        uintptr_t frame);

// Copies the stack of bucket b to `to`, and truncates it to MPROF_RECORD_STACK
// addresses. The caller has filled `to` with zeros, so zeros follow a shorter
// stack.
void mprof_record_copy_stack(mprof_pc to[MPROF_RECORD_STACK],
                             const struct mprof_bucket *b);

// Fills record r with the stack of bucket b.
void mprof_record_fill_stack(struct mprof_stack_record *r,
                             const struct mprof_bucket *b);

#endif // MPROF_RT_API_RECORDS_H
