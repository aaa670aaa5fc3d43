// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers of the execution trace: records as their thread makes them, in the
// order of its row, until the writer makes a batch of them. (Go: traceBuf)
//
// A record is a byte, enum mprof_trace_type, then numbers in LEB128, the first
// of most the ticks since the record before. Sequence numbers of threads are
// not there: the writer counts them.

#ifndef MPROF_RT_TRACE_TRACE_BUF_H
#define MPROF_RT_TRACE_TRACE_BUF_H

#include "thread/trace_hooks.h"

#define MPROF_TRACE_BUF_SIZE 65536u
// Where so many threads have one that those would be all there is room for.
#define MPROF_TRACE_SMALL_SIZE 4096u
// The most that one record takes, but for a log's text.
#define MPROF_TRACE_RECORD_MAX 64u

struct mprof_trace_buf {
  // The row's next, once this one is complete; then the writer may take it.
  struct mprof_trace_buf *_Atomic next;
  uint32_t row;   // of the processor slot that it is of
  uint32_t size;  // bytes that data has room for
  uint32_t len;   // bytes of data
  uint64_t ticks; // what the first record's ticks are since
  // Of the row's thread before the first record: its numbers so far, whether it
  // waits, the stack of what it runs. g is 0 without a thread.
  uint64_t g;
  uint32_t seq, skipped;
  uint32_t start;
  int tid;
  bool waits;
  uint16_t labels; // of the thread, as far as the trace has them
  // Whether a thread writes a waker's slot now, or none may any more; see
  // mprof_trace_mark_claim. A slot named by another generation is of an earlier
  // use.
  _Atomic uint32_t slots, generation;
  bool is_over;                 // its session: it is only to be unmapped
  bool is_stuck;                // somebody may write a slot of it at any time
  struct mprof_trace_buf *also; // of a mapping's first: another mapping's
  unsigned char data[];
};

// One that is empty, of the usual size or a small one, or the other where that
// is all there is; NULL when there is no memory, or trace_max_mb are in use.
struct mprof_trace_buf *mprof_trace_buf_new(bool is_small);
// Begins one anew.
void mprof_trace_buf_empty(struct mprof_trace_buf *b);
// Gives all of a list back. They stay mapped: threads of the session may still
// look at a slot's generation.
void mprof_trace_buf_free(struct mprof_trace_buf *list);
// The same of a session that is over, for which nobody looks any more.
void mprof_trace_buf_unmap(struct mprof_trace_buf *list);
// The same of one that a thread has left in the middle of a record: they, and
// those that nobody uses, stay mapped and are not used again.
void mprof_trace_buf_abandon(struct mprof_trace_buf *list);
// While there is no session: what none has needs no memory.
void mprof_trace_buf_trim(void);
// Bytes in use, and at most.
size_t mprof_trace_buf_used(void);
size_t mprof_trace_buf_limit(void);
// Whether one of the usual size for each of so many rows would take more than
// half of that.
bool mprof_trace_buf_are_many(uint32_t rows);
// While what a recorder had is being written, what follows needs room too.
void mprof_trace_buf_double(bool on);
// In a forked child.
void mprof_trace_buf_reset(void);

static inline unsigned char *mprof_trace_put(unsigned char *p, uint64_t v) {
  while (v >= 0x80) {
    *p++ = (unsigned char)(v | 0x80);
    v >>= 7;
  }
  *p++ = (unsigned char)v;
  return p;
}
static inline uint64_t mprof_trace_get(const unsigned char **p) {
  uint64_t v = 0;
  for (unsigned shift = 0;; shift += 7) {
    unsigned char byte = *(*p)++;
    v |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return v;
  }
}

// --- wakers ---

// Where a release has left room for the thread that it will turn out to have
// woken: eight bytes in the releaser's row, for its number and sequence number,
// and before them four for how many of those the format 1.23 does not count.
#define MPROF_TRACE_BEFORE_SLOT 4u
// The slot of a record whose numbers end at p.
static inline unsigned char *mprof_trace_slot_after(const unsigned char *p) {
  return (unsigned char *)(((uintptr_t)p + MPROF_TRACE_BEFORE_SLOT + 7) &
                           ~(uintptr_t)7);
}
// Writes who was woken, thread g at its sequence number seq. False if somebody
// else did, if the row was written meanwhile, or while another thread stands
// still that writes a slot of the same buffer.
bool mprof_trace_mark_claim(const struct mprof_trace_mark *m, uint64_t g,
                            uint32_t seq, uint32_t skipped);
// Has no slot of the buffer written any more.
void mprof_trace_buf_seal(struct mprof_trace_buf *b);

#endif // MPROF_RT_TRACE_TRACE_BUF_H
