// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks the blocks that the program can reach: searches the words of the roots
// and of all reached blocks for addresses of blocks. Call all functions only in
// a helper process, and after mprof_memory_find_blocks; see stuck_memory.h.

#ifndef MPROF_RT_STUCK_STUCK_MARKS_H
#define MPROF_RT_STUCK_STUCK_MARKS_H

#include "stuck/stuck_memory.h"

// Searches the words of the roots. The roots are the areas that remain after
// all calls of mprof_memory_cut.
void mprof_memory_mark_roots(struct mprof_memory *m);
// Searches the words of a range. Marks the blocks that these words point into
// as reached.
void mprof_memory_mark_range(struct mprof_memory *m, uintptr_t start,
                             uintptr_t limit);
// Marks the block that the word points into as reached. Does nothing if the
// word points into no block.
void mprof_memory_mark(struct mprof_memory *m, uintptr_t word);
// Searches the words of all reached blocks, until no further blocks are
// reached.
void mprof_memory_follow(struct mprof_memory *m);
// Returns whether addr is in a reached block, or in no block at all.
bool mprof_memory_is_reached(struct mprof_memory *m, uintptr_t addr);

#endif // MPROF_RT_STUCK_STUCK_MARKS_H
