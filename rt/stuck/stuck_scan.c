// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches memory for the conditions, semaphores and barriers that threads wait
// for; see stuck.h. All threads are stopped, the process is copied, and
// the threads continue. A helper process searches the copy, which no thread of
// the program changes.
//
// The search begins at the roots, whose words are all searched. The roots are
// the memory that every thread can reach, and the stacks and registers of the
// threads that may run. Every thread can reach global variables, memory whose
// layout is unknown, and memory at addresses that the kernel stores.
//
// If the search reaches the object that a thread waits for, another thread may
// wake this thread. So this thread may run, and so may the threads that wait
// for it. The stacks of all these threads become roots. The search continues
// until no more objects are reached.
//
// Three parts of memory must not be roots: the runtime's own memory, the
// runtime's frames on the caller's stack, and the stacks of the waiting
// threads. They contain addresses of awaited objects, but no thread can use
// these addresses to wake a waiter.

#include "stuck/stuck_memory.h"

#include "lock_wait/hooked.h"
#include "process/helper_process.h"
#include "stuck/stuck.h"
#include "sys/abi_words.h"
#include "sys/arch.h"
#include "sys/context.h"
#include "sys/message.h"
#include "sys/os.h"
#include "thread/threads.h"
#include "thread_stacks/thread_stacks.h"
#include "thread_stacks/thread_starts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

// --- addresses that the kernel stores ---

static uint64_t parse(const char *p, unsigned base) {
  uint64_t v = 0;
  while (*p == ' ' || *p == '\t')
    p++;
  for (;; p++) {
    const unsigned char c = (unsigned char)*p;
    const unsigned digit = c >= '0' && c <= '9'   ? c - '0'
                           : c >= 'a' && c <= 'f' ? c - 'a' + 10u
                                                  : 16u;
    if (digit >= base)
      return v;
    v = v * base + digit;
  }
}

static void make_path(struct mprof_text *t, const char *self, const char *name,
                      uint64_t number) {
  mprof_text_str(t, "/proc/");
  mprof_text_str(t, self);
  mprof_text_str(t, name);
  if (number != UINT64_MAX)
    mprof_text_dec(t, number);
}

// Reads addresses from the file at path, and marks the blocks at these
// addresses as reached. Each address is a hexadecimal number after the string
// `key`. If the character `before` is not 0, the number begins after the next
// `before` in the same line. Returns false if the file cannot be read.
static bool mark_numbers(struct mprof_memory *m, const char *path,
                         const char *key, char before) {
  struct mprof_procfile f;
  if (mprof_procfile_read(&f, path) != 0)
    return false;
  for (const char *p = f.data; (p = strstr(p, key)) != NULL;) {
    p += strlen(key);
    while (before && *p != '\0' && *p != before && *p != '\n')
      p++;
    if (before && *p == before)
      p++;
    mprof_memory_mark(m, parse(p, 16));
  }
  mprof_procfile_free(&f);
  return true;
}

// Returns whether a file descriptor is open for reading. path: the descriptor's
// file in /proc/PID/fdinfo.
static bool is_for_reading(const char *path) {
  struct mprof_procfile f;
  static const char key[] = "flags:";
  if (mprof_procfile_read(&f, path) != 0)
    return false;
  const char *p = strstr(f.data, key);
  const bool is = p && (parse(p + strlen(key), 8) & O_ACCMODE) != O_WRONLY;
  mprof_procfile_free(&f);
  return is;
}

// Marks as reached the blocks that words in a pipe point to. Threads pass
// addresses to one another through pipes, and an address may stay in a pipe for
// a long time.
static enum mprof_unjudged mark_pipe(struct mprof_memory *m, const char *path) {
  enum { PIPE_MAX = 1 << 20 };
  char *buf = mprof_os_map(PIPE_MAX);
  if (!buf)
    return MPROF_UNJUDGED_MEMORY;
  const long n = mprof_os_peek_pipe(path, buf, PIPE_MAX);
  for (long at = 0; at + (long)sizeof(uintptr_t) <= n; at++) {
    uintptr_t word; // at any offset, because messages have arbitrary formats
    memcpy(&word, buf + at, sizeof(word));
    mprof_memory_mark(m, word);
  }
  mprof_os_unmap(buf, PIPE_MAX);
  return n == -ENOBUFS ? MPROF_UNJUDGED_PIPE : MPROF_JUDGED;
}

