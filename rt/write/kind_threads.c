// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profiles threads and goroutine, which show the stacks of all threads. The
// text for people has one thread after another. The other formats have each
// group of equal stacks once. mprof_stack writes the text for people to memory
// of the caller or to stderr. A signal handler may call mprof_stack. The code
// that the handler has interrupted may hold any lock, so in a handler addresses
// are not symbolized. (Go: Stack, writeGoroutineStacks)

#include "write/kinds.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "options/flags.h"
#include "process/process.h"
#include "snapshot/snapshot.h"
#include "stuck/stuck.h"
#include "symbolize/symbolize.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/sort.h"
#include "sys/tls.h"
#include "thread/labels.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"
#include "write/legacy.h"
#include "write/pprof.h"
#include "write/profiles.h"
#include "write/report.h"

#include <errno.h>
#include <string.h>

// The destination of the text: either `file` or `text`. The other pointer is
// NULL.
struct printer {
  struct mprof_outfile *file;
  struct mprof_text *text;
  bool has_names;
  mprof_pc pc; // return address whose frames are being written
};

static void put(const struct printer *p, const char *s) {
  if (p->file)
    mprof_outfile_text(p->file, s);
  else
    mprof_text_str(p->text, s);
}

static void put_dec(const struct printer *p, uint64_t v) {
  char digits[24];
  struct mprof_text t = MPROF_TEXT(digits);
  mprof_text_dec(&t, v);
  put(p, digits);
}

static void put_hex(const struct printer *p, uint64_t v) {
  char digits[24];
  struct mprof_text t = MPROF_TEXT(digits);
  mprof_text_str(&t, "0x");
  mprof_text_hex(&t, v);
  put(p, digits);
}

// --- frames ---

static void put_place(const struct printer *p, const struct mprof_frame *f) {
  put(p, "\n\t");
  if (f->file[0] != '\0') {
    put(p, f->file);
    put(p, ":");
    put_dec(p, f->line);
  } else {
    put(p, f->module[0] != '\0' ? f->module : "?");
    put(p, "+");
    put_hex(p, f->offset);
  }
  put(p, "\n");
}

static void put_frame(const struct mprof_frame *f, void *arg) {
  const struct printer *p = arg;
  if (f->function[0] != '\0')
    put(p, f->function);
  else
    put_hex(p, p->pc - 1);
  put_place(p, f);
}

// Writes only the innermost function of an address, and not the functions into
// which it was inlined.
static void put_first_frame(const struct mprof_frame *f, void *arg) {
  struct printer *p = arg;
  if (p->pc != 0)
    put_frame(f, arg);
  p->pc = 0;
}

static void put_pc(struct printer *p, mprof_pc pc, uint32_t gone,
                   void (*fn)(const struct mprof_frame *, void *)) {
  p->pc = p->has_names ? mprof_symbolize_shown(pc, gone) : pc;
  if (p->has_names && mprof_symbolize(p->pc, fn, p))
    return;
  put_hex(p, pc - 1);
  put(p, "\n");
}

static void put_stack(struct printer *p, const struct mprof_bucket *b) {
  if (p->has_names && mprof_symbolize_want_stack(b))
    return;
  for (uint32_t i = 0; i < b->stack_len; i++)
    put_pc(p, b->stack[i], 0, put_frame);
  if (b->end != MPROF_STACK_COMPLETE)
    put(p, "[truncated]\n");
}

// --- threads ---

struct name {
  const struct printer *p;
  bool is_put;
};

static void put_function(const struct mprof_frame *f, void *arg) {
  struct name *n = arg;
  if (!n->is_put && f->function[0] != '\0') {
    put(n->p, f->function);
    n->is_put = true;
  }
}

// Writes the name of the function in which thread x waits. If this name is
// unknown, writes the kind of the wait. If the wait has lasted for a minute or
// more, also writes its duration.
static void put_wait(const struct printer *p,
                     const struct mprof_thread_slot *x) {
  struct name n = {.p = p};
  const mprof_pc op = x->stack->stack_len > 0 ? x->stack->stack[0] : 0;
  const char *hooked = mprof_hooked_name(op);
  if (hooked) {
    put(p, hooked);
    n.is_put = true;
  } else if (p->has_names) {
    mprof_symbolize(op, put_function, &n);
  }
  if (!n.is_put)
    put(p, mprof_kind_name(x->kind));
  const uint64_t minutes = mprof_clock_ns(x->waited) / 60000000000u;
  if (minutes > 0) {
    put(p, ", ");
    put_dec(p, minutes);
    put(p, minutes == 1 ? " minute" : " minutes");
  }
}

