// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The buffers of the execution trace. A thread fills the buffers of its row
// with records, one buffer after the other. The writer turns each complete
// buffer into a batch of the file. This module owns the memory of the buffers.
// It also manages the slots in them, into which woken threads write their
// numbers. The diagram in trace_buf.c shows the states of a buffer. This module
// does not know the meaning of records. (Go: traceBuf)
//
// A record is a type byte (enum mprof_trace_type), followed by arguments
// encoded in LEB128. The first argument of most records is the time since the
// previous record, in ticks. Records do not contain the sequence number of
// their thread: the writer counts it.

#ifndef MPROF_RT_TRACE_TRACE_BUF_H
#define MPROF_RT_TRACE_TRACE_BUF_H

#include "trace_hooks/trace_hooks.h"

// Normal size of a buffer with its header, in bytes.
#define MPROF_TRACE_BUF_SIZE 65536u
// Size of a small buffer with its header. Small buffers are used if there are
// so many threads that buffers of the normal size would take up all the memory.
#define MPROF_TRACE_SMALL_SIZE 4096u
// Maximum length of a record in bytes, not counting the text of a LOG record.
#define MPROF_TRACE_RECORD_MAX 64u

struct mprof_trace_buf {
  // Next buffer of the row. Set when this buffer is complete; from then on the
  // writer may take this buffer.
  struct mprof_trace_buf *_Atomic next;
  uint32_t row;   // id of the row
  uint32_t size;  // capacity of data in bytes
  uint32_t len;   // bytes of data in use
  uint64_t ticks; // time before the first record, in ticks of the trace
  // State of the thread before the first record of the buffer; see struct
  // mprof_trace_thread. g is 0 if no thread had the row.
  uint64_t g;
  uint32_t seq, skipped;
  uint32_t start;
  int tid;
  bool waits;
  uint16_t labels; // number of the label set that the trace shows
  // slots: state that says whether a thread may write a slot of the buffer (see
  // trace_buf.c). generation: number of times that the buffer was reused. A
  // mark with another generation is stale.
  _Atomic uint32_t slots, generation;
  bool unmap_only; // the session has ended; unmap the buffer
  bool is_stuck;   // a thread may still write a slot at any time
  // Set in the first buffer of a mapping only: first buffer of the next
  // mapping.
  struct mprof_trace_buf *next_mapping;
  unsigned char data[];
};

// --- the pool of buffers ---
//
// These functions acquire the lock of the pool (rank MPROF_RANK_TRACE_BUF) when
// they take buffers from the pool or return them.

// Returns an empty buffer: a small one if is_small, else one of the normal
// size. Returns a small one, too, if no buffer of the normal size is available.
// Returns NULL if there is no memory, or if the limit is reached.
struct mprof_trace_buf *mprof_trace_buf_new(bool is_small);
// Empties a buffer and increments its generation.
void mprof_trace_buf_empty(struct mprof_trace_buf *b);
// Returns all buffers of a list to the pool. The buffers stay mapped, because
// threads of the session may still read their generation.
void mprof_trace_buf_free(struct mprof_trace_buf *list);
// Returns the buffers of an ended session to the pool and unmaps them. Call
// this when no thread reads the buffers any more.
void mprof_trace_buf_unmap(struct mprof_trace_buf *list);
// Removes the buffers of a session, and all unused buffers, from the pool. They
// stay mapped and are never used again. Call this if a thread may still be in
// the middle of a record, so that it may write to a buffer later.
void mprof_trace_buf_abandon(struct mprof_trace_buf *list);
// Unmaps the unused buffers. Call this only while there is no session.
void mprof_trace_buf_trim(void);
// Return the bytes in use, and the limit for them. The options trace_max_mb and
// trace_last_mb determine the limit.
size_t mprof_trace_buf_used(void);
size_t mprof_trace_buf_limit(void);
// Returns whether one buffer of the normal size for each of `rows` rows would
// take more than half of the limit.
bool mprof_trace_buf_are_many(uint32_t rows);
// Doubles the limit (on) or restores it. The limit is doubled while the trace
// of a flight recorder is written to a file, because the threads go on
// recording meanwhile.
void mprof_trace_buf_double(bool on);
// Empties the pool in a forked child, in which the buffers are not mapped.
void mprof_trace_buf_reset(void);

// --- arguments of records ---

// Writes v in LEB128 at p. Returns the address after the last byte.
static inline unsigned char *mprof_trace_put(unsigned char *p, uint64_t v) {
  while (v >= 0x80) {
    *p++ = (unsigned char)(v | 0x80);
    v >>= 7;
  }
  *p++ = (unsigned char)v;
  return p;
}
// Reads a number in LEB128 at *p, and advances *p past it.
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
// A thread that releases a lock does not know which thread it wakes. Therefore
// the record of the release contains an empty slot of eight bytes. The woken
// thread later writes its number and its sequence number into the slot. The
// four bytes before the slot receive the count of sequence numbers that exist
// in the other formats but not in the format 1.23.

#define MPROF_TRACE_BEFORE_SLOT 4u
// Returns the address of the slot in a record. p: the end of the other
// arguments.
static inline unsigned char *mprof_trace_slot_after(const unsigned char *p) {
  return (unsigned char *)(((uintptr_t)p + MPROF_TRACE_BEFORE_SLOT + 7) &
                           ~(uintptr_t)7);
}
// Writes into the slot of mark m that the release has woken thread g. seq: the
// sequence number of that thread; skipped: how many sequence numbers up to seq
// the format 1.23 does not count. Returns false if another thread has already
// written the slot, if the buffer has been written to the file, or if another
// thread takes too long to write a slot of the same buffer.
bool mprof_trace_mark_claim(const struct mprof_trace_mark *m, uint64_t g,
                            uint32_t seq, uint32_t skipped);
// Seals a buffer: after this call no thread writes a slot of the buffer. If a
// thread is writing a slot, waits for it for up to a second.
void mprof_trace_buf_seal(struct mprof_trace_buf *b);

#endif // MPROF_RT_TRACE_TRACE_BUF_H