static enum mprof_unjudged mark_descriptor(struct mprof_memory *m,
                                           const char *self, uint64_t fd) {
  static const char epoll[] = "anon_inode:[eventpoll]";
  static const char uring[] = "anon_inode:[io_uring]";
  static const char pipe[] = "pipe:[";
  char path[64], info_path[64], link[64];
  struct mprof_text t = MPROF_TEXT(path);
  struct mprof_text info = MPROF_TEXT(info_path);
  make_path(&t, self, "/fd/", fd);
  make_path(&info, self, "/fdinfo/", fd);
  long n = mprof_sys_readlink(path, link, sizeof(link));
  if (n == (long)sizeof(uring) - 1 && memcmp(link, uring, (size_t)n) == 0)
    return MPROF_UNJUDGED_URING;
  if (n >= (long)sizeof(pipe) - 1 &&
      memcmp(link, pipe, sizeof(pipe) - 1) == 0 && is_for_reading(info_path))
    return mark_pipe(m, path);
  if (n != (long)sizeof(epoll) - 1 || memcmp(link, epoll, (size_t)n) != 0)
    return MPROF_JUDGED;
  return mark_numbers(m, info_path, " data:", 0) ? MPROF_JUDGED
                                                 : MPROF_UNJUDGED_PROC;
}

// Marks these blocks as reached. Returns MPROF_JUDGED, or the reason why an
// address could not be read. Call after mprof_memory_find_blocks.
// self: path below /proc of a thread of the process that was copied
static enum mprof_unjudged mark_kernels(struct mprof_memory *m,
                                        const char *self) {
  enum { LIST_BYTES = 1 << 16 };
  char path[64];
  if (m->has_rings)
    return MPROF_UNJUDGED_URING;
  struct mprof_text t = MPROF_TEXT(path);
  make_path(&t, self, "/fd", UINT64_MAX);
  const long fd = mprof_sys_open(path, O_RDONLY | O_DIRECTORY, 0);
  char *buf = mprof_os_map(LIST_BYTES);
  if (fd < 0 || !buf)
    return MPROF_UNJUDGED_PROC;
  long len;
  while ((len = mprof_sys_getdents((int)fd, buf, LIST_BYTES)) > 0) {
    const struct mprof_dirent *e;
    for (long at = 0; at < len; at += e->length) {
      e = (const struct mprof_dirent *)(buf + at);
      if (e->name[0] < '0' || e->name[0] > '9')
        continue;
      const enum mprof_unjudged why =
          mark_descriptor(m, self, parse(e->name, 10));
      if (why != MPROF_JUDGED)
        return why;
    }
  }
  struct mprof_text timers = MPROF_TEXT(path);
  make_path(&timers, self, "/../../timers", UINT64_MAX);
  mark_numbers(m, path, "signal:", '/'); // not every kernel has this file
  return len < 0 ? MPROF_UNJUDGED_PROC : MPROF_JUDGED;
}

// --- the search ---

// Maximum duration of the search in milliseconds. A longer search is given up.
enum { PATIENCE_MS = 20000 };

// Maximum number of times that all threads are stopped. The threads are stopped
// again if a thread was just leaving its wait.
enum { TRIES = 6 };

// The current search. Guarded by stacks_lock once inspect() has been called.
// The helper process has its own copy.
static struct scan {
  struct mprof_stuck *g;
  const struct mprof_thread_stacks *slots;
  char self[48]; // path below /proc of the thread that asks for the search
  struct mprof_memory memory;
  uintptr_t main_stack_top;
  struct extent *extents; // one for each slot of `slots`
} *scan;

// The part of a thread's stack that is in use, and the thread's registers.
struct extent {
  uintptr_t sp; // stack pointer; 0: unknown
  // End of the stack and of the thread-local memory above the stack. 0: the
  // stack was not removed from memory.areas, so it is always searched.
  uintptr_t top;
  uintptr_t frames; // end of the stack without the thread-local memory
  int tid;
  size_t thread; // index in g->v, or MPROF_NO_THREAD
  bool has_run;  // the thread's stack and registers were searched
  const ucontext_t *context;
  const struct mprof_saved *saved;
};

// The first message from the helper process: MPROF_JUDGED if the search has
// succeeded, otherwise the reason of the failure. After a success, a second
// message contains the byte is_reached of each thread.
struct answer {
  enum mprof_unjudged unjudged;
};

// --- stacks ---

// Returns whether sp is on the alternate signal stack alt, and alt is inside
// the thread's own stack. In this case, the frames to which the signal handler
// will return may be at lower addresses than sp.
static bool is_within(const struct mprof_libc_stack *own, const stack_t *alt,
                      uintptr_t sp) {
  const uintptr_t start = (uintptr_t)alt->ss_sp;
  return start > own->start && start < own->limit && sp >= start &&
         sp - start < alt->ss_size;
}

