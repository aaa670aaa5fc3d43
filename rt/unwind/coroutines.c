// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows C++20 coroutines to the coroutines that await them. See unwind.h.

#include "unwind/unwind.h"

#include "sys/os.h"
#include "unwind/rules.h"

#include <string.h>

// Maximum number of coroutines that are shown to await one running coroutine.
#define AWAITING_MAX 64
// A record is searched for in this many bytes below the frame pointer.
#define SEARCHED_BYTES 16384u
// Number of bytes of a coroutine's frame that are read at once. The awaiting
// coroutine's handle is almost always among them.
#define FRAME_WORDS 16

// The beginning of a coroutine's frame.
struct coroutine {
  uintptr_t address;
  size_t bytes; // number of bytes in words
  union {
    struct {
      uintptr_t resume, destroy; // resume: 0 at the final suspension
    };
    uintptr_t words[FRAME_WORDS];
  };
};

// Returns whether addr is an address in the module of pc.
static bool is_beside(uintptr_t addr, uintptr_t pc) {
  const struct mprof_code_range m = mprof_eh_module(pc);
  return addr - m.begin < m.end - m.begin;
}

static bool is_code(uintptr_t addr) { return is_beside(addr, addr); }

// Reads the frame at `address`. Returns false if there is no coroutine's frame.
static bool read_frame(uintptr_t address, struct coroutine *c) {
  if ((address & 7) != 0)
    return false;
  c->address = address;
  c->bytes = mprof_sys_copy(c->words, address, sizeof(c->words));
  return c->bytes >= 2 * sizeof(uintptr_t) &&
         (c->resume == 0 || is_code(c->resume)) && is_code(c->destroy);
}

// Returns the word at this offset from the start of the frame of c, or 0 if it
// is not readable.
static uintptr_t word_of(const struct coroutine *c, uint32_t offset) {
  uintptr_t word;
  if ((offset & 7) == 0 && offset + sizeof(word) <= c->bytes)
    return c->words[offset / 8];
  return mprof_sys_copy(&word, c->address + offset, sizeof(word)) ==
                 sizeof(word)
             ? word
             : 0;
}

// Reads the layout of the coroutine whose code begins at `function`. Returns
// false if the coroutine was compiled without -fmprof-coroutines.
static bool read_layout(uintptr_t function, struct mprof_coroutine_layout *l) {
  return mprof_sys_copy(l, function - sizeof(*l), sizeof(*l)) == sizeof(*l) &&
         l->magic == MPROF_COROUTINE_LAYOUT;
}

void mprof_coroutine_note(struct mprof_running_coroutines *running, size_t at,
                          mprof_pc pc, uintptr_t lo, uintptr_t bp) {
  struct mprof_coroutine_layout l;
  struct coroutine c;
  uintptr_t function;
  if (bp - lo > SEARCHED_BYTES)
    lo = bp - SEARCHED_BYTES;
  if (running->len == MPROF_RUNNING_MAX)
    return;
  for (uintptr_t r = bp - sizeof(struct mprof_coroutine_record); r >= lo;
       r -= 8) {
    if (mprof_stack_word(r) != MPROF_COROUTINE_RECORD ||
        mprof_stack_word(r + 8) != bp)
      continue;
    // An earlier call of a resume function may have left the record in memory
    // that another function uses now. So the record must be the one of the
    // function at pc.
    function = mprof_eh_function(pc - 1).begin;
    if (function >= MPROF_PAGE && read_layout(function, &l) &&
        read_frame(mprof_stack_word(r + 16), &c) &&
        (c.resume == 0 || c.resume == function)) {
      running->of[running->len].at = at;
      running->of[running->len].function = function;
      running->of[running->len++].frame = c.address;
    }
    return;
  }
}

// --- awaiting coroutines ---

static bool is_running(const struct mprof_running_coroutines *running,
                       uintptr_t frame) {
  for (size_t i = 0; i < running->len; i++)
    if (running->of[i].frame == frame)
      return true;
  return false;
}

// Returns the address where the coroutine c with the layout l is suspended.
// Returns an address at the start of its resume function if the code is
// inlined in another function: debug information would then also show that
// function. Sets *function to the function with the address. Reads unwind
// tables only of the module of pc, which is a function that runs.
static mprof_pc site_of(const struct coroutine *c,
                        const struct mprof_coroutine_layout *l, uintptr_t pc,
                        uintptr_t *function) {
  const uintptr_t site = word_of(c, l->site);
  struct mprof_coroutine_layout other;
  if (site >= MPROF_PAGE && is_beside(site, pc)) {
    *function = mprof_eh_function(site - 1).begin;
    if (*function == c->resume ||
        (*function >= MPROF_PAGE && read_layout(*function, &other) &&
         other.name == l->name))
      return site;
  }
  *function = c->resume;
  return c->resume + 1;
}

// Returns whether one of the n return addresses at pcs is in this function.
static bool is_in(uintptr_t function, const mprof_pc *pcs, size_t n) {
  const struct mprof_code_range code = mprof_eh_function(function);
  for (size_t i = 0; i < n; i++)
    if (pcs[i] - 1 - code.begin < code.end - code.begin)
      return true;
  return false;
}

// Writes to `awaiting` where the coroutines that await the running coroutine i
// are suspended, and returns their number. rest: the n callers of the running
// coroutine. Stops at a coroutine that is one of these callers.
static size_t follow(const struct mprof_running_coroutines *running, size_t i,
                     const mprof_pc *rest, size_t n, mprof_pc *awaiting) {
  struct mprof_coroutine_layout l;
  struct coroutine c;
  uintptr_t function, earlier = 0;
  size_t len = 0;
  if (!read_frame(running->of[i].frame, &c) ||
      !read_layout(running->of[i].function, &l))
    return 0;
  while (len < AWAITING_MAX && l.continuation != UINT32_MAX) {
    const uintptr_t next = word_of(&c, l.continuation);
    // The coroutine of std::noop_coroutine has the same function twice. Invalid
    // handles may form a cycle, which `earlier` detects after a few rounds.
    if (next == earlier || is_running(running, next) || !read_frame(next, &c) ||
        c.resume == 0 || c.resume == c.destroy)
      return len;
    if ((len & (len - 1)) == 0)
      earlier = next;
    if (!read_layout(c.resume, &l)) {
      awaiting[len++] = c.resume + 1;
      return len;
    }
    const mprof_pc site = site_of(&c, &l, running->of[i].function, &function);
    // A coroutine that starts at once may run its first part as an ordinary
    // function, which calls the running coroutine.
    if (function != c.resume && is_in(function, rest, n))
      return len;
    awaiting[len++] = site;
  }
  return len;
}

size_t mprof_coroutines_insert(const struct mprof_running_coroutines *running,
                               mprof_pc *pcs, size_t n, size_t depth,
                               bool *is_cut) {
  mprof_pc awaiting[AWAITING_MAX];
  // Begins at the root, so that the indices of the others stay right.
  for (size_t i = running->len; i-- > 0;) {
    const size_t at = running->of[i].at + 1;
    if (at > n)
      continue;
    size_t len = follow(running, i, pcs + at, n - at, awaiting);
    size_t kept = n - at;
    if (len + kept > depth - at) {
      len = len < depth - at ? len : depth - at;
      kept = depth - at - len;
      *is_cut = true;
    }
    memmove(pcs + at + len, pcs + at, kept * sizeof(*pcs));
    memcpy(pcs + at, awaiting, len * sizeof(*pcs));
    n = at + len + kept;
  }
  return n;
}
