// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the threads that existed when a trace session began, with their state
// at that time: running, waiting, or in a system call. A thread is removed from
// the list when it adds its first record. See trace.h.

#include "trace/trace_existing_threads.h"

#include "sys/os_linux.h"
#include "sys/os_memory.h"
#include "sys/persistent.h"
#include "thread/proc_threads.h"
#include "thread/threads.h"
#include "trace/trace_buf.h"
#include "trace/trace_events.h"
#include "trace/trace_rows.h"
#include "trace/trace_types.h"

#include <errno.h>
#include <sys/syscall.h>

struct before {
  int tid; // 0: the place is free
  // Handle of the stack of the start function. If the start function is
  // unknown, handle of the stack of the call that created the thread.
  uint32_t start;
  uint64_t g;
  uint8_t from; // enum mprof_trace_from; UNKNOWN: no longer on the list
};

// The list of threads, as a hash table: each thread looks for itself while it
// holds trace_lock, so this must not take longer if there are many threads.
// Guarded by trace_lock.
static struct {
  struct before *v;
  size_t places; // number of elements of v, a power of 2; more than threads
} pre;

// Returns the place of thread tid in the table, or the free place for it.
static struct before *place_of(int tid) {
  size_t i = (size_t)tid * 0x9e3779b97f4a7c15u >> 32;
  while (pre.v[i & (pre.places - 1)].tid != 0 &&
         pre.v[i & (pre.places - 1)].tid != tid)
    i++;
  return &pre.v[i & (pre.places - 1)];
}

// Returns whether the trace shows a thread in the system call `number` as being
// in a system call. A thread in any other system call is shown as waiting.
static bool is_call(long number) {
  static const short calls[] = {
      SYS_read,       SYS_readv,           SYS_pread64,     SYS_write,
      SYS_writev,     SYS_pwrite64,        SYS_wait4,       SYS_waitid,
      SYS_fsync,      SYS_fdatasync,       SYS_msync,       SYS_flock,
      SYS_fcntl,      SYS_openat,          SYS_ioctl,       SYS_splice,
      SYS_sendfile,   SYS_msgrcv,          SYS_msgsnd,      SYS_semop,
      SYS_semtimedop, SYS_mq_timedreceive, SYS_mq_timedsend};
  for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
    if (calls[i] == number)
      return true;
  return false;
}

// Returns the state of thread tid as reported by the kernel. A sleeping thread
// is in a system call, but some kernels do not reveal the number of the call.
// In that case, the result is MPROF_TRACE_FROM_WAITING.
static enum mprof_trace_from look_at(int tid) {
  struct mprof_proc_thread p;
  if (!mprof_proc_thread(tid, &p) || (p.state != 'S' && p.state != 'D'))
    return MPROF_TRACE_FROM_RUNNING;
  return is_call(p.syscall) ? MPROF_TRACE_FROM_CALL : MPROF_TRACE_FROM_WAITING;
}

static void put_locked(struct mprof_trace_row *r,
                       const struct mprof_thread_info *info) {
  if (info->tid == mprof_sys_gettid() ||
      !mprof_trace_has_room(r, MPROF_TRACE_RECORD_MAX))
    return;
  struct before *p = place_of(info->tid);
  *p = (struct before){.tid = info->tid,
                       .g = mprof_trace_new_g(),
                       .start = info->runs.start != 0
                                    ? mprof_trace_start_of(&info->runs)
                                    : mprof_persistent_handle(info->created),
                       .from = (uint8_t)look_at(info->tid)};
  unsigned char *at = r->last->data + r->last->len;
  *at++ = MPROF_TRACE_PRE;
  at = mprof_trace_put(at, p->g);
  at = mprof_trace_put(at, p->from);
  at = mprof_trace_put(at, p->start);
  at = mprof_trace_put(at, (uint64_t)p->tid);
  mprof_trace_finish(r, at);
}

int mprof_trace_existing_put(struct mprof_trace_row *r) {
  const size_t n = mprof_threads_list(NULL, 0) + 64;
  const size_t bytes = n * sizeof(struct mprof_thread_info);
  struct mprof_thread_info *v = mprof_os_map(bytes);
  for (pre.places = 1; pre.places < 2 * n;)
    pre.places *= 2;
  pre.v = mprof_os_map(pre.places * sizeof(*pre.v));
  const bool has_memory = v && pre.v;
  const size_t found = has_memory ? mprof_threads_list(v, n) : 0;
  for (size_t i = 0; i < found && i < n; i++)
    put_locked(r, &v[i]);
  if (v)
    mprof_os_unmap(v, bytes);
  return has_memory ? 0 : -ENOMEM;
}

enum mprof_trace_from mprof_trace_existing_find(int tid, uint64_t *g,
                                                uint32_t *start) {
  struct before *p = pre.v ? place_of(tid) : NULL;
  if (!p || p->tid != tid || p->from == MPROF_TRACE_FROM_UNKNOWN)
    return MPROF_TRACE_FROM_UNKNOWN;
  const enum mprof_trace_from from = p->from;
  *g = p->g;
  *start = p->start;
  p->from = MPROF_TRACE_FROM_UNKNOWN;
  return from;
}

void mprof_trace_existing_drop(void) {
  if (pre.v)
    mprof_os_unmap(pre.v, pre.places * sizeof(*pre.v));
  mprof_trace_existing_reset();
}

void mprof_trace_existing_reset(void) { pre.v = NULL; }