// Removes a thread's stack from s->memory.areas, the memory that is always
// searched, if it is the main thread's stack or libc has allocated it. Any
// other stack stays in the areas, because its memory may also be used for other
// purposes.
static void cut_stack(struct scan *s, struct extent *e) {
  const struct mprof_stuck_thread *x =
      e->thread == MPROF_NO_THREAD ? NULL : &s->g->v[e->thread];
  const struct mprof_area *a = mprof_memory_area(&s->memory, e->sp);
  struct mprof_libc_stack own;
  if (!a)
    return;
  if (!x) { // the thread is about to end, or is not registered yet
    if (!mprof_memory_last_libc_stack(a, &own) || own.tid != e->tid)
      return;
  } else if (a->is_stack && x->range.is_main) {
    own.start = a->start;
    own.block = own.limit = s->main_stack_top;
    // libc and the runtime keep addresses of main's frame and of the memory
    // above it. A search that finds such an address must not reach all frames
    // of the stack. So the block that consists of the stack's frames (see
    // prepare) ends at main's frame.
    const uintptr_t main_frame = (uintptr_t)__mprof_main_frame;
    if (main_frame > e->sp && main_frame < own.limit)
      own.block = main_frame;
  } else if (!mprof_memory_libc_stack(a, x->pthread, &own)) {
    return;
  }
  if (e->sp < own.start || e->sp >= own.block || own.limit > a->limit)
    return;
  if (e->context && is_within(&own, &e->context->uc_stack, e->sp))
    e->sp = own.start;
  e->frames = own.block;
  e->top = own.limit;
  mprof_memory_cut(&s->memory, own.start, own.limit);
}

// Reads the address of the top of the main thread's stack, which is the 28th
// field of /proc/self/stat. The second field is a name in parentheses, which
// may contain any character. So the fields are counted from the last ')'.
static uintptr_t read_main_stack_top(void) {
  struct mprof_procfile f;
  uintptr_t top = 0;
  if (mprof_procfile_read(&f, "/proc/self/stat") != 0)
    return 0;
  const char *p = strrchr(f.data, ')');
  for (int field = 2; p && field < 28; field++)
    p = strchr(p + 1, ' ');
  for (p = p ? p + 1 : ""; *p >= '0' && *p <= '9'; p++)
    top = top * 10 + (uintptr_t)(*p - '0');
  mprof_procfile_free(&f);
  return top;
}

static const struct mprof_caller *
inside_of(const struct mprof_stuck_thread *x) {
  return x->thread ? x->thread->inside : NULL;
}

static void set_extent(struct scan *s, struct extent *e,
                       const struct mprof_thread_slot *slot) {
  enum { PUSHED = 64 };
  e->thread = mprof_stuck_graph_find(s->g, slot->tid);
  e->tid = slot->tid;
  e->context = slot->context;
  const struct mprof_caller *inside =
      e->thread == MPROF_NO_THREAD ? NULL : inside_of(&s->g->v[e->thread]);
  if (slot->held != 0 && e->thread != MPROF_NO_THREAD) {
    e->sp = slot->held;
    e->saved = &s->g->v[e->thread].wait.saved;
  } else if (inside && s->g->v[e->thread].is_interrupted) {
    e->context = NULL;
    e->sp = s->g->v[e->thread].wait.frame - PUSHED;
    e->saved = &s->g->v[e->thread].wait.saved;
  } else if (inside) {
    e->context = NULL;
    e->sp = inside->frame - PUSHED;
    e->saved = &inside->saved;
  } else if (e->context) {
    e->sp = mprof_context_sp(e->context) - MPROF_RED_ZONE;
  }
}

// --- the memory that a thread reaches ---

// Marks as reached the blocks that the vector registers point to. Memory copies
// use these registers, so they may hold addresses that the thread was copying.
static void mark_vectors(struct mprof_memory *m, const ucontext_t *c) {
  size_t size;
  const char *v = mprof_context_vectors(c, &size);
  if (v)
    mprof_memory_mark_range(m, (uintptr_t)v, (uintptr_t)v + size);
}

static void mark_thread(struct scan *s, struct extent *e) {
  struct mprof_memory *m = &s->memory;
  e->has_run = true;
  if (e->sp == 0)
    return;
  mprof_memory_mark(m, e->sp); // the stack may be in a block
  if (e->top != 0)
    mprof_memory_mark_range(m, e->sp, e->top);
  if (e->saved)
    mprof_memory_mark_range(m, (uintptr_t)e->saved, (uintptr_t)(e->saved + 1));
  if (e->context) {
    size_t size;
    const char *r = mprof_context_registers(e->context, &size);
    mprof_memory_mark_range(m, (uintptr_t)r, (uintptr_t)r + size);
    mark_vectors(m, e->context);
  }
}

