// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles that the program asks for.

#include "cycle.h"
#include "flags.h"
#include "init.h"
#include "mprof/mprof.h"
#include "threads.h"
#include "writer.h"

#include <errno.h>
#include <string.h>

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
  struct mprof_wait_stacks g = {0};
  int error = mprof_wait_snapshot_take(&s, type, false);
  if (error == 0 && debug == 1)
    error = mprof_wait_stacks_group(&g, &s);
  if (error == 0)
    error = debug == 1 ? mprof_write_wait_text(&s, &g, path)
                       : mprof_write_wait_pprof(&s, path);
  mprof_wait_stacks_free(&g);
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
  int error = mprof_thread_stacks_take(&s, mprof_writer_frame, SIZE_MAX,
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

static const struct {
  const char *name;
  int (*write)(const char *path, int debug);
} profiles[] = {{"heap", write_heap},           {"allocs", write_allocs},
                {"heapx", write_heapx},         {"block", write_block},
                {"mutex", write_mutex},         {"threadcreate", write_threads},
                {"threads", write_all_threads}, {"goroutine", write_goroutine}};

MPROF_PUBLIC int mprof_write_profile(const char *name, const char *path,
                                     int debug) {
  if (name == NULL || path == NULL || debug < 0 || debug > 2)
    return EINVAL;
  const size_t count = sizeof(profiles) / sizeof(profiles[0]);
  size_t i = 0;
  while (i < count && strcmp(profiles[i].name, name) != 0)
    i++;
  if (i == count)
    return EINVAL;
  if (debug == 2 && profiles[i].write != write_all_threads &&
      profiles[i].write != write_goroutine)
    return EINVAL;
  if (!mprof_init_ready() || !mprof_process_is_own())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  mprof_lock_acquire(&mprof_writer_lock);
  mprof_writer_frame = (uintptr_t)__builtin_frame_address(0);
  int error = profiles[i].write(path, debug);
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
  return error;
}
