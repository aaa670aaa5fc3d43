// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profiles threadleak and goroutineleak, which show the stuck threads.
// stuck.c finds these threads. The report, and the text for people, show them
// in this order:
//
//   each cycle (deadlock), with the locks that its threads hold and wait for
//   threads that wait for a lock whose holder has ended
//   threads that wait for a stuck thread
//   threads that wait for an object that no thread can reach
//
// The last lines tell for which waits stuck.c could not decide whether the
// thread is stuck, and why.

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "lock_wait/holds.h"
#include "lock_wait/hooked.h"
#include "options/flags.h"
#include "stuck/stuck.h"
#include "symbolize/maps.h"
#include "sys/base.h"
#include "sys/clock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "thread/proc_threads.h"
#include "thread_stacks/thread_stacks.h"
#include "write/kinds.h"
#include "write/profiles.h"
#include "write/report.h"

#include <string.h>

struct writer {
  struct mprof_report *w;
  const struct mprof_stuck *g;
  // Buffer for the recorded stack of a call that took a lock.
  struct mprof_bucket *bucket;
};

// --- words ---

static const char *lock_word(enum mprof_awaited awaited) {
  switch (awaited) {
  case MPROF_AWAITS_MUTEX:
    return "mutex ";
  case MPROF_AWAITS_READ:
  case MPROF_AWAITS_WRITE:
    return "rwlock ";
  case MPROF_AWAITS_SPIN:
    return "spin lock ";
  default:
    return "lock ";
  }
}

static void put_label(struct mprof_report *w, uintptr_t object) {
  char text[MPROF_LOCK_NAME + 32];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_lock_label(&t, object);
  mprof_report_put(w, text);
}

static void put_thread_name(struct mprof_report *w, int tid) {
  char name[MPROF_THREAD_NAME];
  mprof_report_put(w, "thread ");
  mprof_report_plain(w, tid, "");
  if (!mprof_proc_thread_name(tid, name) || name[0] == '\0')
    return;
  mprof_report_put(w, " \"");
  mprof_report_put(w, name);
  mprof_report_put(w, "\"");
}

static void put_age(struct mprof_report *w, uint64_t since) {
  const uint64_t now = mprof_clock_now();
  mprof_report_time(w, (int64_t)mprof_clock_ns(now > since ? now - since : 0));
}

// --- one thread ---

// Writes the holders of the lock that thread x waits for, such as ", held by
// threads 4711, 4712 and 12 more".
static void put_holders(struct mprof_report *w, const struct mprof_stuck *g,
                        const struct mprof_stuck_thread *x) {
  enum { NAMED = 8 };
  const uint32_t named = x->holds_len <= NAMED ? x->holds_len : NAMED;
  mprof_report_put(w, x->needs_all ? ", held by some of the threads "
                                   : ", held by threads ");
  for (uint32_t i = 0; i < named; i++) {
    const bool is_last = i + 1 == x->holds_len;
    mprof_report_put(w, i == 0 ? "" : is_last ? " and " : ", ");
    mprof_report_plain(w, g->v[g->holds[x->holds + i]->thread].tid, "");
  }
  if (named < x->holds_len) {
    mprof_report_put(w, " and ");
    mprof_report_count(w, x->holds_len - named, " more");
  }
}

// Returns the id of the thread that holds the lock for which thread x waits, or
// of the thread that x joins. Returns 0 if the thread is unknown, or if several
// threads hold the lock.
static int holder_of(const struct mprof_stuck *g,
                     const struct mprof_stuck_thread *x) {
  if (x->awaited == MPROF_AWAITS_THREAD)
    return x->holder_tid;
  if (x->awaited == MPROF_AWAITS_NOTHING || x->awaited == MPROF_AWAITS_OBJECT ||
      (x->holder == MPROF_HOLDER_RECORDED && x->holds_len > 1))
    return 0;
  return x->of != MPROF_NO_THREAD ? g->v[x->of].tid : x->holder_tid;
}

