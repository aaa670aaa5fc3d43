// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Split DWARF: the debug information of a compilation unit is in a .dwo file,
// or with others in a .dwp file. libdw finds a .dwo file only at the path of
// the build, and reads .dwp files only since its version 0.191. So these
// functions find the unit. They also read its address ranges and strings, for
// which tables of several files are needed.

#ifndef MPROF_TOOL_SPLIT_H
#define MPROF_TOOL_SPLIT_H

#include "names/places.h"

#include <elfutils/libdw.h>

struct split_files;
struct split_unit;

// Prepares to find the split units of a program or library. path is that of the
// file that was loaded, and debug_path that of its separate debug file or NULL.
struct split_files *split_files_new(const struct places *places,
                                    const char *path, const char *debug_path,
                                    const char *build_id);
// Closes the files. All units must be closed before. files may be NULL.
void split_files_free(struct split_files *files);
// Finds the split unit of a skeleton unit. Returns NULL if the skeleton has no
// split unit, or if it is not found.
struct split_unit *split_open(struct split_files *files, Dwarf_Die *skeleton);
void split_close(struct split_unit *s);

// Returns the path of the file that has the unit, and its name in a bundle.
const char *split_path(const struct split_unit *s);
const char *split_name(const struct split_unit *s);
// Returns the DIE of the split unit.
Dwarf_Die split_die(const struct split_unit *s);
// Returns the string of an attribute of the split unit, or NULL.
const char *split_string(const struct split_unit *s, Dwarf_Attribute *a);
// Calls found for each address range of a DIE of the split unit.
void split_ranges(const struct split_unit *s, Dwarf_Die *die,
                  void (*found)(void *arg, Dwarf_Addr low, Dwarf_Addr high),
                  void *arg);

#endif
