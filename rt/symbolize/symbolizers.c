// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds mprof, starts the helper process and exchanges messages with it; see
// names.h and symbolizer_protocol.h. The helper starts mprof and waits for its
// end:
//
//   this process --> helper --> mprof
//        \______ socket ______/
//
// The helper is needed because the kernel sends SIGCHLD to the parent of a
// process that has executed a program, and because wait functions report such a
// process. The program's own handlers and waits must not notice it.

#define _GNU_SOURCE 1

#include "symbolize/names.h"

#include "file/outfile.h"
#include "options/flags.h"
#include "process/helper_process.h"
#include "symbolize/symbolizer_protocol.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/pctable.h"
#include "sys/stats.h"
#include "thread/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>

_Static_assert(MPROF_REQUEST_FILE == sizeof(((struct mprof_mapping *)0)->file),
               "a request has the path of a mapping");
_Static_assert(MPROF_REQUEST_BUILD_ID ==
                   sizeof(((struct mprof_mapping *)0)->build_id),
               "a request has the build ID of a mapping");

#ifndef MPROF_SYMBOLIZER_TIMEOUT_MS
// Time limit for a reply. mprof reads even the debug information of large
// programs in less than a second if the machine is not busy. Tests set a
// shorter time.
#define MPROF_SYMBOLIZER_TIMEOUT_MS 30000
#endif

// After so many failures, mprof is not started again until the next profile.
enum { FAILURES_MAX = 3 };

// With this nice value, the program keeps about nine tenths of a processor that
// it shares with mprof.
enum { PATIENT_NICE = 10 };

struct messages {
  struct mprof_symbolizer_request request;
  char reply[MPROF_REPLY_SIZE];
};

static struct {
  struct mprof_helper helper;
  const char *path;   // of mprof; NULL: not searched for yet
  unsigned failures;  // since mprof_symbolizers_stop or _rest
  bool has_timed_out; // there was no reply in time; never ask again
  // helper.fd of a helper that waits for the next profile. While it waits, the
  // program may close the descriptor. MPROF_NO_FD: the helper was started for
  // this profile.
  struct mprof_own_fd kept;
  struct messages *messages;
  const char *cache;              // the user's cache directory, or NULL
  struct mprof_pc_table reported; // hashes of the files that were reported
  bool is_patient;                // see mprof_symbolizers_be_patient
} state = {.kept = MPROF_NO_FD};  // guarded by writer_lock

// --- the program ---

enum { MESSAGE_SIZE = MPROF_PATH_MAX + 256 };

// MPROF_SYMBOLIZER_PLACES: directories in which mprof may be. CMake
//   defines it as the directory of the build tree.
#ifndef MPROF_SYMBOLIZER_PLACES
#define MPROF_SYMBOLIZER_PLACES ""
#endif

// The places begin after PLACES_MARK. cmake --install finds the mark in the
// installed libraries, and replaces the places and some of the colons by the
// directory of the installation, which has the same length then
// (cmake/MProfInstall.cmake).
#define PLACES_MARK "mprof-places="
#define COLONS_64                                                              \
  "::::::::::::::::::::::::::::::::::::::::::::::::::::::::::::::::"
#define COLONS_256 COLONS_64 COLONS_64 COLONS_64 COLONS_64
// Volatile, because the compiler must not use the content.
static const volatile char places[] =
    PLACES_MARK MPROF_SYMBOLIZER_PLACES COLONS_256 COLONS_256 COLONS_256;

static struct {
  char path[MPROF_PATH_MAX]; // of mprof
  char cache[MPROF_PATH_MAX];
  bool has_reported; // the reason for missing names was reported
  bool has_warned;   // the wrong option external_symbolizer_path was reported
  char message[MESSAGE_SIZE];
} place; // guarded by writer_lock

// Stores the path of mprof in this directory in place.path. Returns false if
// the path is too long.
static bool join(const char *dir, size_t len) {
  struct mprof_text t = MPROF_TEXT(place.path);
  mprof_text_mem(&t, dir, len);
  mprof_text_str(&t, "/mprof");
  return t.len < MPROF_PATH_MAX - 1;
}

// Searches a colon-separated list of directories for an mprof that is_right
// accepts. Stores its path in place.path. Skips relative directories, because
// they depend on the current directory, into which another user may have put a
// program.
static bool search(const char *directories,
                   bool (*is_right)(const char *path)) {
  for (const char *p = directories; p != NULL && *p != '\0';) {
    size_t len = strcspn(p, ":");
    if (*p == '/' && join(p, len) && is_right(place.path))
      return true;
    p += len + (p[len] == ':');
  }
  return false;
}

