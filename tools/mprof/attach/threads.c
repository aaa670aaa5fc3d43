// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attach/threads.h"

#include "attach/remote_call.h"
#include "attach/stacks.h"
#include "common/memory.h"
#include "live/process_account.h"
#include "model/profile.h"
#include "names/jit_names.h"
#include "symbolize/symbolizer_protocol.h"

#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct thread {
  pid_t tid, inner; // inner: the id in the process's own PID namespace
  char state;       // of the kernel, such as 'S'
  bool is_read;     // the stack
  struct target_futex futex;
  const char *kind;  // of the wait, as in MProf's profiles; NULL: none
  uint64_t lock;     // address of the lock; 0: unknown or none
  pid_t holder;      // the thread that holds the lock, or is joined; 0: unknown
  struct thread *of; // the same thread, or NULL if it is not in the process
  const char *grade; // "certain" or "likely" if the thread is stuck, or NULL
  struct stack stack;
};

struct threads {
  const struct target *target;
  struct thread **items;
  size_t count, capacity;
};

// --- what the kernel says ---

// Returns how often the thread has left the processor.
static unsigned long long read_switches(pid_t pid, pid_t tid) {
  char value[64];
  unsigned long long sum = 0;
  static const char *const fields[] = {"voluntary_ctxt_switches",
                                       "nonvoluntary_ctxt_switches"};
  for (size_t i = 0; i < 2; i++)
    if (target_status(pid, tid, fields[i], value, sizeof value))
      sum += strtoull(value, NULL, 10);
  return sum;
}

static struct thread *new_thread(pid_t pid, pid_t tid) {
  char value[128];
  struct thread *t = zeroed(1, sizeof *t);
  t->tid = t->inner = tid;
  if (target_status(pid, tid, "State", value, sizeof value))
    t->state = value[0];
  if (target_status(pid, tid, "NSpid", value, sizeof value)) {
    const char *last = strrchr(value, '\t');
    t->inner = atoi(last ? last + 1 : value);
  }
  return t;
}

static void list_threads(struct threads *all) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", (int)all->target->pid);
  DIR *dir = opendir(path);
  for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
    const pid_t tid = atoi(e->d_name);
    if (tid > 0)
      *APPEND(all->items, all->count, all->capacity) =
          new_thread(all->target->pid, tid);
  }
  if (dir)
    closedir(dir);
}

// --- waits ---

