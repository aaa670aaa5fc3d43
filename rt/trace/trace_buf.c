// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Owns the memory of the trace's buffers, and guards the woken fields of WAKE
// records (trace_records.h). Apart from these fields, this file does not know
// the contents of records. (Go: traceBuf)
//
// A mapping holds one normal buffer, or is permanently split into small
// buffers. A buffer belongs to a row (trace_rows.h), or is on a list of unused
// buffers. The member `woken_fields` of a buffer says whether a thread may
// write to a woken field of the buffer:
//
//                mprof_trace_buf_new,
//                mprof_trace_buf_empty        mprof_trace_mark_claim
//    unused ---------------------------> FREE <--------------------> WRITTEN
//      ^                                   |                            |
//      |  mprof_trace_buf_free      seal   |       seal after STUCK_MS  |
//      +------------------------------- SEALED <------------------------+
//
// FREE: any thread may begin to write to a woken field. WRITTEN: one thread is
// writing to one. SEALED: the buffer is being written to the file or returned
// to the pool, so no woken field may change any more. If a buffer had to be
// sealed in the state WRITTEN, is_stuck is set, and the buffer is never reused.
//
// A mark is a reference to a woken field. Each reuse of a buffer increments its
// generation, which makes old marks invalid.

#include "trace/trace_buf.h"

#include "options/flags.h"
#include "sys/arch.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/tls.h"
#include "trace/trace_events.h"

// Values of the member `woken_fields` of a buffer. See the diagram above.
enum { FIELDS_FREE, FIELDS_WRITTEN, FIELDS_SEALED };

static struct {
  struct mprof_lock lock; // guards the other fields
  struct mprof_trace_buf *unused, *unused_small;
  struct mprof_trace_buf *all; // list of the first buffers of all mappings
  // Mappings that are not in use, but cannot be unmapped, because they are in
  // the file of the option persist. Linked by next_mapping.
  struct mprof_trace_buf *kept;
  // The queue of complete buffers. last_complete is valid if the queue is not
  // empty.
  struct mprof_trace_buf *complete, *last_complete;
  size_t mapped;       // bytes of the mappings in `all`
  _Atomic size_t used; // bytes of buffers in use; read without the lock
} pool = {.lock = MPROF_LOCK_INIT(MPROF_RANK_TRACE_BUF)};

static size_t bytes_of(const struct mprof_trace_buf *b) {
  return sizeof(*b) + b->size;
}

static void set_size(struct mprof_trace_buf *b, uint32_t bytes) {
  b->size = bytes - (uint32_t)sizeof(*b);
}

// Returns memory for buffers. With the option persist, it is persistent memory,
// so that mprof recover finds the records after the process was killed.
static struct mprof_trace_buf *memory_locked(void) {
  struct mprof_trace_buf *b = pool.kept;
  if (b) {
    pool.kept = b->next_mapping;
    b->unmap_only = false;
    return b;
  }
  if (mprof_persist_head != NULL &&
      (b = mprof_persistent_trace_alloc(MPROF_TRACE_BUF_SIZE)) != NULL) {
    b->is_kept = true;
    return b;
  }
  b = mprof_os_map(MPROF_TRACE_BUF_SIZE);
  if (b)
    mprof_os_keep_from_children(b, MPROF_TRACE_BUF_SIZE);
  return b;
}

static struct mprof_trace_buf *map_locked(void) {
  if (pool.mapped + MPROF_TRACE_BUF_SIZE > mprof_trace_buf_limit())
    return NULL;
  struct mprof_trace_buf *b = memory_locked();
  if (!b)
    return NULL;
  set_size(b, MPROF_TRACE_BUF_SIZE);
  b->next_mapping = pool.all;
  pool.all = b;
  pool.mapped += MPROF_TRACE_BUF_SIZE;
  return b;
}

static struct mprof_trace_buf *pop_locked(struct mprof_trace_buf **list) {
  struct mprof_trace_buf *b = *list;
  if (b)
    *list = b->next;
  return b;
}

static struct mprof_trace_buf *take_large_locked(void) {
  struct mprof_trace_buf *b = pop_locked(&pool.unused);
  return b ? b : map_locked();
}

// Takes an unused small buffer from the pool. If the pool has none, splits a
// normal buffer permanently into small buffers.
static struct mprof_trace_buf *small_locked(void) {
  struct mprof_trace_buf *b = pop_locked(&pool.unused_small);
  if (b || !(b = take_large_locked()))
    return b;
  set_size(b, MPROF_TRACE_SMALL_SIZE);
  for (size_t at = MPROF_TRACE_SMALL_SIZE; at < MPROF_TRACE_BUF_SIZE;
       at += MPROF_TRACE_SMALL_SIZE) {
    struct mprof_trace_buf *part =
        __builtin_assume_aligned((char *)b + at, MPROF_PERSISTENT_UNIT);
    *part = (struct mprof_trace_buf){.next = pool.unused_small};
    set_size(part, MPROF_TRACE_SMALL_SIZE);
    pool.unused_small = part;
  }
  return b;
}