// Reports why there are no names, but only the first time. The message begins
// with the strings `what`, `name` and `rest`. name: a path, an error or "".
static void report_missing(const char *what, const char *name,
                           const char *rest) {
  if (place.has_reported)
    return;
  place.has_reported = true;
  struct mprof_text t = MPROF_TEXT(place.message);
  mprof_text_str(&t, what);
  mprof_text_str(&t, name);
  mprof_text_str(&t, rest);
  mprof_text_str(&t, "; frames are shown without names; mprof symbolize adds "
                     "them to a profile");
  mprof_message_always(t.buf);
}

// Returns whether the path is that of an executable ELF file. Python's package
// memory_profiler has a script with the name mprof.
static bool is_program(const char *path) {
  static const char magic[4] = "\177ELF";
  char begin[sizeof(magic)] = "";
  const long fd = mprof_os_is_executable(path)
                      ? mprof_sys_open(path, O_RDONLY | O_CLOEXEC, 0)
                      : -1;
  if (fd < 0)
    return false;
  mprof_sys_read((int)fd, begin, sizeof(begin));
  mprof_sys_close((int)fd);
  return memcmp(begin, magic, sizeof(magic)) == 0;
}

// Checks the path in the user's option.
static bool is_named(const char *path) {
  static const char name[] = "mprof";
  const char *slash = strrchr(path, '/');
  const char *base = slash == NULL ? path : slash + 1;
  return strncmp(base, name, sizeof(name) - 1) == 0 &&
         mprof_os_is_executable(path);
}

// Reports, but only the first time, that the option names no mprof. Users of
// sanitizers may have set it to llvm-symbolizer.
static void report_option(const char *path) {
  if (place.has_warned)
    return;
  place.has_warned = true;
  struct mprof_text t = MPROF_TEXT(place.message);
  mprof_text_str(&t, "external_symbolizer_path '");
  mprof_text_str(&t, path);
  mprof_text_str(&t, "' is not an executable file whose name begins with "
                     "mprof; mprof is searched for in the usual places");
  mprof_message_always(t.buf);
}

// Returns the path of mprof. Returns NULL and reports the reason if mprof is
// not found. Returns NULL without a report if the process is AT_SECURE.
static const char *find_program(void) {
  const char *flag = mprof_flags.external_symbolizer_path;
  // A privileged (AT_SECURE) program must not run another program, because the
  // environment comes from an unprivileged user.
  if (getauxval(AT_SECURE) != 0)
    return NULL;
  if (flag[0] != '\0' && is_named(flag))
    return flag;
  if (flag[0] != '\0')
    report_option(flag);
  // The program may run on a machine on which other users can create files at
  // the place that was recorded.
  if (search((const char *)(uintptr_t)&places[sizeof(PLACES_MARK) - 1],
             mprof_os_is_trusted) ||
      search(mprof_flags_environment("PATH"), is_program))
    return place.path;
  report_missing("found no mprof: add the directory of mprof to PATH "
                 "or set the option external_symbolizer_path",
                 "", "");
  return NULL;
}

// Returns the path of the user's cache directory, in which mprof may keep
// names, or NULL.
static const char *find_cache(void) {
  static const char *const names[] = {"XDG_CACHE_HOME", "HOME"};
  for (int i = 0; i < 2 && mprof_flags.symbolizer_cache; i++) {
    const char *dir = mprof_flags_environment(names[i]);
    struct mprof_text t = MPROF_TEXT(place.cache);
    if (dir == NULL || dir[0] != '/')
      continue;
    mprof_text_str(&t, dir);
    mprof_text_str(&t, i == 1 ? "/.cache" : "");
    return t.len < MPROF_PATH_MAX - 1 ? place.cache : NULL;
  }
  return NULL;
}

// --- the helper ---

// Runs in the helper.
static void serve(int fd) {
  const char *const args[] = {MPROF_SYMBOLIZER_COMMAND,
                              MPROF_SYMBOLIZER_VERSION, state.cache, NULL};
  if (state.is_patient) {
    mprof_sys_lower_own_priority(PATIENT_NICE);
    mprof_helper_give_memory_back();
  }
  mprof_helper_execute(fd, state.path, args);
}

// Closes the connection to a kept helper, unless the program has closed it.
// ends: the helper reaches the end of its input, even if a child that ran no
// fork handlers has a copy of the descriptor.
static void close_kept(bool ends) {
  if (state.kept.fd < 0)
    return;
  if (ends && mprof_own_fd_is_open(&state.kept))
    mprof_sys_shutdown(state.kept.fd, SHUT_RDWR);
  mprof_own_fd_close(&state.kept);
  state.helper.fd = -1;
}

static void end_helper(void) {
  close_kept(true);
  mprof_helper_kill(&state.helper);
}