// Returns the kind of the wait in a function of libc.
static const char *kind_of(const struct thread *t) {
  static const struct {
    const char *part, *kind;
  } rows[] = {
      {"mutex", "mutex"},    {"rwlock", "rwlock"},     {"cond_", "cond"},
      {"cnd_", "cond"},      {"mtx_", "mutex"},        {"sem_", "sem"},
      {"join", "join"},      {"barrier", "barrier"},   {"sleep", "sleep"},
      {"poll", "poll"},      {"select", "poll"},       {"pause", "signal"},
      {"sigwait", "signal"}, {"sigsuspend", "signal"}, {"wait4", "child"},
      {"waitpid", "child"},  {"read", "io"},           {"write", "io"},
      {"recv", "io"},        {"send", "io"},           {"accept", "io"},
      {"connect", "io"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strstr(t->stack.waits_in, rows[i].part))
      return rows[i].kind;
  return t->futex.address ? "futex" : NULL;
}

static int read_int(const struct threads *all, uint64_t address) {
  int value = 0;
  return target_get(all->target, address, &value, sizeof value) ? value : 0;
}

static struct thread *find(const struct threads *all, pid_t inner) {
  for (size_t i = 0; i < all->count && inner != 0; i++)
    if (all->items[i]->inner == inner)
      return all->items[i];
  return NULL;
}

// Returns whether the thread joins another. The kernel wakes it when that
// thread ends, so the futex has the thread's id and is not private to the
// process.
static bool joins(const struct threads *all, const struct thread *t) {
  return t->futex.address && (t->futex.operation & FUTEX_PRIVATE_FLAG) == 0 &&
         find(all, (pid_t)t->futex.expected) != NULL;
}

// Places in glibc's pthread_mutex_t and pthread_rwlock_t.
enum {
  MUTEX_OWNER = 8,
  RWLOCK_PHASE = 8,
  RWLOCK_WRITERS = 12,
  RWLOCK_WRITER = 24
};

// Returns the thread that holds the lock of the thread's wait, or that it
// joins; 0: unknown. Stores the address of the lock.
static pid_t read_holder(const struct threads *all, const struct thread *t,
                         uint64_t *lock) {
  const char *name = t->stack.waits_in;
  *lock = 0;
  if (!t->futex.address)
    return 0;
  if (strncmp(name, "pthread_mutex_", 14) == 0 ||
      strncmp(name, "__pthread_mutex_", 16) == 0) {
    *lock = t->futex.address;
    return read_int(all, t->futex.address + MUTEX_OWNER);
  }
  if (joins(all, t))
    return (pid_t)t->futex.expected;
  if (!strstr(name, "rwlock"))
    return 0;
  static const unsigned places[] = {RWLOCK_PHASE, RWLOCK_WRITERS};
  for (size_t i = 0; i < 2; i++) {
    const pid_t writer =
        read_int(all, t->futex.address - places[i] + RWLOCK_WRITER);
    if (find(all, writer)) {
      *lock = t->futex.address - places[i];
      return writer;
    }
  }
  return 0;
}

// --- threads that can never continue ---

static bool has_ended(pid_t tid) { return kill(tid, 0) != 0 && errno == ESRCH; }

// Returns whether the threads of the cycle that begins at t all wait at the
// same time: none of them has run while all holders were read once more.
static bool is_cycle(const struct threads *all, const struct thread *t) {
  const struct thread *members[64];
  unsigned long long before[64];
  size_t n = 0;
  for (const struct thread *m = t; n == 0 || m != t; m = m->of) {
    if (!m || n == sizeof members / sizeof *members)
      return false;
    before[n] = read_switches(all->target->pid, m->tid);
    members[n++] = m;
  }
  for (size_t i = 0; i < n; i++) {
    uint64_t lock;
    if (target_futex(all->target->pid, members[i]->tid).address !=
            members[i]->futex.address ||
        read_holder(all, members[i], &lock) != members[i]->holder)
      return false;
  }
  for (size_t i = 0; i < n; i++)
    if (read_switches(all->target->pid, members[i]->tid) != before[i])
      return false;
  return true;
}

// Returns the same, also if the threads are still on the way back into the
// waits that the reading of their stacks has interrupted.
static bool stays_cycle(const struct threads *all, const struct thread *t) {
  enum { TRIES = 100, PAUSE_MS = 5 };
  for (int i = 0; i < TRIES; i++) {
    if (is_cycle(all, t))
      return true;
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
  }
  return false;
}

// Returns whether following the holders from t leads back to t.
static bool leads_back(const struct threads *all, const struct thread *t) {
  const struct thread *at = t->of;
  for (size_t steps = 0; at && at != t && steps < all->count; steps++)
    at = at->of;
  return at == t;
}

static void find_stuck(const struct threads *all) {
  for (size_t i = 0; i < all->count; i++) {
    struct thread *t = all->items[i];
    if (leads_back(all, t) && stays_cycle(all, t))
      t->grade = "certain";
    else if (t->holder && !t->of && t->lock && has_ended(t->holder))
      t->grade = "likely";
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (size_t i = 0; i < all->count; i++) {
      struct thread *t = all->items[i];
      if (!t->grade && t->of && t->of->grade && t->of != t) {
        t->grade = t->of->grade;
        changes = true;
      }
    }
  }
}

// --- the profile ---

struct module {
  uint64_t start, limit;
  uint32_t mapping; // in the profile
};

struct modules {
  struct module *items;
  size_t count, capacity;
};

// Returns the file name of the mapping of code that the process has made at run
// time. It has the number of the process in its own namespace.
static char *jit_file(pid_t pid) {
  char numbers[256];
  if (!target_status(pid, pid, "NSpid", numbers, sizeof numbers))
    return text_of(MPROF_JIT_FILE " %d]", (int)pid);
  const char *last = strrchr(numbers, '\t');
  return text_of(MPROF_JIT_FILE " %ld]",
                 strtol(last ? last : numbers, NULL, 10));
}

struct mapping_list {
  struct profile *p;
  struct stacks *stacks;
  const char *jit; // see jit_file
  struct modules modules;
};

static void add_mapping(const struct target_mapping *t, void *arg) {
  struct mapping_list *l = arg;
  if (!t->is_code)
    return;
  const bool is_jit = t->path[0] == '\0' || strncmp(t->path, "/memfd:", 7) == 0;
  char *build_id = stacks_build_id(l->stacks, t->start);
  const struct mapping mapping = {
      .start = is_jit ? 0 : t->start,
      .limit = is_jit ? 0 : t->limit,
      .offset = is_jit ? 0 : t->offset,
      .file = profile_text(l->p, is_jit ? l->jit : t->path),
      .build_id = profile_text(l->p, build_id)};
  *APPEND(l->modules.items, l->modules.count, l->modules.capacity) =
      (struct module){.start = t->start,
                      .limit = t->limit,
                      .mapping = profile_mapping(l->p, &mapping)};
  free(build_id);
}

// Adds the mappings of code to the profile.
static struct modules add_mappings(struct profile *p, struct stacks *stacks,
                                   pid_t pid) {
  char *jit = jit_file(pid);
  struct mapping_list l = {.p = p, .stacks = stacks, .jit = jit};
  target_each_mapping(pid, add_mapping, &l);
  free(jit);
  return l.modules;
}

// The locations of code that the process has made at run time.
struct jit_locations {
  struct profile *p;
  uint32_t *items;
  uint64_t *addresses;
  size_t count;
};

static void take_name(void *arg, size_t index, const struct name_frame *f,
                      size_t count) {
  const struct jit_locations *j = arg;
  const string_id name = profile_text(j->p, f->function);
  const struct function function = {name, name, profile_text(j->p, f->file),
                                    f->start_line};
  const struct line line = {profile_function(j->p, &function), f->line};
  profile_set_lines(j->p, j->items[index], &line, count ? 1 : 0);
}

// Names these locations by the files of the process, below its root directory.
static void name_jit(struct profile *p, const struct target *t) {
  struct jit_locations j = {
      .p = p,
      .items = zeroed(p->location_count + 1, sizeof *j.items),
      .addresses = zeroed(p->location_count + 1, sizeof *j.addresses)};
  char *file = NULL;
  for (size_t i = 0; i < p->location_count; i++) {
    const struct location *l = &p->locations[i];
    if (l->mapping == NO_MAPPING ||
        !profile_file_is_jit(p->strings[p->mappings[l->mapping].file]))
      continue;
    if (!file)
      file = text_of("%s", p->strings[p->mappings[l->mapping].file]);
    j.addresses[j.count] = l->address;
    j.items[j.count++] = (uint32_t)i;
  }
  if (file)
    free(jit_names_find(&(struct jit_query){.mapping = file,
                                            .sysroot = t->root,
                                            .process = t->pid,
                                            .addresses = j.addresses,
                                            .count = j.count},
                        take_name, &j));
  free(file);
  free(j.items);
  free(j.addresses);
}

static uint32_t location_of(struct profile *p, const struct modules *m,
                            uint64_t address) {
  struct location l = {.address = address, .mapping = NO_MAPPING};
  for (size_t i = 0; i < m->count; i++)
    if (address >= m->items[i].start && address < m->items[i].limit)
      l.mapping = m->items[i].mapping;
  return profile_location(p, &l, NULL);
}

static void add_label(struct profile *p, struct label *labels, uint32_t *n,
                      const char *key, const char *value) {
  struct label l = {.key = profile_text(p, key), .str = profile_text(p, value)};
  uint32_t i = (*n)++;
  for (; i > 0 && labels[i - 1].key > l.key; i--)
    labels[i] = labels[i - 1];
  labels[i] = l;
}

static void add_thread(struct profile *p, pid_t pid, const struct modules *m,
                       const struct thread *t, bool shows_lock) {
  static uint32_t locations[STACK_FRAMES];
  struct label labels[8];
  uint32_t n = 0, frames = 0;
  char text[64];
  const int64_t one = 1;
  add_label(p, labels, &n, "state",
            !t->is_read       ? "unread"
            : t->state == 'R' ? "running"
                              : "waiting");
  if (t->kind && t->state != 'R')
    add_label(p, labels, &n, "kind", t->kind);
  if (shows_lock) {
    char name[32] = "?";
    target_status(pid, t->tid, "Name", name, sizeof name);
    snprintf(text, sizeof text, "%d %s", (int)t->tid, name);
    add_label(p, labels, &n, "thread", text);
  }
  if (shows_lock && t->grade)
    add_label(p, labels, &n, "grade", t->grade);
  if (shows_lock && t->lock) {
    snprintf(text, sizeof text, "0x%lx", (unsigned long)t->lock);
    add_label(p, labels, &n, "lock", text);
  }
  if (shows_lock && t->holder) {
    snprintf(text, sizeof text, "thread %d",
             (int)(t->of ? t->of->tid : t->holder));
    add_label(p, labels, &n, "holder", text);
  }
  for (size_t i = 0; i < t->stack.count; i++)
    locations[frames++] = location_of(p, m, t->stack.addresses[i]);
  profile_sample(p, locations, frames, labels, n, 1, &one);
}

static struct profile *new_profile(int pid, const char *type) {
  struct profile *p = profile_new();
  struct timespec now;
  p->type_count = 1;
  p->types[0] =
      (struct value_type){profile_text(p, type), profile_text(p, "count")};
  p->period_type = p->types[0];
  p->period = 1;
  clock_gettime(CLOCK_REALTIME, &now);
  p->time_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
  process_add_command(p, pid);
  profile_comment(p, profile_text(p, "read: from outside"));
  return p;
}

// --- all of it ---

// Reads the stack of each thread. Returns 0, or the error of the first thread
// if none could be stopped.
static int read_stacks(struct threads *all, struct stacks *stacks) {
  int first = 0;
  size_t read = 0;
  for (size_t i = 0; i < all->count; i++) {
    struct thread *t = all->items[i];
    struct remote r;
    t->futex = target_futex(all->target->pid, t->tid);
    // A thread in an uninterruptible wait does not stop.
    const int error =
        t->state == 'D' ? EAGAIN : remote_begin(&r, all->target, t->tid);
    if (error && !first)
      first = error;
    if (error)
      continue;
    stacks_read(stacks, t->tid, &t->stack);
    remote_end(&r);
    t->is_read = true;
    read++;
  }
  return read > 0 ? 0 : first;
}

static void find_holders(struct threads *all) {
  for (size_t i = 0; i < all->count; i++) {
    struct thread *t = all->items[i];
    t->kind = joins(all, t) ? "join" : kind_of(t);
    t->holder = read_holder(all, t, &t->lock);
    t->of = find(all, t->holder);
  }
}

struct profile *process_threads(int pid, bool only_stuck, char **why) {
  struct target target;
  struct threads all = {.target = &target};
  struct profile *p = NULL;
  *why = target_read(&target, pid);
  struct stacks *stacks = *why ? NULL : stacks_begin(&target);
  if (!stacks) {
    if (!*why)
      *why = text_of("its mappings cannot be read");
    return NULL;
  }
  list_threads(&all);
  const int error = read_stacks(&all, stacks);
  if (error) {
    *why = error == EPERM ? target_why_refused(pid)
                          : text_of("no thread stops: %s", strerror(error));
  } else {
    find_holders(&all);
    find_stuck(&all);
    p = new_profile(pid, only_stuck ? "threadleak" : "threads");
    struct modules m = add_mappings(p, stacks, pid);
    for (size_t i = 0; i < all.count; i++)
      if (!only_stuck || all.items[i]->grade)
        add_thread(p, pid, &m, all.items[i], only_stuck);
    free(m.items);
    name_jit(p, &target);
  }
  stacks_end(stacks);
  for (size_t i = 0; i < all.count; i++)
    free(all.items[i]);
  free(all.items);
  return p;
}
