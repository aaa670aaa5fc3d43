// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread at a safe point (stacks.h) calls mmap for a stack, dlopen,
// dlsym, mprof_start and munmap.

#include "attach/inject.h"

#include "attach/remote_call.h"
#include "attach/stacks.h"
#include "common/clock.h"
#include "common/memory.h"
#include "live/live_client.h"
#include "live/process_mprof.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  WAIT_MS = 5000, // for a safe point
  PAUSE_MS = 5,
  STACK_BYTES = 512 << 10,
  TEXT_BYTES = 16 << 10, // of the stack, for texts
  MESSAGE = 400,
};

// --- calls ---

struct injection {
  struct remote remote;
  struct target *target;
  uint64_t memory;   // of STACK_BYTES; its begin is for texts
  size_t text_used;  // bytes
  const char *error; // of the first call that has failed, or NULL
};

static uint64_t call_at(struct injection *i, uint64_t function, uint64_t a,
                        uint64_t b, uint64_t c, uint64_t d, uint64_t e) {
  const uint64_t arguments[REMOTE_ARGUMENTS] = {a, b, c, d, e, 0};
  uint64_t result = 0;
  if (!i->error)
    i->error = remote_call(&i->remote, function, arguments,
                           i->memory ? i->memory + STACK_BYTES : 0, &result);
  return i->error ? 0 : result;
}

static uint64_t function(struct injection *i, const char *name) {
  const uint64_t f = target_function(i->target, name);
  if (!f && !i->error)
    i->error = "its libc cannot be read, or lacks dlopen";
  return f;
}

// Copies a text into the process. Returns its address.
static uint64_t put_text(struct injection *i, const char *text) {
  const size_t size = strlen(text) + 1;
  const uint64_t at = i->memory + i->text_used;
  if (!i->error && (i->text_used + size > TEXT_BYTES ||
                    !target_put(i->target, at, text, size)))
    i->error = "its memory cannot be written";
  i->text_used += size;
  return at;
}

static char *get_text(const struct injection *i, uint64_t at) {
  char text[MESSAGE] = "";
  for (size_t n = 0; at && n + 1 < sizeof text; n++)
    if (!target_get(i->target, at + n, &text[n], 1) || text[n] == '\0')
      break;
  return text_of("%s", text);
}

// --- the library's file ---