// --- the search, in the helper ---

static bool reach_objects(struct scan *s) {
  bool has_changed = false;
  for (size_t i = 0; i < s->g->len; i++) {
    struct mprof_stuck_thread *x = &s->g->v[i];
    if (x->awaited == MPROF_AWAITS_OBJECT && !x->is_reached &&
        mprof_memory_is_reached(&s->memory, x->wait.object))
      x->is_reached = has_changed = true;
  }
  return has_changed;
}

// Returns whether thread x's stack and registers are roots. They are roots if x
// may run. They are also roots if x asks for the search, unless x asks in a
// signal handler that has interrupted its wait.
static bool may_use_stack(const struct mprof_stuck_thread *x) {
  return x->may_run || (inside_of(x) && !x->is_interrupted);
}

static void mark_threads(struct scan *s) {
  for (size_t i = 0; i < s->slots->slots_len; i++) {
    struct extent *e = &s->extents[i];
    if (!e->has_run &&
        (e->thread == MPROF_NO_THREAD || may_use_stack(&s->g->v[e->thread])))
      mark_thread(s, e);
  }
  mprof_memory_follow(&s->memory);
}

static bool is_used(void *arg, int tid) {
  const struct scan *s = arg;
  const struct mprof_thread_slot *slot = mprof_slot_of(s->slots, tid);
  return slot && !slot->is_gone;
}

// Adds the runtime's start record of a new thread as a block. The record may
// contain the only copy of the thread's argument or of the state of a
// std::thread. The creator and the new thread have the address of the record,
// so the search can reach the record from their stacks.
static void add_start(const struct mprof_thread_start *start, void *arg) {
  struct scan *s = arg;
  mprof_memory_add_block(&s->memory, (uintptr_t)start, (uintptr_t)(start + 1));
}

static int prepare(struct scan *s) {
  const size_t n = s->slots->slots_len;
  mprof_helper_look_at_itself(true);
  int error = mprof_memory_read(&s->memory);
  s->main_stack_top = read_main_stack_top();
  mprof_helper_look_at_itself(false);
  s->extents = mprof_os_map((n + 1) * sizeof(*s->extents));
  if (error != 0 || !s->extents)
    return error != 0 ? error : -ENOMEM;
  for (size_t i = 0; i < n; i++) {
    set_extent(s, &s->extents[i], mprof_slot_at(s->slots, i));
    cut_stack(s, &s->extents[i]);
  }
  mprof_memory_cut_unused_stacks(&s->memory, is_used, s);
  mprof_thread_starts_each(add_start, s);
  // The frames of each waiting thread become one block. The block extends from
  // the stack pointer to the end of the frames. If a searched word points into
  // this block, the search reaches all these frames.
  mprof_stuck_graph_settle(s->g);
  for (size_t i = 0; i < n; i++) {
    const struct extent *e = &s->extents[i];
    if (e->top != 0 && e->thread != MPROF_NO_THREAD &&
        !s->g->v[e->thread].may_run)
      mprof_memory_add_block(&s->memory, e->sp, e->frames);
  }
  return mprof_memory_find_blocks(&s->memory);
}

static enum mprof_unjudged search(struct scan *s) {
  const int error = prepare(s);
  if (error != 0)
    return error == -ENOMEM ? MPROF_UNJUDGED_MEMORY : MPROF_UNJUDGED_PROC;
  // First search the addresses that the kernel stores, because the program
  // continues to run. If the program reads an address from a pipe before the
  // helper reads the pipe, the helper finds the address nowhere: neither in the
  // pipe nor in the copy of the process.
  const enum mprof_unjudged why = mark_kernels(&s->memory, s->self);
  if (why != MPROF_JUDGED)
    return why;
  mprof_memory_mark_roots(&s->memory);
  do {
    mark_threads(s);
    const bool has_changed = reach_objects(s);
    if (!has_changed)
      break;
    mprof_stuck_graph_settle(s->g);
  } while (true);
  return MPROF_JUDGED;
}

static void serve(int fd) {
  struct scan *s = scan;
  const struct answer a = {search(s)};
  if (mprof_helper_send(fd, &a, sizeof(a)) < 0 || a.unjudged != MPROF_JUDGED)
    return;
  unsigned char *v = mprof_os_map(s->g->len + 1);
  if (!v)
    return;
  for (size_t i = 0; i < s->g->len; i++)
    v[i] = s->g->v[i].is_reached;
  mprof_helper_send(fd, v, s->g->len + 1);
}

