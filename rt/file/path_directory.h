// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the directory of the output files if it does not exist.

#ifndef MPROF_RT_FILE_PATH_DIRECTORY_H
#define MPROF_RT_FILE_PATH_DIRECTORY_H

// Makes the directory of the file at `path`, and the directories above it, if
// they do not exist. On failure does nothing: the caller then cannot open the
// file and reports this. A program that has more rights than its user makes no
// directory. Makes system calls only if the path has a directory.
void mprof_path_make_directory(const char *path);

#endif // MPROF_RT_FILE_PATH_DIRECTORY_H
