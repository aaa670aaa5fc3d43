// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel's list of the mappings, /proc/self/maps. Call all functions with
// writer_lock held, except mprof_maps_file_forget.

#ifndef MPROF_RT_SYMBOLIZE_MAPS_FILE_H
#define MPROF_RT_SYMBOLIZE_MAPS_FILE_H

#include "sys/os_file.h"

// Reads the list. Returns 0 or -errno. Free *f with mprof_procfile_free.
int mprof_maps_file_read(struct mprof_procfile *f);
// Keeps the list open, so that mprof_maps_file_read can read it after a chroot
// to a directory without /proc.
void mprof_maps_file_keep_open(void);
// Closes the list. Called in a forked child, too, because the list is that of
// the parent.
void mprof_maps_file_forget(void);

#endif // MPROF_RT_SYMBOLIZE_MAPS_FILE_H