// Writes the object that thread x waits for, such as "mutex accounts (0x5581),
// held by thread 4712".
static void put_awaited(const struct writer *p,
                        const struct mprof_stuck_thread *x) {
  struct mprof_report *w = p->w;
  if (x->awaited == MPROF_AWAITS_THREAD) {
    mprof_report_put(w, "the end of thread ");
    mprof_report_plain(w, x->holder_tid, "");
    return;
  }
  if (x->awaited == MPROF_AWAITS_OBJECT)
    mprof_report_put(w, x->wait.kind == MPROF_KIND_cond  ? "condition "
                        : x->wait.kind == MPROF_KIND_sem ? "semaphore "
                                                         : "barrier ");
  else
    mprof_report_put(w, lock_word(x->awaited));
  put_label(w, x->wait.object);
  if (x->awaited == MPROF_AWAITS_OBJECT)
    return;
  if (x->holder == MPROF_HOLDER_RECORDED && x->holds_len > 1) {
    put_holders(p->w, p->g, x);
    return;
  }
  mprof_report_put(w, x->holder == MPROF_HOLDER_GONE
                          ? ", held by a thread that has ended, thread "
                      : x->of != MPROF_NO_THREAD && &p->g->v[x->of] == x
                          ? ", held by the waiting thread itself, thread "
                          : ", held by thread ");
  mprof_report_plain(w, holder_of(p->g, x), "");
}

static void put_hold(const struct writer *p, const struct mprof_hold *h) {
  struct mprof_report *w = p->w;
  mprof_report_put(w, "  holds ");
  mprof_report_put(w, lock_word(mprof_taken_of(h->op, h->kind)));
  put_label(w, h->lock);
  mprof_report_put(w, ", taken ");
  put_age(w, h->since);
  mprof_report_put(w, " ago\n");
  struct mprof_bucket *b = p->bucket;
  for (b->stack_len = 0;
       b->stack_len < MPROF_HOLD_FRAMES && h->stack[b->stack_len] != 0;
       b->stack_len++)
    b->stack[b->stack_len] = h->stack[b->stack_len];
  mprof_report_stack(w, b);
}

// Writes the locks that thread x holds, with the stacks that took them. (The
// runtime has recorded these stacks.) Omits a lock if its memory does not
// confirm that x holds it, unless the lock is `wanted`. Returns whether the
// lock `wanted` was written.
// wanted: lock for which another thread waits; 0: none.
static bool put_holds(const struct writer *p,
                      const struct mprof_stuck_thread *x, uintptr_t wanted) {
  bool has_wanted = false;
  struct mprof_hold h;
  const bool has_records = x->thread && x->thread->holds;
  for (size_t i = 0; has_records && i < MPROF_HOLDS; i++) {
    if (!mprof_hold_read(x->thread, i, &h) ||
        (h.lock != wanted && !mprof_stuck_holds(x, &h)))
      continue;
    put_hold(p, &h);
    has_wanted |= h.lock == wanted;
  }
  return has_wanted;
}

// Returns a stuck thread that waits for a lock held by x. Returns NULL if no
// stuck thread waits for x. If x is in a cycle, the waiter must be in the same
// cycle.
static const struct mprof_stuck_thread *
find_waiter(const struct mprof_stuck *g, const struct mprof_stuck_thread *x) {
  const size_t i = (size_t)(x - g->v);
  for (size_t k = 0; k < g->len; k++)
    if (g->v[k].grade != MPROF_MAY_RUN && g->v[k].of == i &&
        g->v[k].awaited != MPROF_AWAITS_THREAD &&
        (x->cycle == 0 || g->v[k].cycle == x->cycle))
      return &g->v[k];
  return NULL;
}