// Returns whether the helper can be asked. Ends a helper whose connection the
// program has closed, or which has ended.
static bool is_running(void) {
  if (state.helper.pid == 0 || state.kept.fd < 0)
    return state.helper.pid != 0;
  struct pollfd p = {.fd = state.kept.fd};
  if (mprof_own_fd_is_open(&state.kept) && mprof_sys_poll(&p, 1, 0) == 0)
    return true;
  end_helper();
  return false;
}

// Searches for mprof, unless its path is known.
static bool find(void) {
  if (state.path != NULL)
    return true;
  state.path = find_program();
  if (state.path == NULL) {
    state.failures = FAILURES_MAX;
    return false;
  }
  state.cache = find_cache();
  return true;
}

static void report_no_process(int error) {
  char why[64];
  struct mprof_text t = MPROF_TEXT(why);
  mprof_text_errno(&t, error);
  report_missing("cannot create a process for mprof: ", why, "");
}

// Returns whether mprof can be asked. Starts it if it does not run.
static bool start(void) {
  if (is_running())
    return true;
  if (!find())
    return false;
  if (state.messages == NULL) {
    state.messages = mprof_os_map(sizeof(*state.messages));
    if (state.messages != NULL)
      mprof_os_keep_from_children(state.messages, sizeof(*state.messages));
  }
  const int error =
      state.messages == NULL
          ? -ENOMEM
          : mprof_helper_start(&state.helper, serve, mprof_flags.verbosity > 0);
  if (error != 0) {
    report_no_process(error);
    state.failures = FAILURES_MAX;
  }
  return error == 0;
}

// Returns whether a message about the file that m maps must be printed, which
// is done only once. Counts the file.
static bool must_report(const struct mprof_mapping *m) {
  const uint64_t hash = mprof_hash(MPROF_HASH_EMPTY, m->file, strlen(m->file));
  struct mprof_pc_slot *slot = mprof_pc_table_get(&state.reported, hash | 1);
  if (slot == NULL || slot->value != 0)
    return false;
  slot->value = 1;
  mprof_stat_add(MPROF_STAT_names_unread, 1);
  return true;
}

static void report_end(const struct mprof_mapping *m) {
  struct mprof_text t = MPROF_TEXT(place.message);
  mprof_text_str(&t, "mprof ended unexpectedly when it looked up names in ");
  mprof_text_str(&t, m->file);
  mprof_text_str(&t, state.failures < FAILURES_MAX
                         ? "; its frames are shown without names"
                         : "; its frames, and those of files that were not "
                           "looked at yet, are shown without names");
  mprof_message_always(t.buf);
}

// Ends the helper after mprof has failed to answer about the file that m maps.
static void give_up(const struct mprof_mapping *m, long error) {
  // At the end of the connection, mprof has ended, and so will the helper,
  // whose status tells why. ECONNRESET: mprof has not read the request.
  enum { PATIENCE_MS = 3000 };
  int status = -1;
  if (error == -EPIPE || error == -ECONNRESET) {
    close_kept(true);
    status = mprof_helper_stop(&state.helper, PATIENCE_MS);
  }
  end_helper();
  state.failures++;
  state.has_timed_out = error == -ETIMEDOUT;
  if (status == MPROF_SYMBOLIZER_OTHER || status == MPROF_HELPER_CANNOT_RUN)
    state.failures = FAILURES_MAX;
  const bool is_new = must_report(m);
  if (state.has_timed_out)
    report_missing("mprof took more than 30 s to look up names, and is not "
                   "asked again",
                   "", "");
  else if (status == MPROF_SYMBOLIZER_OTHER)
    report_missing("", state.path,
                   " is of another version of MProf than this program");
  else if (status == MPROF_HELPER_CANNOT_RUN)
    report_missing("cannot execute ", state.path, "");
  else if (is_new)
    report_end(m);
}

// --- questions ---

static bool may_use(const struct mprof_mapping *m) {
  return !state.has_timed_out && state.failures < FAILURES_MAX &&
         mprof_maps_may_have_names(m);
}

// Receives a message. Returns its length, or -EPIPE if mprof has ended, or
// another negative errno value. While this thread waits, other threads may
// interrupt it to read its stack.
static long receive(void) {
  mprof_thread_set_interruptible(true);
  long n = mprof_helper_receive(state.helper.fd, state.messages->reply,
                                sizeof(state.messages->reply),
                                MPROF_SYMBOLIZER_TIMEOUT_MS);
  mprof_thread_set_interruptible(false);
  return n == 0 ? -EPIPE : n;
}

