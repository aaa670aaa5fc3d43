// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole file of /proc, which has no size beforehand.

#ifndef MPROF_RT_SYS_PROCFILE_H
#define MPROF_RT_SYS_PROCFILE_H

#include "sys/base.h"

struct mprof_infile {
  char *data; // terminated by 0
  size_t len, mapped_bytes;
};
// 0 or an errno value. Free it with mprof_infile_free.
int mprof_infile_read(struct mprof_infile *f, const char *path);
void mprof_infile_free(struct mprof_infile *f);
// The program's arguments with blanks between, cut to len; "" if unknown.
void mprof_command_line(char *buf, size_t len);

#endif // MPROF_RT_SYS_PROCFILE_H
