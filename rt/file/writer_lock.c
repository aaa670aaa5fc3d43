// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines the variables that writer_lock.h declares.

#include "file/writer_lock.h"

#include "sys/arch.h"
#include "sys/lock.h"

struct mprof_lock mprof_writer_lock = MPROF_LOCK_INIT(MPROF_RANK_WRITE);
struct mprof_caller mprof_writer_caller;
