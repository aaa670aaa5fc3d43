// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the stacks that libc has allocated for threads; see
// stuck_libc_stacks.h. A thread's control block (glibc: struct pthread) is
// recognized by its contents: its own address, and the bounds of the stack that
// contains it. The layouts of glibc and musl are known. The functions here may
// fail to find a stack, but they must not mistake other memory for a stack.
//
// On x86-64, thread-local variables are below the control block, so that little
// memory is between the control block and the end of the stack. On arm64, they
// are above the control block, which does not contain its own address.

#include "stuck/stuck_libc_stacks.h"

#include "stuck/stuck_memory.h"
#include "sys/os_linux.h"

enum { WORD = sizeof(uintptr_t) };

// A thread's control block contains the start and the size of the thread's
// stack in two adjacent words (glibc: stackblock; musl: map_base). The offset
// of these words differs between versions of libc, so the first BLOCK_BYTES
// bytes of the control block are searched. The range of the stack includes the
// guard pages and the control block.
enum { BLOCK_BYTES = 2304 };
// The control block begins at most so many bytes before the end of the stack.
#ifdef __aarch64__
enum { FROM_END_MAX = 32 * MPROF_PAGE };
#else
enum { FROM_END_MAX = 2 * MPROF_PAGE };
#endif

bool mprof_memory_libc_stack(const struct mprof_area *a, uintptr_t block,
                             struct mprof_libc_stack *s) {
  if (!a->is_unnamed || a->is_shared || block % WORD != 0 || block < a->start)
    return false;
  for (uintptr_t p = block; p + 2 * WORD <= a->limit && p < block + BLOCK_BYTES;
       p += WORD) {
    const uintptr_t start = mprof_memory_word_at(p),
                    limit = start + mprof_memory_word_at(p + WORD);
    if (start == 0 || start % MPROF_PAGE != 0 || limit % MPROF_PAGE != 0 ||
        start >= block || limit <= p || limit - block > FROM_END_MAX ||
        limit > a->limit)
      continue;
    s->start = start > a->start ? start : a->start;
    s->block = block;
    s->limit = limit;
    return true;
  }
  return false;
}

#ifdef __GLIBC__
// The layout of a control block (struct pthread, tcbhead_t). Its links in a
// list of control blocks are at LIST_AT. The thread's id is at TID_AT: 0 if the
// thread has ended, -1 if the thread was also joined. On x86-64 the control
// block begins with its own address, and contains this address again at
// SELF_AT. The control block of a detached thread contains its own address once
// more (joinid).
#ifdef __aarch64__
enum { LIST_AT = 192, TID_AT = 208, BLOCK_ALIGNMENT = 16 };
#else
enum { SELF_AT = 16, LIST_AT = 704, TID_AT = 720, BLOCK_ALIGNMENT = 64 };
#endif

static bool is_word(uintptr_t addr, uintptr_t value) {
  return addr % WORD == 0 && mprof_sys_readable(addr) &&
         mprof_memory_word_at(addr) == value;
}

// Returns whether a control block is in one of libc's lists of stacks. The
// program may provide the memory for a thread's stack. When such a thread ends,
// libc removes its control block from the lists, and the memory may then
// contain anything.
static bool is_listed(uintptr_t block) {
  const uintptr_t list = block + LIST_AT;
  return is_word(mprof_memory_word_at(list) + WORD, list) &&
         is_word(mprof_memory_word_at(list + WORD), list);
}

// Finds the stack of the control block at p, if there is one.
#ifdef __aarch64__
static bool is_block(const struct mprof_area *a, uintptr_t p,
                     struct mprof_libc_stack *s) {
  const uintptr_t next = mprof_memory_word_at(p + LIST_AT);
  return next != 0 && next % WORD == 0 && mprof_memory_libc_stack(a, p, s) &&
         is_listed(p);
}
#else
static bool is_block(const struct mprof_area *a, uintptr_t p,
                     struct mprof_libc_stack *s) {
  return mprof_memory_word_at(p) == p &&
         mprof_memory_word_at(p + SELF_AT) == p &&
         mprof_memory_libc_stack(a, p, s);
}
#endif

bool mprof_memory_last_libc_stack(const struct mprof_area *a,
                                  struct mprof_libc_stack *s) {
  if (!a->is_unnamed || a->is_shared || a->limit - a->start < 2 * MPROF_PAGE)
    return false;
  const uintptr_t size = a->limit - a->start;
  const uintptr_t least =
      a->limit - (size < FROM_END_MAX ? size : FROM_END_MAX);
  for (uintptr_t p = a->limit - BLOCK_BYTES; p > least; p -= BLOCK_ALIGNMENT)
    if (is_block(a, p, s)) {
      s->tid = *(const int *)(p + TID_AT);
      return true;
    }
  return false;
}

static bool can_be_joined(const struct mprof_libc_stack *s) {
  if (s->tid < 0)
    return false;
  for (uintptr_t p = s->block + TID_AT; p < s->block + BLOCK_BYTES; p += WORD)
    if (mprof_memory_word_at(p) == s->block)
      return false;
  return true;
}
#else
bool mprof_memory_last_libc_stack(const struct mprof_area *a,
                                  struct mprof_libc_stack *s) {
  (void)a, (void)s;
  return false;
}
static bool is_listed(uintptr_t block) { return (void)block, false; }
static bool can_be_joined(const struct mprof_libc_stack *s) {
  return (void)s, true;
}
#endif

void mprof_memory_cut_unused_stacks(struct mprof_memory *m,
                                    bool (*is_used)(void *arg, int tid),
                                    void *arg) {
  for (size_t i = 0; i < m->areas_len; i++) {
    const struct mprof_area a = m->areas[i];
    struct mprof_libc_stack s;
    if (mprof_memory_last_libc_stack(&a, &s) && is_listed(s.block) &&
        (s.tid <= 0 || !is_used(arg, s.tid)))
      mprof_memory_cut(m, s.start, can_be_joined(&s) ? s.block : s.limit);
  }
}