static void put_unread(const struct printer *p,
                       const struct mprof_thread_slot *x) {
  const char state[] = {x->kernel_state ? x->kernel_state : '?', '\0'};
  if (x->unnoted.op != 0) {
    put_wait(p, x);
    put(p, ", ");
  }
  put(p, "not read: state ");
  put(p, state);
  if (x->syscall >= 0) {
    put(p, ", system call ");
    put_dec(p, (uint64_t)x->syscall);
  }
}

static void put_part(void *arg, const char *s, size_t len) {
  const struct printer *p = arg;
  if (p->file)
    mprof_outfile_put(p->file, s, len);
  else
    mprof_text_mem(p->text, s, len);
}

// Writes the first line of a thread, such as
//   thread 4711 "worker" [pthread_cond_wait, 2 minutes] {"request":"7"}:
static void put_header(struct printer *p, const struct mprof_thread_slot *x) {
  char name[MPROF_THREAD_NAME];
  mprof_proc_thread_name(x->tid, name);
  put(p, "thread ");
  put_dec(p, (uint64_t)x->tid);
  put(p, " \"");
  put(p, name);
  put(p, "\" [");
  if (x->source == MPROF_STACK_OF_WAITING)
    put_wait(p, x);
  else if (x->source == MPROF_STACK_UNREAD)
    put_unread(p, x);
  else
    put(p, x->source == MPROF_STACK_IN_FUTEX ? "futex wait, not recorded"
                                             : "running");
  put(p, "]");
  if (x->stack->labels != 0) {
    put(p, " ");
    mprof_labels_write(x->stack->labels, put_part, p);
  }
  put(p, ":\n");
}

// Returns whether addresses are collected. If so, collects those that
// put_thread shows.
static bool want_thread(const struct printer *p,
                        const struct mprof_thread_slot *x) {
  const struct mprof_bucket *created = x->created;
  if (!p->has_names || !mprof_symbolize_want_stack(x->stack))
    return false;
  if (created && created->stack_len > 0)
    mprof_symbolize_want(
        mprof_symbolize_shown(created->stack[0], mprof_bucket_gone(created)));
  return true;
}

static void put_thread(struct printer *p, const struct mprof_thread_slot *x) {
  const struct mprof_bucket *created = x->created;
  if (want_thread(p, x))
    return;
  put_header(p, x);
  put_stack(p, x->stack);
  if (created && created->stack_len > 0) {
    put(p, "created by ");
    put_pc(p, created->stack[0], mprof_bucket_gone(created), put_first_frame);
  }
}

static void put_threads(struct printer *p, struct mprof_thread_slot *const *v,
                        size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (i > 0)
      put(p, "\n");
    put_thread(p, v[i]);
    if (p->text && p->text->len + 1 >= p->text->cap)
      return;
  }
}

// Looks up the names of all threads together, and writes the threads.
static void put_named(struct printer *p, struct mprof_thread_slot *const *v,
                      size_t len) {
  if (p->has_names && mprof_symbolize_collect(p->file)) {
    put_threads(p, v, len);
    mprof_symbolize_look_up(p->file);
    if (p->text)
      p->text->len = 0;
  }
  put_threads(p, v, len);
}

// Writes each thread of s separately. s must not be grouped.
static int write_list(struct mprof_outfile *f,
                      const struct mprof_thread_stacks *s) {
  struct printer p = {.file = f};
  p.has_names = mprof_flags.symbolize && mprof_symbolize_begin(true) == 0;
  put_named(&p, s->v, s->len);
  if (p.has_names)
    mprof_symbolize_end();
  return f->error;
}

// --- groups of equal stacks ---

