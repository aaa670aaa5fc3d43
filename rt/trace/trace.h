// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The execution trace shows what each thread does over time. A session begins
// with mprof_trace_start and ends with mprof_trace_stop. During a session, the
// functions that count waits and allocations for the profiles also add records
// to the trace. (Go: runtime/trace.go)
//
// Go's trace shows goroutines (G) that run on processors (P). In MProf's trace,
// each thread is a G, and the number of a G is never reused. A P is a row
// (struct mprof_trace_row), which belongs to one thread until the thread ends.
// The trace needs no data from the scheduler, because a thread keeps its row as
// long as it lives.
//
// A thread adds a record between mprof_trace_enter and mprof_trace_leave, with
// the recursion guard set (tls.h). To end a session, a thread sets the session
// number to 0 and issues a memory barrier on all processors. Then this thread
// waits until no thread is adding a record. After that, no thread writes to the
// rows.

#ifndef MPROF_RT_TRACE_TRACE_H
#define MPROF_RT_TRACE_TRACE_H

#include "sys/base.h"
#include "trace/trace_out.h"

// Called in a forked child: resets the variables of the trace, as if no trace
// session had been started. The session belongs to the parent.
void mprof_trace_reset(void);
// Sets the function pointers in mprof_trace_outlet, and in mprof_guard_hooks
// (tls.h). Called once at program start, before other threads can start a
// session.
void mprof_trace_outlet_init(void);
// Starts a session if the option trace or the option trace_last asks for one.
// Called at program start and in a forked child that is profiled.
void mprof_trace_init(void);
// Returns whether a trace session was started and not stopped. Sets *own_path
// to the path that the program passed to mprof_trace_start, or to NULL. Call
// this at the end of the process, with the recursion guard set and writer_lock
// held.
bool mprof_trace_is_open(const char **own_path);
// Returns whether a trace session was started and not stopped. The caller needs
// neither the recursion guard nor a lock.
bool mprof_trace_has_session(void);
// Starts a session whose trace is written to the regular file fd. Returns 0,
// -EBUSY while another session runs, or another -errno. Call with the recursion
// guard set.
int mprof_trace_begin_session(int fd);
// Returns whether a session runs that was started with this descriptor.
bool mprof_trace_has_session_of(int fd);
// Ends the session and writes the trace to the file that the program gave when
// it started the session. If the program gave no file, writes to `path`. If
// path is NULL, the options determine the file. *result receives the outcome.
// Returns 0 or -errno. Call with the recursion guard set and writer_lock held.
int mprof_trace_finish_session(const char *path,
                               struct mprof_trace_result *result);
// Writes the newest part of the trace of a flight recorder to the regular file
// fd, as mprof_trace_snapshot does. Returns 0; -ESRCH if there is no trace;
// -ENOTSUP if the trace is no flight recorder; or another -errno. Call with the
// recursion guard set and writer_lock held.
int mprof_trace_snapshot_to(int fd);
// Writes the part of the trace of a flight recorder from the time `ticks` on,
// in ticks of the trace, to the file at `path`. Returns and needs the same.
int mprof_trace_snapshot_from(const char *path, uint64_t ticks);

// --- names, labels and messages (trace_user.c) ---
//
// The names to which records refer, and the records with names and labels of
// threads. mprof/mprof.h declares the functions that the program calls.

struct mprof_trace_row;

// Maximum length of a message in bytes. Longer messages are truncated.
#define MPROF_TRACE_LOG_MAX 1024u
// Returns the text of the name with this handle, or "" if the handle is 0.
const char *mprof_trace_name_text(uint32_t handle);
// Empties the table of names in a forked child.
void mprof_trace_names_reset(void);
// Adds a message with the current name of the thread that owns row r, unless
// the trace already has this name. now: time of the clock. Call this while the
// thread does not wait, and when row r has room for a record.
void mprof_trace_put_thread_name(struct mprof_trace_row *r, uint64_t now);
// Returns the handle of "thread.name", the key of messages with thread names.
uint32_t mprof_trace_name_key(void);
// Adds a message with the name of the lock for which the thread that owns row r
// is about to wait, when row r has room for a record and the name.
void mprof_trace_put_lock_name(struct mprof_trace_row *r, uint64_t now,
                               const char *name, size_t len);
// Adds a record of the current label set of the calling thread to row r, which
// belongs to the thread. now: time of the clock. Call this between
// mprof_trace_enter and mprof_trace_leave, when row r has room for a record.
void mprof_trace_put_labels(struct mprof_trace_row *r, uint64_t now);
// Returns the handle of "lock.waited_ns", the key of messages that tell how
// long other threads have waited for a lock that a thread releases.
uint32_t mprof_trace_charge_key(void);
// Returns the handle of "labels", the key of messages with label sets.
uint32_t mprof_trace_labels_key(void);

// --- slow tasks (slow_tasks.c) ---
//
// Finds tasks that took longer than the option trace_slow_task allows, so that
// the runtime's thread of snapshots writes the trace of the time around them.
//
// The table of open tasks takes no lock. It has room for 4,096 tasks. If it is
// full, for example because the program does not end its tasks, a new task
// replaces an older one, which is then not found to be slow.

// The slow tasks since the last call of mprof_slow_tasks_take.
struct mprof_slow_tasks {
  uint64_t count;
  // The first of them: its number, the handle of its name, and how long it
  // took, in ticks of the trace.
  uint64_t task, took;
  uint32_t name;
  uint64_t begin; // of the task that began first, in ticks of the trace
};

// Prepares the table if the option is set. Called before the session begins.
void mprof_slow_tasks_init(void);
// Returns the option trace_slow_task in ticks of the trace.
uint64_t mprof_slow_task_limit(void);
// Record the begin and the end of a task. name: handle of its name. ticks: time
// in ticks of the trace. Call these with the recursion guard set.
void mprof_slow_task_begin(uint64_t task, uint32_t name, uint64_t ticks);
void mprof_slow_task_end(uint64_t task, uint64_t ticks);
// Returns whether a slow task has ended since mprof_slow_tasks_take.
bool mprof_slow_tasks_has_news(void);
// Returns the slow tasks and forgets them.
struct mprof_slow_tasks mprof_slow_tasks_take(void);
// Forgets the slow tasks in a forked child, because their trace belongs to its
// parent.
void mprof_slow_tasks_reset(void);

// --- the window of a flight recorder (trace_window.c) ---
//
// Writes the window of a flight recorder: the newest part of the trace. All
// times are in ticks of the trace.

struct mprof_trace_row;
struct mprof_trace_writer;

// Returns whether all records are at wanted_ticks or later, and no buffer was
// dropped. If so, the caller can write the whole trace instead of a window.
bool mprof_trace_is_whole(const struct mprof_trace_row *rows,
                          uint64_t wanted_ticks);
// Writes the records of all rows from the time wanted_ticks on. The file begins
// later if buffers with records after wanted_ticks were dropped. Returns 0 or
// -errno.
int mprof_trace_write_window(struct mprof_trace_writer *w,
                             struct mprof_trace_row *rows,
                             uint64_t wanted_ticks);

#endif // MPROF_RT_TRACE_TRACE_H
