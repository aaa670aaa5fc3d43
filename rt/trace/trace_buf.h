// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The buffers of the trace. A thread fills the buffers of its row
// (trace_rows.h) with records. The writer of the file turns each complete
// buffer into a batch of the file.
//
// The diagram in trace_buf.c shows when threads may write to the woken fields
// of a buffer, that is, of its WAKE records (trace_records.h).

#ifndef MPROF_RT_TRACE_TRACE_BUF_H
#define MPROF_RT_TRACE_TRACE_BUF_H

#include "sys/base.h"

struct mprof_trace_mark;
struct mprof_trace_row;

// Size in bytes of a normal buffer, including its header.
#define MPROF_TRACE_BUF_SIZE 65536u
// Size in bytes of a small buffer, including its header. Small buffers are used
// if so many threads are traced that normal buffers would take up all the
// memory.
#define MPROF_TRACE_SMALL_SIZE 4096u

struct mprof_trace_buf {
  // Next buffer of the same row. This pointer is set when this buffer is
  // complete. From then on, the thread that writes the file may take this
  // buffer out of the row.
  struct mprof_trace_buf *_Atomic next;
  uint32_t row;   // id of the row with this buffer
  uint32_t size;  // capacity of data in bytes
  uint32_t len;   // bytes of data in use
  uint64_t ticks; // time of the last record before this buffer, in trace ticks
  // State of the thread before it added the first record to this buffer; see
  // struct mprof_trace_thread. g is 0 if the buffer's row belonged to no thread
  // at that time.
  uint64_t g;
  uint32_t seq;
  uint32_t start;
  int tid;
  bool waits;
  uint16_t labels; // number of the label set that was recorded last
  // woken_fields: whether a thread may write to a woken field of this buffer,
  // or is writing to one now (trace_buf.c). generation: how often the buffer
  // was reused. A mark with another generation is stale.
  _Atomic uint32_t woken_fields, generation;
  bool unmap_only; // the buffer's mapping is about to be unmapped
  bool is_stuck;   // a thread may still write to a woken field
  // The header has the state of the thread. mprof recover takes the state from
  // the row if a process was killed while it emptied the buffer of the row.
  bool is_ready;
  bool is_kept; // the memory is never unmapped, because it is persistent
  // First buffer of the next mapping. Set only in the first buffer of a
  // mapping.
  struct mprof_trace_buf *next_mapping;
  // The row of a buffer in the queue of complete buffers, and the buffer that
  // follows in this queue. Guarded by the lock of the pool.
  struct mprof_trace_row *complete_row;
  struct mprof_trace_buf *next_complete;
  unsigned char data[];
};

// --- the pool of buffers ---
//
// These functions acquire the lock of the pool (rank MPROF_RANK_TRACE_BUF) when
// they take buffers from the pool or return them.

// Returns an empty buffer. The buffer is small if is_small is true, or if no
// normal buffer is available. Returns NULL if there is no memory, or if the
// memory limit of the trace is reached.
struct mprof_trace_buf *mprof_trace_buf_new(bool is_small);
// Empties buffer b for reuse. Increments its generation, so that marks of its
// old records become invalid.
void mprof_trace_buf_empty(struct mprof_trace_buf *b);
// Returns all buffers of `list` to the pool of unused buffers. The buffers stay
// mapped, because a thread may still have a mark of a buffer. The thread reads
// the buffer's header to find that the mark is stale.
void mprof_trace_buf_free(struct mprof_trace_buf *list);
// Returns the buffers of an ended session to the pool of unused buffers. Unmaps
// the normal buffers at once. Unmaps the small buffers only when no buffer of
// any session is in use. Call this when no thread reads the buffers any more.
void mprof_trace_buf_unmap(struct mprof_trace_buf *list);
// Removes from the pool all buffers of `list`, which belong to a session, and
// all unused buffers of normal size. These buffers stay mapped and are never
// used again. Call this if a thread may still be adding a record, because the
// thread may write to a buffer later.
void mprof_trace_buf_abandon(struct mprof_trace_buf *list);
// Unmaps the unused buffers. Call this only while there is no session.
void mprof_trace_buf_trim(void);
// Return the bytes of buffers in use, and the limit for these bytes. The
// options trace_max_mb and trace_last_mb determine the limit.
size_t mprof_trace_buf_used(void);
size_t mprof_trace_buf_limit(void);
// Returns whether there are so many rows that small buffers are needed. This is
// the case if one normal buffer for each row would take more than a quarter of
// the memory limit: with the default limit, the rest is enough for a small
// buffer of each of 10,000 threads.
bool mprof_trace_buf_are_many(uint32_t rows);
// Doubles the memory limit if `on` is true, and restores it otherwise. The
// limit is doubled while the trace of a flight recorder is written to a file,
// because the threads continue to record during this time.
void mprof_trace_buf_double(bool on);
// The queue of the session's complete buffers. A buffer is complete when a
// later buffer of its row exists. Thousands of threads may have rows, so the
// oldest complete buffer must be found without a search.
//
// Appends buffer b, the last complete buffer of the calling thread's row r.
// Does nothing if the thread's session has ended meanwhile.
void mprof_trace_buf_completed(struct mprof_trace_buf *b,
                               struct mprof_trace_row *r);
// Removes the buffer that was completed first from the queue, and returns its
// row. The first buffer of this row is complete. Returns NULL if the queue is
// empty.
struct mprof_trace_row *mprof_trace_buf_take_completed(void);
// Empties the queue at the end of the session.
void mprof_trace_buf_drop_completed(void);
// Empties the pool in a forked child, because its buffers are not mapped in the
// child.
void mprof_trace_buf_reset(void);

// --- woken fields ---

// Records that a release has woken thread g. Writes g and seq into the woken
// field to which mark m refers. seq: sequence number of the wake-up. Returns
// false if another thread has already written to the field, or if the buffer
// has been written to the file. Also returns false if another thread takes too
// long to write to a woken field of the same buffer.
bool mprof_trace_mark_claim(const struct mprof_trace_mark *m, uint64_t g,
                            uint32_t seq);
// Seals buffer b: after this call, no thread begins to write to a woken field
// of the buffer. If a thread is writing to one now, waits for the thread for up
// to a second. If the thread is still writing then, sets b->is_stuck.
void mprof_trace_buf_seal(struct mprof_trace_buf *b);

#endif // MPROF_RT_TRACE_TRACE_BUF_H