static bool is_equal(const struct mprof_thread_slot *x,
                     const struct mprof_thread_slot *y) {
  return x->source == y->source && x->grade == y->grade &&
         x->holder == y->holder && !x->is_awaited && !y->is_awaited &&
         x->stack->hash == y->stack->hash && x->stack->end == y->stack->end &&
         x->stack->labels == y->stack->labels &&
         x->stack->object == y->stack->object &&
         x->stack->stack_len == y->stack->stack_len &&
         memcmp(x->stack->stack, y->stack->stack,
                x->stack->stack_len * sizeof(mprof_pc)) == 0;
}

static bool comes_by_stack(const void *a, const void *b) {
  const struct mprof_thread_slot *x = a, *y = b;
  if (x->stack->hash != y->stack->hash)
    return x->stack->hash < y->stack->hash;
  if (x->stack->labels != y->stack->labels)
    return x->stack->labels < y->stack->labels;
  if (x->stack->object != y->stack->object)
    return x->stack->object < y->stack->object;
  if (x->source != y->source)
    return x->source < y->source;
  if (x->grade != y->grade)
    return x->grade < y->grade;
  if (x->holder != y->holder)
    return x->holder < y->holder;
  if (x->is_awaited != y->is_awaited)
    return y->is_awaited;
  return x->is_awaited && x->tid < y->tid;
}

static bool join_equal(void *into, const void *next) {
  struct mprof_thread_slot *x = into;
  if (!is_equal(x, next))
    return false;
  x->count++;
  return true;
}

static bool has_more_threads(const void *a, const void *b) {
  const struct mprof_thread_slot *x = a, *y = b;
  return x->count != y->count ? x->count > y->count : comes_by_stack(x, y);
}

void mprof_thread_stacks_group(struct mprof_thread_stacks *s) {
  for (size_t i = 0; i < s->len; i++) {
    struct mprof_bucket *b = s->v[i]->stack;
    b->hash = mprof_bucket_hash(b->stack, b->stack_len, 0);
  }
  s->len =
      mprof_join_neighbours((void **)s->v, s->len, comes_by_stack, join_equal);
  mprof_sort((void **)s->v, s->len, has_more_threads);
}

static bool join_counts(void *into, const void *next) {
  struct mprof_thread_slot *x = into;
  const struct mprof_thread_slot *y = next;
  if (!is_equal(x, y))
    return false;
  x->count += y->count;
  return true;
}

// Subtracts the counts of `before` from those of `after`. Both are grouped by
// mprof_thread_stacks_group. *d refers to slots of both, whose counts this
// function changes. A negative count is a number modulo 2^64. Returns 0 or
// -ENOMEM. The caller frees d->v before the two others are freed.
static int subtract(struct mprof_thread_stacks *d,
                    const struct mprof_thread_stacks *after,
                    const struct mprof_thread_stacks *before) {
  const size_t n = after->len + before->len;
  *d = (struct mprof_thread_stacks){.time_ns = after->time_ns,
                                    .duration_ns =
                                        after->time_ns - before->time_ns,
                                    .unseen = after->unseen,
                                    .mapped_bytes = (n + 1) * sizeof(*d->v)};
  d->v = mprof_os_map(d->mapped_bytes);
  if (d->v == NULL)
    return -ENOMEM;
  for (size_t i = 0; i < before->len; i++)
    before->v[i]->count = -before->v[i]->count;
  memcpy(d->v, after->v, after->len * sizeof(*d->v));
  memcpy(d->v + after->len, before->v, before->len * sizeof(*d->v));
  const size_t joined =
      mprof_join_neighbours((void **)d->v, n, comes_by_stack, join_counts);
  for (size_t i = 0; i < joined; i++)
    if (d->v[i]->count != 0)
      d->v[d->len++] = d->v[i];
  return 0;
}

// --- grouped stacks, as legacy text ---

const char *mprof_unseen_text(char text[MPROF_UNSEEN_TEXT],
                              const struct mprof_thread_stacks *s) {
  struct mprof_text t = {.buf = text, .cap = MPROF_UNSEEN_TEXT};
  if (s->unseen == 0)
    return NULL;
  mprof_text_grouped(&t, s->unseen);
  mprof_text_str(&t, s->unseen == 1 ? " thread sleeps" : " threads sleep");
  mprof_text_str(&t, " in futex(2). The wait was not recorded, because it "
                     "began ");
  mprof_text_str(&t,
                 mprof_contention.notes_from_start
                     ? "in uninstrumented code"
                     : "before the first request for a profile of all threads, "
                       "or in uninstrumented code: set the option stuck=1");
  return text;
}