// --- in the process ---

struct inspection {
  struct scan scan;
  struct mprof_stuck *g;
  uint64_t age;
  struct mprof_helper helper;
  int error;
};

static bool is_known(const struct mprof_stuck *g,
                     const struct mprof_thread_stacks *s,
                     const struct mprof_thread_slot *slot) {
  const bool is_own = s->len > 0 && slot == s->v[0];
  if (slot->is_gone || slot->context || is_own)
    return true;
  const size_t i = mprof_stuck_graph_find(g, slot->tid);
  return slot->held != 0 && i != MPROF_NO_THREAD && g->v[i].at == slot->held &&
         // The registers of a thread in a wait of kind user or call are not
         // known, because such a wait does not store a copy of them.
         g->v[i].wait.kind != MPROF_KIND_user &&
         g->v[i].wait.kind != MPROF_KIND_call;
}

// Copies the waits of all threads and starts the helper process. Called while
// all threads are stopped.
static void inspect(struct mprof_thread_stacks *s, void *arg) {
  struct inspection *n = arg;
  mprof_stuck_free(n->g);
  n->error = mprof_stuck_graph_take(n->g, n->age, s);
  if (n->error != 0)
    return;
  for (size_t i = 0; i < s->slots_len; i++) {
    const struct mprof_thread_slot *slot = mprof_slot_at(s, i);
    if (is_known(n->g, s, slot))
      continue;
    n->g->unjudged = MPROF_UNJUDGED_THREAD;
    n->g->unread = slot->tid;
    n->error = -EAGAIN; // the next try may be able to read the thread
    return;
  }
  scan = &n->scan;
  scan->g = n->g;
  scan->slots = s;
  if (mprof_helper_start(&n->helper, serve, false) != 0) {
    n->g->unjudged = MPROF_UNJUDGED_MEMORY;
    n->error = -ECANCELED;
  }
}

// Receives a reply of the helper process by mprof_helper_receive. While this
// thread waits for the reply, another thread may interrupt it to take its
// stack.
static long await_reply(int fd, void *data, size_t len, int timeout_ms) {
  mprof_thread_set_interruptible(true);
  long n = mprof_helper_receive(fd, data, len, timeout_ms);
  mprof_thread_set_interruptible(false);
  return n;
}

static int receive(struct inspection *n) {
  struct answer a = {MPROF_UNJUDGED_MEMORY};
  struct mprof_stuck *g = n->g;
  unsigned char *v = mprof_os_map(g->len + 1);
  if (!v)
    return -ENOMEM;
  const int fd = n->helper.fd;
  if (await_reply(fd, &a, sizeof(a), PATIENCE_MS) != sizeof(a) ||
      (a.unjudged == MPROF_JUDGED &&
       await_reply(fd, v, g->len + 1, PATIENCE_MS) != (long)g->len + 1))
    a.unjudged = MPROF_UNJUDGED_MEMORY;
  for (size_t i = 0; i < g->len; i++)
    g->v[i].is_reached = v[i];
  mprof_os_unmap(v, g->len + 1);
  g->unjudged = a.unjudged;
  return a.unjudged == MPROF_JUDGED ? 0 : -ECANCELED;
}

// Stores in s->self the target of the link /proc/thread-self, which is
// PID/task/TID. The link is read because /proc may be mounted for another PID
// namespace, with other ids. The link /proc/self is not used, because the main
// thread may have ended, and an ended thread has no file descriptors.
static void set_self(struct scan *s) {
  const long n =
      mprof_sys_readlink("/proc/thread-self", s->self, sizeof(s->self) - 1);
  s->self[n > 0 ? n : 0] = '\0';
}

static int scan_once(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age) {
  struct mprof_thread_stacks s;
  struct inspection n = {.g = g, .age = age};
  set_self(&n.scan);
  int error = mprof_thread_stacks_inspect(&s, caller->frame, inspect, &n);
  if (error == 0)
    error = n.error;
  if (error == 0)
    error = receive(&n);
  mprof_helper_kill(&n.helper);
  mprof_thread_stacks_free(&s);
  return error;
}

int mprof_stuck_scan(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age) {
  int error = -EAGAIN;
  for (int i = 0; i < TRIES && error == -EAGAIN; i++) {
    if (i > 0)
      mprof_sys_sleep_ms(1u << i);
    error = scan_once(g, caller, age);
  }
  return error == -EAGAIN ? -ECANCELED : error;
}