static struct mprof_trace_buf *take_locked(bool is_small) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_TRACE_BUF));
  // `used` may exceed the limit, because mprof_trace_buf_double(false) may just
  // have halved the limit.
  if (pool.used >= mprof_trace_buf_limit())
    return NULL;
  struct mprof_trace_buf *b = is_small ? NULL : take_large_locked();
  if (!b)
    b = small_locked();
  if (b)
    pool.used += bytes_of(b);
  return b;
}

static void begin(struct mprof_trace_buf *b) {
  MPROF_ASSERT(b->is_stuck || atomic_load(&b->woken_fields) != FIELDS_WRITTEN);
  b->next = NULL;
  b->is_ready = false;
  atomic_signal_fence(memory_order_release);
  b->len = 0;
  atomic_store_explicit(&b->woken_fields, FIELDS_FREE, memory_order_release);
}

// Prevents any further write to a woken field of buffer b. A thread may still
// have a mark of b when b is reused. The new generation makes the mark invalid.
static void end(struct mprof_trace_buf *b) {
  mprof_trace_buf_seal(b);
  atomic_fetch_add(&b->generation, 1);
}

void mprof_trace_buf_empty(struct mprof_trace_buf *b) {
  end(b);
  begin(b);
}

struct mprof_trace_buf *mprof_trace_buf_new(bool is_small) {
  mprof_lock_acquire(&pool.lock);
  struct mprof_trace_buf *b = take_locked(is_small);
  mprof_lock_release(&pool.lock);
  if (b)
    begin(b);
  return b;
}

static void put_back_locked(struct mprof_trace_buf *b) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_TRACE_BUF));
  if (b->is_stuck)
    return;
  struct mprof_trace_buf **list =
      bytes_of(b) == MPROF_TRACE_BUF_SIZE ? &pool.unused : &pool.unused_small;
  b->next = *list;
  *list = b;
}

void mprof_trace_buf_free(struct mprof_trace_buf *list) {
  while (list) {
    struct mprof_trace_buf *b = list;
    list = b->next;
    end(b);
    mprof_lock_acquire(&pool.lock);
    MPROF_ASSERT(pool.used >= bytes_of(b) && pool.used <= pool.mapped);
    pool.used -= bytes_of(b);
    put_back_locked(b);
    mprof_lock_release(&pool.lock);
  }
}

// Unmaps all mappings if `all` is true. Otherwise unmaps only the mappings
// whose first buffer has unmap_only set.
static void unmap_locked(bool all) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_TRACE_BUF));
  struct mprof_trace_buf **link = &pool.all, *b;
  while ((b = *link)) {
    if (!all && !b->unmap_only) {
      link = &b->next_mapping;
      continue;
    }
    *link = b->next_mapping;
    pool.mapped -= MPROF_TRACE_BUF_SIZE;
    if (b->is_kept) {
      b->next_mapping = pool.kept;
      pool.kept = b;
    } else {
      mprof_os_unmap(b, MPROF_TRACE_BUF_SIZE);
    }
  }
  if (all)
    pool.unused = pool.unused_small = NULL;
}

void mprof_trace_buf_trim(void) {
  mprof_lock_acquire(&pool.lock);
  for (struct mprof_trace_buf *b = pool.unused; b; b = b->next)
    b->unmap_only = true;
  pool.unused = NULL;
  unmap_locked(false);
  mprof_lock_release(&pool.lock);
}

void mprof_trace_buf_unmap(struct mprof_trace_buf *list) {
  mprof_lock_acquire(&pool.lock);
  while (list) {
    struct mprof_trace_buf *b = list;
    list = b->next;
    pool.used -= bytes_of(b);
    b->unmap_only = bytes_of(b) == MPROF_TRACE_BUF_SIZE;
    if (!b->unmap_only)
      put_back_locked(b);
  }
  unmap_locked(pool.used == 0);
  mprof_lock_release(&pool.lock);
}

// Makes sure that buffer b is never unmapped. If b is a normal buffer, removes
// its mapping from the list of mappings. If b is a small buffer, its mapping
// stays on the list. Such a mapping is unmapped only when no buffer counts as
// used, and an abandoned small buffer counts as used forever.
static void abandon_locked(struct mprof_trace_buf *b) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_TRACE_BUF));
  struct mprof_trace_buf **link = &pool.all;
  while (*link && *link != b)
    link = &(*link)->next_mapping;
  if (!*link || bytes_of(b) != MPROF_TRACE_BUF_SIZE)
    return;
  *link = b->next_mapping;
  pool.mapped -= MPROF_TRACE_BUF_SIZE;
}