struct named_stacks {
  const struct mprof_thread_stacks *stacks;
  const char *name; // name of the profile
};

// Writes the stacks of all threads. A thread in state MPROF_STACK_UNREAD (its
// stack could not be read) has at most two addresses.
static void put_stacks(struct mprof_legacy *w, const void *named) {
  const struct mprof_thread_stacks *s =
      ((const struct named_stacks *)named)->stacks;
  mprof_legacy_total(w, ((const struct named_stacks *)named)->name, s->threads);
  char unseen[MPROF_UNSEEN_TEXT];
  if (mprof_unseen_text(unseen, s)) {
    mprof_outfile_text(w->out, "# ");
    mprof_outfile_text(w->out, unseen);
    mprof_outfile_text(w->out, "\n");
  }
  for (size_t i = 0; i < s->len && w->out->error == 0; i++) {
    if (s->v[i]->source == MPROF_STACK_UNREAD)
      mprof_outfile_text(w->out, "# not read\n");
    if (s->v[i]->source == MPROF_STACK_IN_FUTEX)
      mprof_outfile_text(w->out, "# futex wait, not recorded\n");
    if (s->v[i]->grade != MPROF_MAY_RUN) {
      mprof_outfile_text(w->out, "# ");
      mprof_outfile_text(w->out, mprof_stuck_grade_name(s->v[i]->grade));
      mprof_outfile_text(w->out, "\n");
    }
    if (s->v[i]->stack->object != 0) {
      char lock[MPROF_LOCK_NAME + 32];
      struct mprof_text t = MPROF_TEXT(lock);
      mprof_lock_label(&t, s->v[i]->stack->object);
      mprof_outfile_text(w->out, "# lock ");
      mprof_outfile_text(w->out, lock);
      mprof_outfile_text(w->out, "\n");
    }
    mprof_legacy_count(w, s->v[i]->count, s->v[i]->stack);
  }
  mprof_legacy_stats(w);
}

int mprof_write_threads_text(struct mprof_outfile *f,
                             const struct mprof_thread_stacks *s,
                             const char *name) {
  const struct named_stacks x = {.stacks = s, .name = name};
  return mprof_legacy_write(f, s->len > 0, put_stacks, &x);
}

// --- grouped stacks, in pprof's format ---

// Indices of the label keys in mprof_pprof_samples.keys.
enum { STATE, KIND, GRADE, LOCK, HOLDER, THREAD };

// Writes the stack of a thread as a sample. The sample of a waiting thread has
// the label "kind", with the same values as in the block profile. The sample of
// a stuck thread also has the label "grade", and the label "lock" if the lock
// is known, the label "holder" if one known thread holds this lock, and the
// label "thread" if another stuck thread waits for the thread.
static void put_sample(struct mprof_pprof *w, const void *stacks, size_t i,
                       const uint64_t *keys) {
  const struct mprof_thread_slot *x =
      ((const struct mprof_thread_stacks *)stacks)->v[i];
  static const char *const states[] = {[MPROF_STACK_OF_RUNNING] = "running",
                                       [MPROF_STACK_OF_WAITING] = "waiting",
                                       [MPROF_STACK_IN_FUTEX] = "waiting",
                                       [MPROF_STACK_UNREAD] = "unread"};
  const int64_t count = (int64_t)x->count;
  const bool is_unseen = x->source == MPROF_STACK_IN_FUTEX;
  const bool waits = x->source == MPROF_STACK_OF_WAITING || is_unseen;
  const char *kind =
      waits ? mprof_kind_name(is_unseen ? MPROF_KIND_futex : x->kind) : "";
  const char *grade = mprof_stuck_grade_name(x->grade);
  struct mprof_pprof_label labels[6] = {
      {.key = keys[STATE], .str = mprof_pprof_string(w, states[x->source])},
      {.key = keys[KIND], .str = mprof_pprof_string(w, kind)},
      {.key = keys[GRADE], .str = mprof_pprof_string(w, grade)}};
  size_t n = x->grade ? 3 : waits ? 2 : 1;
  char text[MPROF_LOCK_NAME + 32];
  if (x->stack->object != 0) {
    struct mprof_text t = MPROF_TEXT(text);
    mprof_lock_label(&t, x->stack->object);
    labels[n++] = (struct mprof_pprof_label){
        .key = keys[LOCK], .str = mprof_pprof_string(w, text)};
  }
  if (x->holder != 0) {
    struct mprof_text t = MPROF_TEXT(text);
    mprof_text_str(&t, "thread ");
    mprof_text_dec(&t, (uint64_t)x->holder);
    labels[n++] = (struct mprof_pprof_label){
        .key = keys[HOLDER], .str = mprof_pprof_string(w, text)};
  }
  if (x->is_awaited) {
    struct mprof_text t = MPROF_TEXT(text);
    mprof_text_dec(&t, (uint64_t)x->tid);
    labels[n++] = (struct mprof_pprof_label){
        .key = keys[THREAD], .str = mprof_pprof_string(w, text)};
  }
  mprof_pprof_sample(w, x->stack, &count, labels, n);
}