static void put_thread(const struct writer *p,
                       const struct mprof_stuck_thread *x) {
  struct mprof_report *w = p->w;
  mprof_report_put(w, "\n");
  put_thread_name(w, x->tid);
  mprof_report_put(w, ", ");
  mprof_report_put(w, mprof_stuck_grade_name(x->grade));
  mprof_report_put(w, "\n  has waited ");
  if (x->is_unnoted)
    mprof_report_put(w, "an unknown time");
  else
    put_age(w, x->wait.start);
  mprof_report_put(w, " for ");
  put_awaited(p, x);
  mprof_report_put(w, "\n");
  mprof_report_labels(
      w, &(struct mprof_stack_labels){.most = x->slot->stack->labels});
  mprof_report_stack(w, x->slot->stack);
  const struct mprof_stuck_thread *waiter = find_waiter(p->g, x);
  const uintptr_t wanted = waiter ? waiter->wait.object : 0;
  if (put_holds(p, x, wanted) || wanted == 0)
    return;
  mprof_report_put(w, "  holds ");
  mprof_report_put(w, lock_word(waiter->awaited));
  put_label(w, wanted);
  mprof_report_put(
      w, mprof_holds_on
             ? "; the place where the lock was taken is unknown: the lock was "
               "taken in uninstrumented code, or MProf has reused the lock's "
               "record for another lock\n"
             : "; the place where the lock was taken was not recorded: set the "
               "option stuck=1\n");
}

// --- groups ---

static void put_cycle(const struct writer *p, size_t number) {
  const struct mprof_stuck *g = p->g;
  size_t first = 0, n = 0;
  while (g->v[first].cycle != number)
    first++;
  for (size_t i = first; i < g->len; i++)
    n += g->v[i].cycle == number;
  mprof_report_put(p->w, "\nCycle ");
  mprof_report_plain(p->w, (int64_t)number, " of ");
  mprof_report_plain(p->w, (int64_t)g->cycles, ": ");
  if (n == 1)
    mprof_report_put(p->w, "a thread waits for itself\n");
  else
    mprof_report_count(p->w, (int64_t)n, " threads wait for one another\n");
  size_t at = first;
  do {
    put_thread(p, &g->v[at]);
    at = g->v[at].of;
  } while (at != first);
}

enum group { OWNER_GONE, WAITS_FOR_STUCK, UNREACHABLE };

static bool is_in(const struct mprof_stuck_thread *x, enum group group) {
  if (x->grade == MPROF_MAY_RUN || x->cycle != 0)
    return false;
  if (x->awaited == MPROF_AWAITS_OBJECT)
    return group == UNREACHABLE;
  return group ==
         (x->holder == MPROF_HOLDER_GONE ? OWNER_GONE : WAITS_FOR_STUCK);
}

static void put_group(const struct writer *p, enum group group,
                      const char *title) {
  const struct mprof_stuck *g = p->g;
  bool has_title = false;
  for (size_t i = 0; i < g->len; i++) {
    if (!is_in(&g->v[i], group))
      continue;
    if (!has_title) {
      mprof_report_put(p->w, "\n");
      mprof_report_put(p->w, title);
      mprof_report_put(p->w, "\n");
    }
    has_title = true;
    put_thread(p, &g->v[i]);
  }
}

static void put_unjudged(const struct writer *p) {
  static const char *const why[] = {
      [MPROF_UNJUDGED_URING] = "the process uses io_uring or aio, so the "
                               "kernel has addresses that MProf cannot read",
      [MPROF_UNJUDGED_PROC] = "/proc cannot be read",
      [MPROF_UNJUDGED_PIPE] = "MProf cannot copy the contents of a pipe, which "
                              "may contain addresses",
      [MPROF_UNJUDGED_MEMORY] = "the search ran out of memory or time",
      [MPROF_UNJUDGED_BUSY] = ("in each attempt, a thread that seemed to wait "
                               "ran again before the check was complete")};
  const enum mprof_unjudged unjudged = p->g->unjudged;
  if (unjudged == MPROF_JUDGED)
    return;
  mprof_report_put(
      p->w,
      "\nWaits for conditions, semaphores and barriers were not checked: ");
  if (unjudged == MPROF_UNJUDGED_THREAD) {
    mprof_report_put(p->w, "thread ");
    mprof_report_plain(
        p->w, p->g->unread,
        " is in a system call of uninstrumented code or did not answer MProf's "
        "signal, so MProf cannot tell which memory the thread can reach");
  } else {
    mprof_report_put(p->w, why[unjudged]);
  }
  mprof_report_put(p->w, "\n");
}

