// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds files of MProf by the place of this program, so that an installed tree
// can be moved.

#ifndef MPROF_TOOL_OWN_PLACE_H
#define MPROF_TOOL_OWN_PLACE_H

// Returns the real path of a file whose path is relative to the directory of
// this program, or NULL if it is not there. The caller frees the path.
char *own_place(const char *relative);
// Returns where the user finds a page of the documentation, such as memory.md,
// for a message: its path, or how it is called in MProf's sources if it is not
// installed. The result stays valid.
const char *document_place(const char *page);

#endif
