// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the stacks of threads for people, one thread after another, and stacks
// that are grouped as legacy text (legacy.h). The text for people
// goes to a file, to memory of the caller, or to stderr. A signal handler may
// write stacks to memory or to stderr. The code that the handler has
// interrupted may hold any lock, so in a handler addresses are not symbolized.
// (Go: Stack, writeGoroutineStacks)

#include "write/write_thread_stacks.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "lock_wait/hooked.h"
#include "lock_wait/lock_names.h"
#include "options/flags.h"
#include "process/process.h"
#include "stuck/stuck_types.h"
#include "symbolize/symbolize.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"
#include "sys/tls.h"
#include "thread/labels_text.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "thread_stacks/thread_slots.h"
#include "thread_stacks/thread_stacks.h"
#include "unwind/rules.h"
#include "unwind/stack_range.h"
#include "unwind/unwind_cfi.h"
#include "write/legacy.h"
#include "write/write_stuck.h"

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

static void put_thread(struct printer *p, const struct mprof_thread_slot *x) {
  const struct mprof_bucket *created = x->created;
  put_header(p, x);
  put_stack(p, x->stack);
  if (created && created->stack_len > 0) {
    put(p, "created by ");
    put_pc(p, created->stack[0], mprof_bucket_gone(created), put_first_frame);
  }
}

static void put_threads(struct printer *p,
                        const struct mprof_thread_stacks *s) {
  for (size_t i = 0; i < s->len; i++) {
    if (i > 0)
      put(p, "\n");
    put_thread(p, s->v[i]);
    if (p->text && p->text->len + 1 >= p->text->cap)
      return;
  }
}

int mprof_write_threads_list(struct mprof_outfile *f,
                             const struct mprof_thread_stacks *s) {
  struct printer p = {.file = f};
  p.has_names = mprof_flags.symbolize && mprof_symbolize_begin(true) == 0;
  put_threads(&p, s);
  if (p.has_names)
    mprof_symbolize_end();
  return f->error;
}

// --- grouped stacks, as legacy text ---

static void put_lock(struct mprof_outfile *f, uintptr_t object) {
  if (object == 0)
    return;
  char text[MPROF_LOCK_NAME + 32];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_lock_label(&t, object);
  mprof_outfile_text(f, "# lock ");
  mprof_outfile_text(f, text);
  mprof_outfile_text(f, "\n");
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
  mprof_outfile_text(w->out, ((const struct named_stacks *)named)->name);
  mprof_outfile_text(w->out, " profile: total ");
  mprof_outfile_dec(w->out, s->threads);
  mprof_outfile_text(w->out, "\n");
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
    put_lock(w->out, s->v[i]->stack->object);
    mprof_outfile_dec(w->out, s->v[i]->count);
    mprof_outfile_text(w->out, " @");
    mprof_legacy_stack(w, s->v[i]->stack);
  }
  mprof_legacy_stats(w);
}

int mprof_write_threads_text(struct mprof_outfile *f,
                             const struct mprof_thread_stacks *s,
                             const char *name) {
  const struct named_stacks x = {.stacks = s, .name = name};
  return mprof_legacy_write(f, s->len > 0, NULL, put_stacks, &x);
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
    put_threads(p, &s);
  mprof_thread_stacks_free(&s);
}

static void print(struct printer *p, const struct own_stack *own, bool all,
                  uintptr_t frame) {
  if (all)
    print_all(p, frame);
  else
    put_thread(p, own->slot);
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
  if (!mprof_init_ready() || !mprof_process_is_own() || !take_own(&own, frame))
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
