// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The buffers of the execution trace. A thread fills the buffers of its row
// with records, one buffer after the other. The writer makes a batch of the
// file of each complete buffer. This module owns the memory of the buffers, and
// the slots in them that woken threads sign; trace_buf.c draws the states of a
// buffer. It knows nothing of the meaning of records. (Go: traceBuf)
//
// A record is a byte (enum mprof_trace_type), then numbers in LEB128. The first
// number of most records is the time in ticks since the record before. Records
// have no sequence numbers of threads: the writer counts them.

#ifndef MPROF_RT_TRACE_TRACE_BUF_H
#define MPROF_RT_TRACE_TRACE_BUF_H

#include "trace_hooks/trace_hooks.h"

// Usual size of a buffer with its header, in bytes.
#define MPROF_TRACE_BUF_SIZE 65536u
// Size of a small buffer. Used if there are so many threads that buffers of the
// usual size would take all of the memory.
#define MPROF_TRACE_SMALL_SIZE 4096u
// Maximum length of a record in bytes, without the text of LOG.
#define MPROF_TRACE_RECORD_MAX 64u

struct mprof_trace_buf {
  // Next buffer of the row. Set when this one is complete: then the writer may
  // take this one.
  struct mprof_trace_buf *_Atomic next;
  uint32_t row;   // id of the row
  uint32_t size;  // capacity of data in bytes
  uint32_t len;   // bytes of data in use
  uint64_t ticks; // time before the first record, in ticks of the trace
  // State of the row's thread before the first record, as in struct
  // mprof_trace_thread. g is 0 if the row has no thread.
  uint64_t g;
  uint32_t seq, skipped;
  uint32_t start;
  int tid;
  bool waits;
  uint16_t labels; // set of labels that the trace has for the thread
  // Who may write the slots in the buffer (see trace_buf.c), and the number of
  // times that the buffer was reused. A mark with another generation is stale.
  _Atomic uint32_t slots, generation;
  bool unmap_only; // its session has ended: the buffer is to be unmapped
  bool is_stuck;   // a thread may still write a slot at any time
  // In the first buffer of a mapping: first buffer of the next mapping.
  struct mprof_trace_buf *next_mapping;
  unsigned char data[];
};

// --- the pool of buffers ---
//
// The functions that take buffers from the pool, or give buffers back, take the
// pool's lock (rank MPROF_RANK_TRACE_BUF).

// Returns an empty buffer, of the usual size or a small one. If none of the
// usual size is left, returns a small one. Returns NULL if there is no memory,
// or if the limit is in use.
struct mprof_trace_buf *mprof_trace_buf_new(bool is_small);
// Empties a buffer, which gets a new generation.
void mprof_trace_buf_empty(struct mprof_trace_buf *b);
// Gives all buffers of a list back. They stay mapped, because threads of the
// session may still look at their generation.
void mprof_trace_buf_free(struct mprof_trace_buf *list);
// Gives back and unmaps the buffers of a session that has ended, after no
// thread looks at them any more.
void mprof_trace_buf_unmap(struct mprof_trace_buf *list);
// Gives up the buffers of a session that a thread has left in the middle of a
// record. These buffers, and the unused ones, stay mapped and are never used
// again.
void mprof_trace_buf_abandon(struct mprof_trace_buf *list);
// Unmaps the unused buffers. Call while there is no session.
void mprof_trace_buf_trim(void);
// Return the bytes in use, and their limit, which the options trace_max_mb and
// trace_last_mb give.
size_t mprof_trace_buf_used(void);
size_t mprof_trace_buf_limit(void);
// Returns whether a buffer of the usual size for each of so many rows would
// take more than half of the limit.
bool mprof_trace_buf_are_many(uint32_t rows);
// Doubles the limit while a recorder's trace is being written, because the
// threads go on recording meanwhile.
void mprof_trace_buf_double(bool on);
// Empties the pool in a forked child, where the buffers are not mapped.
void mprof_trace_buf_reset(void);

// --- numbers in records ---

// Writes a number in LEB128 at p. Returns the end.
static inline unsigned char *mprof_trace_put(unsigned char *p, uint64_t v) {
  while (v >= 0x80) {
    *p++ = (unsigned char)(v | 0x80);
    v >>= 7;
  }
  *p++ = (unsigned char)v;
  return p;
}
// Reads a number in LEB128 at *p, and moves *p to its end.
static inline uint64_t mprof_trace_get(const unsigned char **p) {
  uint64_t v = 0;
  for (unsigned shift = 0;; shift += 7) {
    unsigned char byte = *(*p)++;
    v |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return v;
  }
}

// --- slots ---
//
// A release does not know which thread it wakes. So its record has a slot of
// eight bytes for the number and the sequence number of the woken thread, which
// that thread signs later. Four bytes before the slot say how many sequence
// numbers the format 1.23 does not count.

#define MPROF_TRACE_BEFORE_SLOT 4u
// Returns the slot of a record whose numbers end at p.
static inline unsigned char *mprof_trace_slot_after(const unsigned char *p) {
  return (unsigned char *)(((uintptr_t)p + MPROF_TRACE_BEFORE_SLOT + 7) &
                           ~(uintptr_t)7);
}
// Signs the slot of mark m: the release has woken thread g, whose sequence
// number is seq; the format 1.23 does not count `skipped` numbers. Returns
// false if another thread has signed, if the buffer has been written to the
// file, or if another thread that is writing a slot of the buffer does not get
// on.
bool mprof_trace_mark_claim(const struct mprof_trace_mark *m, uint64_t g,
                            uint32_t seq, uint32_t skipped);
// Seals a buffer: no thread writes a slot of it afterwards. Waits for a thread
// that is writing one, for up to a second.
void mprof_trace_buf_seal(struct mprof_trace_buf *b);

#endif // MPROF_RT_TRACE_TRACE_BUF_H