static void put_all(const struct writer *p) {
  for (size_t i = 1; i <= p->g->cycles; i++)
    put_cycle(p, i);
  put_group(p, OWNER_GONE,
            "These threads wait for a lock whose owner has ended");
  put_group(p, WAITS_FOR_STUCK, "These threads wait for a stuck thread");
  put_group(p, UNREACHABLE,
            "No thread that can still run reaches the objects that these "
            "threads wait for");
}

static void put_unseen(const struct writer *p) {
  char text[MPROF_UNSEEN_TEXT];
  if (!mprof_unseen_text(text, &p->g->stacks))
    return;
  mprof_report_put(p->w, "\n");
  mprof_report_put(p->w, text);
  mprof_report_put(p->w, "\n");
}

// Writes a note if the runtime could not record the holders of some locks. For
// these locks, the search could not decide whether their waiters are stuck.
// This concerns only kinds of locks whose memory does not name the holder.
static void put_lost(const struct writer *p) {
  if (p->g->lost_holds == 0)
    return;
  mprof_report_put(p->w, "\nWaits for readers of rwlocks, for spin locks and "
                         "for the program's own locks were not checked: ");
  mprof_report_things(p->w, (int64_t)p->g->lost_holds, "lock");
  mprof_report_put(p->w,
                   p->g->lost_holds == 1 ? " that is held" : " that are held");
  mprof_report_put(p->w, " could not be recorded because a thread held more "
                         "than 32 such locks\n");
}

static void report(struct mprof_report *w, const void *copy) {
  const struct mprof_stuck *g = copy;
  struct writer p = {w, g, NULL};
  const size_t bytes =
      sizeof(*p.bucket) + MPROF_HOLD_FRAMES * sizeof(p.bucket->stack[0]);
  mprof_report_put(w, "\nStuck threads\n\nTotal:     ");
  mprof_report_things(w, (int64_t)g->stuck, "thread");
  mprof_report_put(w, ", ");
  mprof_report_count(w, (int64_t)g->certain, " certain, ");
  mprof_report_count(w, (int64_t)g->likely, " likely\n");
  p.bucket = mprof_os_map(bytes);
  if (p.bucket != NULL) {
    put_all(&p);
    mprof_os_unmap(p.bucket, bytes);
  }
  put_unjudged(&p);
  put_lost(&p);
  put_unseen(&p);
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct mprof_stuck *g = copy;
  mprof_report_put(w, "SUMMARY: MProf: threadleak: ");
  mprof_report_plain(w, (int64_t)g->stuck, " threads, ");
  mprof_report_plain(w, (int64_t)g->certain, " certain, ");
  mprof_report_plain(w, (int64_t)g->likely, " likely, ");
  mprof_report_plain(w, (int64_t)g->cycles, " cycles\n");
}

// --- a file of its own ---

// Returns the last mapping of code that begins before the address, or NULL. The
// data of a program or a library follow its code.
static struct mprof_mapping *module_before(const struct mprof_maps *maps,
                                           uintptr_t address) {
  struct mprof_mapping *found = NULL;
  for (size_t i = 0; i < maps->len; i++) {
    struct mprof_mapping *m = &maps->v[i];
    if (m->start <= address && (found == NULL || m->start > found->start))
      found = m;
  }
  return found;
}

static void put_module(struct mprof_report *w, const struct mprof_mapping *m) {
  char text[2 * MPROF_PATH_MAX];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "  0x");
  mprof_text_hex(&t, m->start);
  mprof_text_str(&t, " 0x");
  mprof_text_hex(&t, m->offset);
  mprof_text_str(&t, " ");
  mprof_text_str(&t, m->build_id[0] != '\0' ? m->build_id : "-");
  mprof_text_str(&t, " ");
  mprof_text_str(&t, m->file);
  mprof_text_str(&t, "\n");
  mprof_report_put(w, text);
}

