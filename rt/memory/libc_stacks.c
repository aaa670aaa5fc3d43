// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the stacks of glibc's threads; see owners.h.

#include "memory/owners.h"

enum { WORD = sizeof(uintptr_t) };

// A control block contains the start and the size of the thread's stack in two
// adjacent words, with the guard pages and the control block. The offset of
// these words differs between versions of glibc, so the first BLOCK_BYTES bytes
// of the control block are searched. The thread's id is at TID_AT. On x86-64,
// the control block begins with its own address, and contains it again at
// SELF_AT. On arm64, only its links in a list at LIST_AT show what it is.
enum { BLOCK_BYTES = 2304 };
#ifdef __aarch64__
enum { LIST_AT = 192, TID_AT = 208, ALIGNMENT = 16, FROM_END_MAX = 32 };
#else
enum { SELF_AT = 16, TID_AT = 720, ALIGNMENT = 64, FROM_END_MAX = 2 };
#endif

#ifdef __aarch64__
static bool may_be_block(struct mprof_process *p, uintptr_t at) {
  const uintptr_t list = at + LIST_AT;
  const uintptr_t next = mprof_process_word(p, list);
  return next != 0 && next % WORD == 0 &&
         mprof_process_word(p, next + WORD) == list;
}
#else
static bool may_be_block(struct mprof_process *p, uintptr_t at) {
  return mprof_process_word(p, at) == at &&
         mprof_process_word(p, at + SELF_AT) == at;
}
#endif

static bool read_block(struct mprof_process *p, const struct mprof_mapped *m,
                       uintptr_t block, struct mprof_stack_found *s) {
  for (uintptr_t at = block;
       at + 2 * WORD <= m->limit && at < block + BLOCK_BYTES; at += WORD) {
    const uintptr_t start = mprof_process_word(p, at),
                    limit = start + mprof_process_word(p, at + WORD);
    if (start == 0 || start % MPROF_PAGE != 0 || limit % MPROF_PAGE != 0 ||
        start > m->start || limit <= at || limit > m->limit ||
        limit - block > (uintptr_t)FROM_END_MAX * MPROF_PAGE)
      continue;
    *s = (struct mprof_stack_found){
        m->start, limit, (int)(uint32_t)mprof_process_word(p, block + TID_AT)};
    return true;
  }
  return false;
}

bool mprof_libc_stack_find(struct mprof_process *p,
                           const struct mprof_mapped *m, size_t *pages,
                           struct mprof_stack_found *s) {
  // A larger mapping is a reservation, of which most is not resident.
  const uintptr_t largest = (uintptr_t)4 << 30;
  const uintptr_t limit =
      m->limit - m->start > largest ? m->start + largest : m->limit;
  for (uintptr_t page = m->start; page < limit && *pages > 0;
       page += MPROF_PAGE) {
    if (mprof_process_pages(p, page, page + MPROF_PAGE).rss == 0)
      continue;
    --*pages;
    for (uintptr_t at = page; at < page + MPROF_PAGE; at += ALIGNMENT)
      if (may_be_block(p, at) && read_block(p, m, at, s))
        return true;
  }
  return false;
}