int mprof_write_threads_pprof(struct mprof_outfile *f,
                              const struct mprof_thread_stacks *s,
                              const char *name) {
  char unseen[MPROF_UNSEEN_TEXT];
  const struct mprof_pprof_head head = {.types = {{name, "count"}},
                                        .types_len = 1,
                                        .period_type = {name, "count"},
                                        .period = 1,
                                        .time_ns = s->time_ns,
                                        .duration_ns = s->duration_ns,
                                        .note = mprof_unseen_text(unseen, s),
                                        .empty_stack = "[unknown]"};
  return mprof_pprof_write(f, &head,
                           &(struct mprof_pprof_samples){s,
                                                         s->len,
                                                         {[STATE] = "state",
                                                          [KIND] = "kind",
                                                          [GRADE] = "grade",
                                                          [LOCK] = "lock",
                                                          [HOLDER] = "holder",
                                                          [THREAD] = "thread"},
                                                         put_sample});
}

// --- in memory, and on stderr ---

// Returns whether the stack has, or may have, the frame of a signal handler.
// The runtime does not know this if the stack is truncated at code without
// frame pointers.
static bool is_of_handler(const struct mprof_bucket *b) {
  for (uint32_t i = 0; i < b->stack_len; i++)
    if (mprof_is_signal_return(b->stack[i]))
      return true;
  return b->end == MPROF_STACK_CUT_CHAIN;
}

// The stack of the calling thread. Unwinding this stack needs no lock and
// interrupts no other thread.
struct own_stack {
  struct mprof_thread_slot *slot;
  size_t mapped_bytes;
};

static bool take_own(struct own_stack *own, uintptr_t frame) {
  const size_t depth = mprof_flags.stack_depth;
  own->mapped_bytes = sizeof(*own->slot) + mprof_slot_stack_bytes(depth);
  own->slot = mprof_os_map(own->mapped_bytes);
  if (!own->slot)
    return false;
  struct mprof_thread_slot *x = own->slot;
  x->stack = (struct mprof_bucket *)(x + 1);
  x->tid = mprof_sys_gettid();
  // Unwind with a copy of the thread's stack range. In a signal handler, the
  // interrupted code may be in the middle of changing the original.
  struct mprof_stack_range range =
      mprof_tls.self
          ? mprof_tls.self->range
          : mprof_stack_range_of_thread(x->tid == mprof_sys_getpid());
  enum mprof_stack_end end;
  x->stack->stack_len =
      (uint32_t)mprof_unwind_cfi(&range, frame, x->stack->stack, depth, &end);
  x->stack->end = (uint8_t)end;
  x->stack->labels = mprof_tls.labels;
  return true;
}

static void print_all(struct printer *p, uintptr_t frame) {
  struct mprof_thread_stacks s;
  if (mprof_thread_stacks_take(&s, frame, SIZE_MAX, mprof_flags.threads_stop) ==
      0)
    put_named(p, s.v, s.len);
  mprof_thread_stacks_free(&s);
}

static void print(struct printer *p, const struct own_stack *own, bool all,
                  uintptr_t frame) {
  if (all)
    print_all(p, frame);
  else
    put_named(p, &own->slot, 1);
}