// Writes the modules whose global variables the awaited locks may be: address,
// offset in the file, build ID and path. mprof finds the names of the locks by
// them.
static void put_modules(struct mprof_report *w, const struct mprof_stuck *g) {
  struct mprof_maps maps;
  bool has_any = false;
  if (g->stuck == 0 || mprof_maps_read(&maps) != 0)
    return;
  for (size_t i = 0; i < g->len; i++) {
    const struct mprof_stuck_thread *x = &g->v[i];
    struct mprof_mapping *m =
        x->grade != MPROF_MAY_RUN && x->awaited != MPROF_AWAITS_THREAD
            ? module_before(&maps, x->wait.object)
            : NULL;
    if (m == NULL || m->file[0] != '/' || m->has_names)
      continue;
    m->has_names = true; // the list has the module
    if (!has_any)
      mprof_report_put(w, "\nModules of the locks\n");
    has_any = true;
    put_module(w, m);
  }
  mprof_maps_free(&maps);
}

static void put_list(struct mprof_report *w, const void *copy) {
  const struct mprof_stuck *g = copy;
  mprof_report_head(w, "stuck threads", g->time_ns);
  report(w, g);
  put_modules(w, g);
  mprof_report_put(w, "\n");
  report_line(w, g);
}

static int write_list(struct mprof_outfile *f, const struct mprof_stuck *g) {
  return mprof_report_write(f, mprof_flags.symbolize && g->stuck > 0, report,
                            put_list, g);
}

// --- the kind ---

// Stores the holder of the awaited lock in the stack of each stuck thread, and
// for which stuck threads others wait.
static void set_holders(struct mprof_stuck *g) {
  for (size_t i = 0; i < g->len; i++) {
    const struct mprof_stuck_thread *x = &g->v[i];
    if (x->grade == MPROF_MAY_RUN || !x->slot)
      continue;
    x->slot->holder = holder_of(g, x);
    if (x->of != MPROF_NO_THREAD && g->v[x->of].slot &&
        g->v[x->of].grade != MPROF_MAY_RUN)
      g->v[x->of].slot->is_awaited = true;
  }
}

static int take(const struct mprof_profile_request *r) {
  struct mprof_stuck *g = r->copy;
  int error = mprof_stuck_take(g, &mprof_writer_caller, 0);
  if (error == 0)
    set_holders(g);
  if (error == 0 && r->form != MPROF_FORM_LIST)
    mprof_thread_stacks_group(&g->stacks);
  return error;
}

static void release(void *copy) { mprof_stuck_free(copy); }

static int write(struct mprof_outfile *f,
                 const struct mprof_profile_request *r) {
  const struct mprof_stuck *g = r->copy;
  return r->form == MPROF_FORM_PPROF
             ? mprof_write_threads_pprof(f, &g->stacks, r->row->name)
         : r->form == MPROF_FORM_TEXT
             ? mprof_write_threads_text(f, &g->stacks, r->row->name)
             : write_list(f, g);
}

static bool is_on(void) { return mprof_flags.stuck; }

static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  return is_on(); // an empty profile shows that no thread is stuck
}

static bool has_stacks(const void *copy) {
  const struct mprof_stuck *g = copy;
  return g->stuck > 0;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct mprof_stuck *g = copy;
  (void)part;
  mprof_put_things(t, g->stuck, "stuck thread");
  if (g->stuck == 0)
    return;
  mprof_text_str(t, ": ");
  mprof_text_grouped(t, g->certain);
  mprof_text_str(t, " certain, ");
  mprof_text_grouped(t, g->likely);
  mprof_text_str(t, " likely");
}

const struct mprof_profile_kind mprof_kind_threadleak = {
    .copy_bytes = sizeof(struct mprof_stuck),
    .last_form = MPROF_FORM_LIST,
    .take = take,
    .free = release,
    .write = write,
    .has_data = has_data,
    .is_on = is_on,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
    .report = report,
    .report_line = report_line,
};