void mprof_trace_buf_abandon(struct mprof_trace_buf *list) {
  mprof_lock_acquire(&pool.lock);
  for (struct mprof_trace_buf *b = list; b; b = b->next) {
    abandon_locked(b);
    if (bytes_of(b) == MPROF_TRACE_BUF_SIZE)
      pool.used -= MPROF_TRACE_BUF_SIZE;
  }
  for (struct mprof_trace_buf *b = pool.unused; b; b = b->next)
    abandon_locked(b);
  pool.unused = NULL;
  mprof_lock_release(&pool.lock);
}

void mprof_trace_buf_completed(struct mprof_trace_buf *b,
                               struct mprof_trace_row *r) {
  mprof_lock_acquire(&pool.lock);
  if (mprof_tls.trace_session == atomic_load(&mprof_trace_session)) {
    b->complete_row = r;
    b->next_complete = NULL;
    if (pool.complete)
      pool.last_complete->next_complete = b;
    else
      pool.complete = b;
    pool.last_complete = b;
  }
  mprof_lock_release(&pool.lock);
}

struct mprof_trace_row *mprof_trace_buf_take_completed(void) {
  mprof_lock_acquire(&pool.lock);
  struct mprof_trace_buf *b = pool.complete;
  if (b)
    pool.complete = b->next_complete;
  mprof_lock_release(&pool.lock);
  return b ? b->complete_row : NULL;
}

void mprof_trace_buf_drop_completed(void) {
  mprof_lock_acquire(&pool.lock);
  pool.complete = NULL;
  mprof_lock_release(&pool.lock);
}

static atomic_bool is_doubled;

void mprof_trace_buf_double(bool on) { atomic_store(&is_doubled, on); }

// Returns the memory limit in bytes, without doubling. The option trace_last_mb
// limits the buffers and the stacks of a flight recorder together. Therefore
// one sixteenth of the option's value is reserved for the stacks.
static size_t usual_limit(void) {
  const size_t last = (size_t)mprof_flags.trace_last_mb << 20;
  return last != 0 ? last - last / 16 : (size_t)mprof_flags.trace_max_mb << 20;
}

size_t mprof_trace_buf_limit(void) {
  const bool is_double =
      atomic_load_explicit(&is_doubled, memory_order_relaxed);
  return is_double ? 2 * usual_limit() : usual_limit();
}

bool mprof_trace_buf_are_many(uint32_t rows) {
  return 4 * (size_t)MPROF_TRACE_BUF_SIZE * rows > usual_limit();
}

size_t mprof_trace_buf_used(void) { return pool.used; }

void mprof_trace_buf_reset(void) {
  mprof_lock_reset(&pool.lock);
  // Forgets the parent's buffers, because they are not mapped in the child.
  pool.unused = pool.unused_small = pool.all = pool.kept = NULL;
  pool.complete = NULL;
  pool.used = pool.mapped = 0;
}

// --- woken fields ---

// Number of attempts before mprof_trace_mark_claim gives up because another
// thread is writing to a woken field. A write takes a few instructions, so a
// thread that has a processor finishes the write sooner.
#define SPINS 100

static bool enter_fields(struct mprof_trace_buf *b) {
  for (int i = 0; i < SPINS; i++) {
    uint32_t was = FIELDS_FREE;
    if (atomic_compare_exchange_strong_explicit(
            &b->woken_fields, &was, FIELDS_WRITTEN, memory_order_acquire,
            memory_order_relaxed))
      return true;
    if (was == FIELDS_SEALED)
      return false;
    mprof_relax();
  }
  return false;
}

bool mprof_trace_mark_claim(const struct mprof_trace_mark *m, uint64_t g,
                            uint32_t seq) {
  struct mprof_trace_buf *b = m->buf;
  MPROF_ASSERT(m->offset % 8 == 0 && m->offset + 8 <= b->size);
  if (!enter_fields(b))
    return false;
  uint64_t *field = __builtin_assume_aligned(b->data + m->offset, 8);
  const bool is_mine =
      atomic_load_explicit(&b->generation, memory_order_relaxed) ==
          m->generation &&
      *field == 0;
  if (is_mine)
    *field = g << 32 | seq;
  atomic_store_explicit(&b->woken_fields, FIELDS_FREE, memory_order_release);
  return is_mine;
}

// Maximum time in milliseconds to wait for a thread that is writing to a woken
// field. If the thread takes longer, it gets no processor time, or has left the
// write by longjmp and never finishes it.
#define STUCK_MS 1000

void mprof_trace_buf_seal(struct mprof_trace_buf *b) {
  for (unsigned ms = 0; ms <= STUCK_MS; ms++) {
    uint32_t was = FIELDS_FREE;
    if (atomic_compare_exchange_strong(&b->woken_fields, &was, FIELDS_SEALED) ||
        was == FIELDS_SEALED)
      return;
    mprof_sys_sleep_ms(ms > 0);
  }
  b->is_stuck = true;
  atomic_store(&b->woken_fields, FIELDS_SEALED);
}