static void print_guarded(struct printer *p, const struct own_stack *own,
                          bool all, uintptr_t frame) {
  if (!mprof_flags.symbolize || is_of_handler(own->slot->stack)) {
    print(p, own, all, frame);
    return;
  }
  mprof_lock_acquire(&mprof_writer_lock);
  p->has_names = mprof_symbolize_begin(true) == 0;
  print(p, own, all, frame);
  if (p->has_names)
    mprof_symbolize_end();
  mprof_lock_release(&mprof_writer_lock);
}

// Writes stacks of threads to the destination of p.
// all: true: the stacks of all threads; false: only the stack of the calling
//   thread.
// frame: frame address of mprof_stack. The stack of the calling thread begins
//   with the caller of mprof_stack.
static void print_from(struct printer *p, bool all, uintptr_t frame) {
  struct own_stack own;
  if (!mprof_process_ready() || !mprof_process_is_own() ||
      !take_own(&own, frame))
    return;
  if (mprof_guard_enter()) {
    struct mprof_thread *self = mprof_thread_self(false);
    own.slot->created = self ? self->created : NULL;
    print_guarded(p, &own, all, frame);
    mprof_guard_leave();
  } else {
    put_thread(p, own.slot);
    if (all)
      put(p, "\nother threads: not shown, because the call came from inside "
             "the profiler\n");
  }
  mprof_os_unmap(own.slot, own.mapped_bytes);
}

static void print_to_stderr(bool all, uintptr_t frame) {
  struct mprof_outfile *f = mprof_os_map(sizeof(*f));
  if (!f)
    return;
  if (mprof_outfile_open_stderr(f) == 0) {
    struct printer p = {.file = f};
    print_from(&p, all, frame);
    mprof_outfile_close(f);
  }
  mprof_os_unmap(f, sizeof(*f));
}

MPROF_PUBLIC size_t mprof_stack(char *buf, size_t len, int all) {
  struct mprof_text t = {.buf = buf, .cap = len};
  struct printer p = {.text = &t};
  const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  if (!buf)
    print_to_stderr(all != 0, frame);
  if (!buf || len == 0)
    return 0;
  buf[0] = '\0';
  print_from(&p, all != 0, frame);
  return t.len;
}

// --- the kind ---

static int take(const struct mprof_profile_request *r) {
  struct mprof_thread_stacks *s = r->copy;
  int error = mprof_thread_stacks_take(s, mprof_writer_caller.frame, SIZE_MAX,
                                       mprof_flags.threads_stop);
  if (error == 0 && r->form != MPROF_FORM_LIST)
    mprof_thread_stacks_group(s);
  return error;
}

static void release(void *copy) { mprof_thread_stacks_free(copy); }

static int write(struct mprof_outfile *f,
                 const struct mprof_profile_request *r) {
  return r->form == MPROF_FORM_PPROF
             ? mprof_write_threads_pprof(f, r->copy, r->row->name)
         : r->form == MPROF_FORM_TEXT
             ? mprof_write_threads_text(f, r->copy, r->row->name)
             : write_list(f, r->copy);
}

static bool is_on(void) { return mprof_flags.threads; }

static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  return is_on(); // the first thread always has a stack
}

static bool has_stacks(const void *copy) {
  const struct mprof_thread_stacks *s = copy;
  return s->len > 0;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct mprof_thread_stacks *s = copy;
  (void)part;
  mprof_put_things_and_stacks(t, s->threads, "thread", s->len);
}

static int write_delta(struct mprof_outfile *f,
                       const struct mprof_profile_request *r, void *before,
                       bool keeps_present) {
  struct mprof_thread_stacks d;
  (void)keeps_present;
  int error = subtract(&d, r->copy, before);
  if (error == 0)
    error = mprof_write_threads_pprof(f, &d, r->row->name);
  if (d.v != NULL)
    mprof_os_unmap(d.v, d.mapped_bytes);
  return error;
}

static uint64_t count(const struct mprof_profile_row *row, size_t number) {
  (void)row;
  (void)number;
  return mprof_proc_thread_count();
}

const struct mprof_profile_kind mprof_kind_threads = {
    .copy_bytes = sizeof(struct mprof_thread_stacks),
    .last_form = MPROF_FORM_LIST,
    .take = take,
    .free = release,
    .write = write,
    .write_delta = write_delta,
    .count = count,
    .has_data = has_data,
    .is_on = is_on,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
};
