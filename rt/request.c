// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the profiles that the program requests by mprof_write_profile, and
// lists their names.

#include "bucket/bucket.h"
#include "bucket/custom_profile.h"
#include "bucket/cycle.h"
#include "file/writer_lock.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/group_threads.h"
#include "snapshot/snapshot_custom.h"
#include "snapshot/snapshot_heap.h"
#include "snapshot/snapshot_threadcreate.h"
#include "snapshot/snapshot_wait.h"
#include "stuck/stuck.h"
#include "stuck/stuck_graph.h"
#include "stuck/stuck_types.h"
#include "sys/caller.h"
#include "sys/flags.h"
#include "sys/lock.h"
#include "sys/process.h"
#include "sys/sort.h"
#include "sys/tls.h"
#include "wait/thread_slots.h"
#include "wait/thread_stacks.h"
#include "write/write_custom.h"
#include "write/write_pprof.h"
#include "write/write_stuck.h"
#include "write/write_text.h"
#include "write/write_text_heapx.h"
#include "write/write_text_wait.h"
#include "write/write_thread_stacks.h"

#include <errno.h>
#include <string.h>

extern void __msan_unpoison(const volatile void *p, size_t len)
    __attribute__((weak));

static int write_mem(const char *path, int debug, bool allocs_first) {
  struct mprof_mem_snapshot s;
  int error = mprof_mem_snapshot_take(&s, mprof_cycle_dump_ends_it(false));
  if (error == 0)
    error = debug == 1 ? mprof_write_heap_text(&s, path)
                       : mprof_write_heap_pprof(&s, path, allocs_first);
  mprof_mem_snapshot_free(&s);
  return error;
}

static int write_heap(const char *path, int debug) {
  return write_mem(path, debug, false);
}

static int write_allocs(const char *path, int debug) {
  return write_mem(path, debug, true);
}

static int write_heapx(const char *path, int debug) {
  struct mprof_mem_snapshot s;
  struct mprof_heapx_stacks g = {0};
  if (!mprof_flags.heapx)
    return ENOTSUP;
  int error = mprof_mem_snapshot_take(&s, mprof_cycle_dump_ends_it(false));
  if (error == 0 && debug == 1)
    error = mprof_heapx_stacks_group(&g, &s);
  if (error == 0)
    error = debug == 1 ? mprof_write_heapx_text(&g, path)
                       : mprof_write_heapx_pprof(&s, path);
  mprof_heapx_stacks_free(&g);
  mprof_mem_snapshot_free(&s);
  return error;
}

static int write_waits(const char *path, int debug,
                       enum mprof_bucket_type type) {
  struct mprof_wait_snapshot s;
  int error = mprof_wait_snapshot_take(&s, type, false);
  if (error == 0)
    error = debug == 1 ? mprof_write_wait_text(&s, path)
                       : mprof_write_wait_pprof(&s, path);
  mprof_wait_snapshot_free(&s);
  return error;
}

static int write_block(const char *path, int debug) {
  return write_waits(path, debug, MPROF_BUCKET_BLOCK);
}

static int write_mutex(const char *path, int debug) {
  return write_waits(path, debug, MPROF_BUCKET_MUTEX);
}

static int write_threads(const char *path, int debug) {
  struct mprof_thread_snapshot s;
  int error =
      mprof_thread_snapshot_take(&s, mprof_flags.all_threads, debug == 1);
  if (error == 0)
    error = debug == 1 ? mprof_write_thread_text(&s, path)
                       : mprof_write_thread_pprof(&s, path);
  mprof_thread_snapshot_free(&s);
  return error;
}

static int write_stacks(const char *name, const char *path, int debug) {
  struct mprof_thread_stacks s;
  int error = mprof_thread_stacks_take(&s, mprof_writer_caller.frame, SIZE_MAX,
                                       mprof_flags.stop_threads);
  if (error == 0 && debug != 2)
    mprof_thread_stacks_group(&s);
  if (error == 0)
    error = debug == 0   ? mprof_write_stacks_pprof(&s, name, path)
            : debug == 1 ? mprof_write_stacks_text(&s, name, path)
                         : mprof_write_stacks_list(&s, path);
  mprof_thread_stacks_free(&s);
  return error;
}

static int write_all_threads(const char *path, int debug) {
  return write_stacks("threads", path, debug);
}