static bool is_same_file(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

// Copies the file at `path` to the file `to`.
static bool copy_file(const char *path, const char *to) {
  char bytes[65536];
  const int in = open(path, O_RDONLY | O_CLOEXEC),
            out = open(to, O_WRONLY | O_CLOEXEC);
  ssize_t n = -1;
  while (in >= 0 && out >= 0 && (n = read(in, bytes, sizeof bytes)) > 0)
    if (write(out, bytes, (size_t)n) != n) {
      n = -1;
      break;
    }
  if (in >= 0)
    close(in);
  if (out >= 0)
    close(out);
  return n == 0;
}

// Returns the path by which the process can open the library. If the process
// has another root directory, such as one in a container, the path is that of a
// file in its memory, *fd.
static char *path_in_process(struct injection *i, const char *path,
                             uint64_t *fd) {
  char *there = text_of("%s%s", i->target->root, path);
  *fd = UINT64_MAX;
  if (is_same_file(path, there)) {
    free(there);
    return text_of("%s", path);
  }
  free(there);
  const uint64_t name = put_text(i, "libmprof_preload.so");
  *fd = call_at(i, function(i, "memfd_create"), name, 0, 0, 0, 0);
  if (!i->error && (int)*fd < 0)
    i->error = "it cannot make a file in memory (memfd_create)";
  char *file = text_of("/proc/%d/fd/%d", (int)i->target->pid, (int)*fd);
  if (!i->error && !copy_file(path, file))
    i->error = "the library cannot be copied into its memory";
  free(file);
  return text_of("/proc/self/fd/%d", (int)*fd);
}

// --- the calls of a thread at a safe point ---

// Returns the address of dlopen. glibc before 2.34 has it in libdl, which is
// loaded if the program has not loaded it.
static uint64_t find_dlopen(struct injection *i) {
  enum { RTLD_OF_LIBC = (int)0x80000000 }; // (glibc: __RTLD_DLOPEN)
  const uint64_t open_of_libc =
      target_function(i->target, "__libc_dlopen_mode");
  if (open_of_libc && !i->target->libdl) {
    call_at(i, open_of_libc, put_text(i, "libdl.so.2"),
            (unsigned)(RTLD_NOW | RTLD_OF_LIBC), 0, 0, 0);
    target_find_modules(i->target);
  }
  return function(i, "dlopen");
}

// Returns the handle of the library, or 0.
static uint64_t load(struct injection *i, const char *path, char **why) {
  uint64_t fd;
  const uint64_t open_library = find_dlopen(i);
  // An earlier mprof attach may have loaded it, also from another path.
  const uint64_t loaded =
      call_at(i, open_library, put_text(i, "libmprof_preload.so"),
              RTLD_NOW | RTLD_NOLOAD, 0, 0, 0);
  if (loaded || i->error)
    return loaded;
  char *file = path_in_process(i, path, &fd);
  const uint64_t handle =
      call_at(i, open_library, put_text(i, file), RTLD_NOW, 0, 0, 0);
  if (!handle && !i->error) {
    const uint64_t text = call_at(i, function(i, "dlerror"), 0, 0, 0, 0, 0);
    char *said = get_text(i, text);
    *why = text_of("it cannot load the library: %s", said);
    free(said);
  }
  if (fd != UINT64_MAX && !i->error)
    call_at(i, function(i, "close"), fd, 0, 0, 0, 0);
  free(file);
  return handle;
}

// Returns why the library does not start in a process that has MProf.
static char *why_already(pid_t pid) {
  char text[24];
  snprintf(text, sizeof text, "%d", (int)pid);
  if (live_has_server(text))
    return text_of("it was built or started with MProf; mprof ctl %d asks it "
                   "for profiles",
                   (int)pid);
  char *how = process_how_to_ask(text);
  char *why = text_of("it was built or started with MProf, but has no HTTP "
                      "server for commands; %s",
                      how);
  free(how);
  return why;
}

static char *start(struct injection *i, const char *path, const char *options) {
  char *why = NULL;
  const uint64_t handle = load(i, path, &why);
  if (!handle)
    return why;
  const uint64_t find = function(i, "dlsym");
  const uint64_t begin =
      call_at(i, find, handle, put_text(i, "mprof_start"), 0, 0, 0);
  const uint64_t end =
      call_at(i, find, handle, put_text(i, "__mprof_stop"), 0, 0, 0);
  if (!i->error && (!begin || !end))
    return text_of("it has another version of the library");
  if (!options) {
    call_at(i, end, 0, 0, 0, 0, 0);
    return NULL;
  }
  const uint64_t text = put_text(i, options);
  int result = (int)call_at(i, begin, text, 0, 0, 0, 0);
  if (result == EALREADY && (int)call_at(i, end, 0, 0, 0, 0, 0) == 0)
    result = (int)call_at(i, begin, text, 0, 0, 0, 0);
  if (i->error || result == 0)
    return NULL;
  if (result == EALREADY || result == ENOSYS)
    return why_already(i->target->pid);
  return text_of("MProf does not start in it: %s", strerror(result));
}

static char *run_calls(struct injection *i, const char *path,
                       const char *options) {
  const uint64_t memory =
      call_at(i, function(i, "mmap"), 0, STACK_BYTES, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX);
  if (!i->error && memory == UINT64_MAX)
    return text_of("it has no memory for a stack of %d KiB", STACK_BYTES >> 10);
  i->memory = memory;
  char *why = start(i, path, options);
  i->memory = 0;
  call_at(i, function(i, "munmap"), memory, STACK_BYTES, 0, 0, 0);
  return why;
}

// --- threads ---

struct thread {
  pid_t tid;
  bool sleeps;
};

struct thread_list {
  struct thread *items;
  size_t count, capacity;
};

// Threads that sleep come first, and among those the first thread.
static int by_promise(const void *a, const void *b) {
  const struct thread *x = a, *y = b;
  if (x->sleeps != y->sleeps)
    return x->sleeps ? -1 : 1;
  return (x->tid > y->tid) - (x->tid < y->tid);
}

static struct thread_list list_threads(pid_t pid) {
  struct thread_list l = {0};
  char path[64], state[64];
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *dir = opendir(path);
  for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
    const pid_t tid = atoi(e->d_name);
    // A thread in an uninterruptible wait does not stop.
    if (tid > 0 && target_status(pid, tid, "State", state, sizeof state) &&
        (state[0] == 'S' || state[0] == 'R'))
      *APPEND(l.items, l.count, l.capacity) =
          (struct thread){.tid = tid, .sleeps = state[0] == 'S'};
  }
  if (dir)
    closedir(dir);
  if (l.count)
    qsort(l.items, l.count, sizeof *l.items, by_promise);
  return l;
}

// Lets one of the threads make the calls. Returns false if none is at a safe
// point.
static bool try_threads(struct injection *i, struct stacks *stacks,
                        const char *path, const char *options, char **why,
                        int64_t *stopped_us) {
  struct thread_list l = list_threads(i->target->pid);
  bool is_done = false;
  if (kill(i->target->pid, 0) != 0 && errno == ESRCH) {
    *why = text_of("the process has ended");
    is_done = true;
  }
  for (size_t n = 0; n < l.count && !is_done; n++) {
    const int64_t begin = clock_now_us();
    const int error = remote_begin(&i->remote, i->target, l.items[n].tid);
    if (error == EPERM) {
      *why = target_why_refused(i->target->pid);
      is_done = true;
    }
    if (error)
      continue;
    if (!target_is_same(i->target)) {
      *why = text_of("it executes one program after the other; try again");
      is_done = true;
    } else if (!i->remote.is_in_sequence && !target_borrows_memory(i->target) &&
               stacks_is_safe(stacks, l.items[n].tid, i->remote.sleeps)) {
      *why = run_calls(i, path, options);
      is_done = true;
    }
    remote_end(&i->remote);
    *stopped_us = clock_now_us() - begin;
  }
  free(l.items);
  return is_done;
}

char *inject(const struct target *t, const char *path, const char *options,
             int64_t *stopped_us) {
  struct target target = *t;
  struct injection i = {.target = &target};
  struct stacks *stacks = stacks_begin(t);
  char *why = NULL;
  if (!stacks)
    return text_of("its stacks cannot be read");
  const int64_t end = clock_now_us() + WAIT_MS * INT64_C(1000);
  bool is_done;
  while (
      !(is_done = try_threads(&i, stacks, path, options, &why, stopped_us)) &&
      clock_now_us() < end)
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
  stacks_end(stacks);
  if (!is_done)
    return text_of("in 5 seconds, none of its threads was at a point where it "
                   "could load a library; try again");
  if (i.error && !why)
    why = text_of("%s", i.error);
  return why;
}

char *eject(const struct target *t) {
  int64_t unused;
  return inject(t, "", NULL, &unused);
}