// Passes the replies in the message of len bytes to fn. Returns the number of
// replies, which are for the addresses at pc, or 0 if the message is invalid.
static size_t take_replies(const mprof_pc *pc, size_t n, size_t len,
                           mprof_names_fn *fn, void *arg) {
  const char *p = state.messages->reply, *end = p + len;
  size_t taken = 0;
  while (p < end && taken < n) {
    const size_t size = mprof_name_list_size(p, (size_t)(end - p));
    if (size == 0)
      return 0;
    fn(pc[taken++], p, arg);
    p += size;
  }
  return p == end ? taken : 0;
}

// Receives what mprof has to say about the file that m maps, and prints it.
// Returns as receive does.
static long take_problem(const struct mprof_mapping *m) {
  const long len = receive();
  const char *text = state.messages->reply;
  if (len > 0 && text[len - 1] != '\0')
    return -EPROTO;
  if (len > 1 && must_report(m))
    mprof_message_always(text);
  return len;
}

// Asks about at most MPROF_REQUEST_ADDRESSES addresses. Returns whether there
// were replies.
static bool ask(const struct mprof_mapping *m, const mprof_pc *pc, size_t n,
                bool are_variables, mprof_names_fn *fn, void *arg) {
  struct mprof_symbolizer_request *r = &state.messages->request;
  r->noted_ns = m->noted_ns;
  memcpy(r->file, m->file, sizeof(r->file));
  memcpy(r->build_id, m->build_id, sizeof(r->build_id));
  r->are_variables = are_variables;
  r->count = (uint32_t)n;
  for (size_t i = 0; i < n; i++)
    r->addresses[i] = pc[i] - !are_variables - m->bias;
  long len =
      mprof_helper_send(state.helper.fd, r,
                        offsetof(struct mprof_symbolizer_request, addresses) +
                            n * sizeof(r->addresses[0]));
  if (len >= 0)
    len = take_problem(m);
  for (size_t done = 0; done < n && len >= 0;) {
    len = receive();
    const size_t taken =
        len < 0 ? 0 : take_replies(pc + done, n - done, (size_t)len, fn, arg);
    if (taken == 0 && len >= 0)
      len = -EPROTO; // the message is invalid
    done += taken;
  }
  if (len < 0)
    give_up(m, len);
  return len >= 0;
}

void mprof_symbolizers_recall(const struct mprof_mapping *m, mprof_names_fn *fn,
                              void *arg) {
  if (may_use(m) && find() && state.cache != NULL)
    mprof_kept_names_read(state.cache, state.path, m, fn, arg);
}

// Asks about any number of addresses. Returns false if mprof has failed.
static bool ask_all(const struct mprof_mapping *m, const mprof_pc *pc, size_t n,
                    bool are_variables, mprof_names_fn *fn, void *arg) {
  for (size_t i = 0; i < n && may_use(m); i += MPROF_REQUEST_ADDRESSES) {
    const size_t left = n - i;
    if (!start())
      return true;
    if (!ask(m, pc + i,
             left < MPROF_REQUEST_ADDRESSES ? left : MPROF_REQUEST_ADDRESSES,
             are_variables, fn, arg))
      return false;
  }
  return true;
}

bool mprof_symbolizers_ask(const struct mprof_mapping *m, const mprof_pc *pc,
                           size_t n, mprof_names_fn *fn, void *arg) {
  return ask_all(m, pc, n, false, fn, arg);
}

void mprof_symbolizers_ask_variables(const struct mprof_mapping *m,
                                     const uintptr_t *addresses, size_t n,
                                     mprof_names_fn *fn, void *arg) {
  ask_all(m, addresses, n, true, fn, arg);
}

void mprof_symbolizers_be_patient(bool is) { state.is_patient = is; }

void mprof_symbolizers_rest(void) {
  if (state.helper.pid == 0) {
    mprof_symbolizers_stop();
    return;
  }
  if (state.kept.fd < 0) {
    // The descriptor moves to a number that the program does not use.
    const int error = mprof_own_fd_set(&state.kept, state.helper.fd);
    state.helper.fd = state.kept.fd;
    if (error != 0)
      mprof_helper_kill(&state.helper);
  }
  state.failures = 0;
}

void mprof_symbolizers_stop(void) {
  enum { STOP_MS = 800 };
  close_kept(true);
  mprof_helper_stop(&state.helper, STOP_MS);
  if (state.messages != NULL)
    mprof_os_unmap(state.messages, sizeof(*state.messages));
  state.messages = NULL;
  state.path = NULL;
  state.failures = 0;
}

void mprof_symbolizers_forget(void) {
  const bool has_timed_out = state.has_timed_out;
  close_kept(false);
  mprof_helper_forget(&state.helper);
  memset(&state, 0, sizeof(state));
  state.kept.fd = -1;
  state.has_timed_out = has_timed_out;
  // The child reports again why names are missing.
  place.has_reported = place.has_warned = false;
}