static int write_goroutine(const char *path, int debug) {
  return write_stacks("goroutine", path, debug);
}

static int write_leak(const char *name, const char *path, int debug) {
  struct mprof_stuck g;
  int error = mprof_stuck_take(&g, &mprof_writer_caller, 0);
  if (error == 0 && debug != 2)
    mprof_thread_stacks_group(&g.stacks);
  if (error == 0)
    error = debug == 0   ? mprof_write_stacks_pprof(&g.stacks, name, path)
            : debug == 1 ? mprof_write_stacks_text(&g.stacks, name, path)
                         : mprof_write_stuck_list(&g, path);
  mprof_stuck_free(&g);
  return error;
}

static int write_threadleak(const char *path, int debug) {
  return write_leak("threadleak", path, debug);
}

static int write_goroutineleak(const char *path, int debug) {
  return write_leak("goroutineleak", path, debug);
}

static const struct {
  const char *name;
  int (*write)(const char *path, int debug);
} profiles[] = {{"heap", write_heap},
                {"allocs", write_allocs},
                {"heapx", write_heapx},
                {"block", write_block},
                {"mutex", write_mutex},
                {"threadcreate", write_threads},
                {"threads", write_all_threads},
                {"goroutine", write_goroutine},
                {"threadleak", write_threadleak},
                {"goroutineleak", write_goroutineleak}};

enum { BUILT_IN = sizeof(profiles) / sizeof(profiles[0]) };

static bool is_of_threads(size_t i) {
  return i < BUILT_IN && (profiles[i].write == write_all_threads ||
                          profiles[i].write == write_goroutine ||
                          profiles[i].write == write_threadleak ||
                          profiles[i].write == write_goroutineleak);
}

static size_t find(const char *name) {
  size_t i = 0;
  while (i < BUILT_IN && strcmp(profiles[i].name, name) != 0)
    i++;
  return i;
}

static int write_custom(const char *path, int debug, size_t number) {
  struct mprof_custom_snapshot s;
  int error = mprof_custom_snapshot_take(&s, number);
  if (error == 0)
    error = debug == 1 ? mprof_write_custom_text(&s, path)
                       : mprof_write_custom_pprof(&s, path);
  mprof_custom_snapshot_free(&s);
  return error;
}

MPROF_PUBLIC int mprof_write_profile(const char *name, const char *path,
                                     int debug) {
  if (name == NULL || path == NULL || debug < 0 || debug > 2)
    return EINVAL;
  const size_t i = find(name), custom = mprof_custom_profile_find(name);
  if (i == BUILT_IN && custom == MPROF_CUSTOM_PROFILES)
    return EINVAL;
  if (debug == 2 && !is_of_threads(i))
    return EINVAL;
  if (!mprof_init_ready() || !mprof_process_is_own())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  mprof_lock_acquire(&mprof_writer_lock);
  MPROF_CALLER(&mprof_writer_caller);
  int error = i < BUILT_IN ? profiles[i].write(path, debug)
                           : write_custom(path, debug, custom);
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
  return error;
}

MPROF_PUBLIC int mprof_profile_write(const struct mprof_profile *profile,
                                     const char *path, int debug) {
  const char *name = mprof_custom_profile_of(profile);
  return name != NULL ? mprof_write_profile(name, path, debug) : EINVAL;
}

// --- list of the profiles ---

static bool comes_first(const void *a, const void *b) {
  return strcmp(a, b) < 0;
}

MPROF_PUBLIC int mprof_profiles(const char **names, size_t len, size_t *n) {
  const char *all[BUILT_IN + MPROF_CUSTOM_PROFILES];
  *n = 0;
  for (size_t i = 0; i < BUILT_IN; i++)
    if (profiles[i].write != write_heapx || mprof_flags.heapx)
      all[(*n)++] = profiles[i].name;
  const size_t custom = mprof_custom_profiles();
  for (size_t i = 0; i < custom; i++)
    all[(*n)++] = mprof_custom_profile_name(i);
  mprof_sort((void **)all, *n, comes_first);
  if (__msan_unpoison)
    __msan_unpoison(n, sizeof(*n));
  if (*n > len)
    return ERANGE;
  memcpy(names, all, *n * sizeof(names[0]));
  if (__msan_unpoison)
    __msan_unpoison(names, *n * sizeof(names[0]));
  return 0;
}
