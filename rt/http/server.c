// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread that answers requests, and the thread that waits for the signal of
// the option control_signal; see server.h.

#include "http/server.h"

#include "file/outfile.h"
#include "http/http.h"
#include "mprof/mprof.h"
#include "options/flags.h"
#include "process/process.h"
#include "process/signal_action.h"
#include "symbolize/symbolize.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

enum {
  CONNECTIONS = 16,
  // Time after a fork at which the child looks whether its parent has ended.
  // daemon ends the parent at once, without exit handlers.
  PARENT_MS = 1000,
  // Pause after a connection could not be accepted, because the process has no
  // descriptor left or the kernel refuses the call.
  FULL_MS = 500,
};

// SHUTTING: the thread is about to end, or this is a forked child whose parent
// has an HTTP server, and mprof_http_start_in_child was not called yet.
enum state { SHUT, OPENING, OPEN, SHUTTING };

static atomic_int http_state; // enum state

int (*mprof_http_on_stop)(void);

static struct {
  atomic_bool must_end; // the thread must close everything and end
  // The other fields are written while the state is OPENING, and then belong to
  // the thread.
  char address[sizeof(mprof_flags.listen)]; // as the user gave it
  struct mprof_listener listener;
  // Array of CONNECTIONS. Only a used connection needs memory.
  struct mprof_connection *connections;
  int64_t full_until_ms; // no connection is accepted before this time; 0: none
  // In a forked child: the file of the parent's socket, and the time to look
  // whether the parent has ended; INT64_MAX: never.
  struct mprof_listener_file parent;
  int64_t parent_ms;
} server;

// --- connections ---

// Returns the connection that may be ended first. A free one comes before all
// others.
static struct mprof_connection *find_expendable(void) {
  struct mprof_connection *found = &server.connections[0];
  for (int i = 1; i < CONNECTIONS; i++) {
    struct mprof_connection *c = &server.connections[i];
    if (mprof_connection_expendable_ms(c) <
        mprof_connection_expendable_ms(found))
      found = c;
  }
  return found;
}

// Accepts the connections that have arrived.
static void accept_all(void) {
  for (;;) {
    struct mprof_connection *c = find_expendable();
    bool is_allowed;
    if (mprof_connection_expendable_ms(c) > mprof_clock_ms())
      return;
    const long fd = mprof_listener_accept(&server.listener, &is_allowed);
    if (fd == -EAGAIN || fd == -EINTR || fd == -ECONNABORTED)
      return;
    if (fd < 0) {
      server.full_until_ms = mprof_clock_ms() + FULL_MS;
      return;
    }
    if (c->state != MPROF_CONN_FREE)
      mprof_connection_end(c);
    mprof_connection_begin(c, fd, is_allowed, server.listener.is_loopback);
  }
}

// --- the thread ---

// The descriptors that poll waits for. The kernel refuses more descriptors than
// the process may have, so there is no entry for a free connection.
struct wait {
  struct pollfd p[CONNECTIONS + 1];
  struct mprof_connection *of[CONNECTIONS + 1]; // NULL: the listener
  size_t n;
  int64_t until_ms; // time of the first deadline; INT64_MAX: none
};

static void add(struct wait *w, int fd, short events,
                struct mprof_connection *c) {
  w->p[w->n] = (struct pollfd){.fd = fd, .events = events};
  w->of[w->n++] = c;
}

static void set_limit(struct wait *w, int64_t ms) {
  if (ms < w->until_ms)
    w->until_ms = ms;
}

static void prepare(struct wait *w, int64_t now) {
  const int64_t room_ms = mprof_connection_expendable_ms(find_expendable());
  w->n = 0;
  w->until_ms = INT64_MAX;
  for (int i = 0; i < CONNECTIONS; i++) {
    struct mprof_connection *c = &server.connections[i];
    if (c->state == MPROF_CONN_FREE)
      continue;
    add(w, c->fd.fd, mprof_connection_events(c), c);
    set_limit(w, c->is_pending ? now : c->deadline_ms);
  }
  set_limit(w, mprof_live_idle_ms());
  set_limit(w, server.parent_ms);
  if (now >= server.full_until_ms)
    server.full_until_ms = 0;
  if (server.full_until_ms != 0)
    set_limit(w, server.full_until_ms);
  else if (room_ms <= now)
    add(w, server.listener.fd.fd, POLLIN, NULL);
  else
    set_limit(w, room_ms);
}

static void say_end(const char *why, int error) {
  char line[MPROF_PATH_MAX + 128];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, "no longer listening at ");
  mprof_text_str(&t, server.listener.name);
  mprof_text_str(&t, why);
  mprof_text_errno(&t, error);
  mprof_message(line);
}

// Opens the socket anew after the program has closed its descriptor. Returns
// false if that fails.
static bool keep_listening(void) {
  if (mprof_own_fd_is_open(&server.listener.fd))
    return true;
  const int error = mprof_listener_reopen(&server.listener);
  if (error != 0)
    say_end(": the program has closed the socket: ", error);
  return error == 0;
}

// Removes the socket of the parent if it has ended. Looks only once: no idle
// HTTP server wakes up again and again.
static void forget_parent(void) {
  server.parent_ms = INT64_MAX;
  if (mprof_listener_remove_dead(&server.parent))
    server.parent.path[0] = '\0';
}

// Waits for events and handles them. Returns false if the thread must end.
static bool run_once(void) {
  struct wait w;
  const int64_t now = mprof_clock_ms();
  prepare(&w, now);
  const long r = mprof_sys_poll(w.p, w.n,
                                w.until_ms == INT64_MAX ? -1
                                : w.until_ms > now      ? w.until_ms - now
                                                        : 0);
  if (atomic_load(&server.must_end))
    return false;
  // Any other error would come again at once. For example, a seccomp filter may
  // refuse the call.
  if (r < 0 && r != -EINTR && r != -ENOMEM) {
    say_end(": poll: ", (int)r);
    return false;
  }
  bool has_clients = false;
  for (size_t i = 0; i < w.n; i++)
    if (w.of[i] != NULL)
      mprof_connection_continue(w.of[i], w.p[i].revents);
    else
      has_clients = w.p[i].revents != 0;
  if (mprof_clock_ms() >= mprof_live_idle_ms())
    mprof_live_idle();
  if (mprof_clock_ms() >= server.parent_ms)
    forget_parent();
  if (!keep_listening())
    return false;
  if (has_clients)
    accept_all();
  return true;
}

static void free_connections(void) {
  for (int i = 0; i < CONNECTIONS; i++)
    if (server.connections[i].state != MPROF_CONN_FREE)
      mprof_connection_end(&server.connections[i]);
  mprof_os_unmap(server.connections, CONNECTIONS * sizeof(*server.connections));
  server.connections = NULL;
}

static void run(void) {
  while (run_once())
    ;
  mprof_listener_remove_path(&server.listener);
  mprof_listener_close(&server.listener);
  free_connections();
  mprof_live_trace_forget(false);
  mprof_live_forget(false);
  mprof_live_finish();
  mprof_own_end(MPROF_OWN_HTTP);
  atomic_store(&http_state, SHUT);
}

// --- opening ---

static void say_open(bool is_chosen) {
  char line[MPROF_PATH_MAX + 256];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, "listening at ");
  if (!server.listener.is_unix)
    mprof_text_str(&t, "http://");
  mprof_text_str(&t, server.listener.name);
  if (!server.listener.is_unix)
    mprof_text_str(&t, "/debug/pprof/");
  if (!server.listener.is_unix && !server.listener.is_loopback)
    mprof_text_str(&t, "; warning: everybody who can reach this address can "
                       "read the profiles");
  if (is_chosen || mprof_flags_want_news() ||
      (!server.listener.is_unix && !server.listener.is_loopback))
    mprof_message_always(line);
}

static bool has_port_0(const char *address) {
  const size_t len = strlen(address);
  return len > 2 && strcmp(address + len - 2, ":0") == 0;
}

// Opens the socket and starts the thread. The state is OPENING.
static int open_server(const char *address) {
  int error = mprof_listener_open(&server.listener, address);
  if (error != 0)
    return error;
  atomic_store(&server.must_end, false);
  server.full_until_ms = 0;
  server.parent_ms =
      server.parent.path[0] != '\0' ? mprof_clock_ms() + PARENT_MS : INT64_MAX;
  if (address != server.address)
    strcpy(server.address, address);
  server.connections = mprof_os_map(CONNECTIONS * sizeof(*server.connections));
  if (server.connections == NULL)
    error = -ENOMEM;
  // The thread may end, and shut the HTTP server, before this function returns.
  if (error == 0) {
    mprof_live_begin();
    say_open(has_port_0(address));
    atomic_store(&http_state, OPEN);
    error = mprof_own_start(MPROF_OWN_HTTP, "mprof-http", run);
  }
  if (error == 0)
    return 0;
  mprof_listener_remove_path(&server.listener);
  mprof_listener_close(&server.listener);
  if (server.connections != NULL)
    free_connections();
  mprof_message("cannot listen: cannot create a thread");
  return error;
}

// Opens the HTTP server at the address. Returns 0 or -errno.
static int open_at(const char *address) {
  int shut = SHUT;
  if (mprof_flags_is_secure()) {
    mprof_message("does not listen, because the program has more rights than "
                  "its user");
    return -EPERM;
  }
  if (strlen(address) >= sizeof(server.address))
    return -ENAMETOOLONG;
  if (!atomic_compare_exchange_strong(&http_state, &shut, OPENING))
    return -EBUSY;
  const int error = open_server(address);
  if (error != 0)
    atomic_store(&http_state, SHUT);
  return error;
}

// Closes the HTTP server. The thread ends later.
static int shut_server(void) {
  int open = OPEN;
  if (!atomic_compare_exchange_strong(&http_state, &open, SHUTTING))
    return open == SHUT ? 0 : -EBUSY;
  atomic_store(&server.must_end, true);
  if (mprof_own_fd_is_open(&server.listener.fd))
    mprof_sys_shutdown(server.listener.fd.fd, SHUT_RDWR); // wakes the thread
  return 0;
}

int mprof_http_start(void) {
  if (mprof_flags.listen[0] == '\0' || !mprof_guard_enter())
    return 0;
  const int error = open_at(mprof_flags.listen);
  mprof_guard_leave();
  return error;
}

void mprof_http_open(void) {
  open_at(mprof_flags.listen[0] != '\0' ? mprof_flags.listen
                                        : "unix:/tmp/mprof.%p.sock");
}

void mprof_http_shut(void) { shut_server(); }

void mprof_http_wait_for_end(void) {
  for (int ms = 0; atomic_load(&http_state) == SHUTTING && ms < 1000; ms++)
    mprof_sys_sleep_ms(1);
}

MPROF_PUBLIC int mprof_listen(const char *address) {
  if (!mprof_process_ready() || !mprof_process_is_own())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  const int error =
      address == NULL || address[0] == '\0' ? shut_server() : open_at(address);
  mprof_guard_leave();
  return -error;
}

// --- the end of the process, and forked children ---

void mprof_http_before_exec(void) {
  enum { WAIT_MS = 1000 };
  if (atomic_load_explicit(&http_state, memory_order_relaxed) != OPEN ||
      !mprof_process_is_own() ||
      !mprof_lock_acquire_within(&mprof_writer_lock, WAIT_MS))
    return;
  mprof_symbolize_drop_helper();
  mprof_lock_release(&mprof_writer_lock);
}

void mprof_http_end(void) {
  if (atomic_load_explicit(&http_state, memory_order_relaxed) != OPEN ||
      !mprof_process_is_own())
    return;
  mprof_live_set_end(true);
  mprof_reply_file_hurry(true);
  mprof_live_trace_end();
  mprof_listener_remove_path(&server.listener);
  mprof_listener_remove_dead(&server.parent);
}

// The thread does not exist in the child, and its data may be incomplete.
void mprof_http_reset(void) {
  const int state = atomic_load_explicit(&http_state, memory_order_relaxed);
  if (state == SHUT)
    return;
  atomic_store(&http_state, SHUT);
  if (state == OPENING) // the data is incomplete
    return;
  server.parent = mprof_listener_file(&server.listener);
  mprof_listener_close(&server.listener);
  for (int i = 0; server.connections != NULL && i < CONNECTIONS; i++) {
    struct mprof_connection *c = &server.connections[i];
    if (c->state == MPROF_CONN_FREE)
      continue;
    mprof_own_fd_close(&c->fd);
    mprof_reply_file_close(&c->reply.body);
    if (c->job.kind == MPROF_JOB_TRACE)
      mprof_reply_file_close(&c->job.trace);
  }
  if (server.connections != NULL)
    mprof_os_unmap(server.connections,
                   CONNECTIONS * sizeof(*server.connections));
  server.connections = NULL;
  mprof_connections_reset();
  mprof_live_trace_forget(true);
  mprof_live_forget(true);
  mprof_live_forget_names();
  mprof_live_set_end(false);
  mprof_reply_file_hurry(false);
  // mprof_http_start_in_child may open an HTTP server of the child's own.
  if (state == OPEN && server.listener.has_pid)
    atomic_store(&http_state, SHUTTING);
}

void mprof_http_start_in_child(void) {
  int reset = SHUTTING;
  if (!atomic_compare_exchange_strong(&http_state, &reset, SHUT))
    return;
  open_at(server.address);
}

// --- the control signal ---

static int signal_number; // written before the thread starts

static void on_signal(int sig) {
  (void)sig;
  mprof_own_wake(MPROF_OWN_CONTROL); // does not change errno
}

static void wait_for_signal(void) {
  // `mprof ctl` sends the signal to this thread, so that no thread of the
  // program is interrupted.
  mprof_sys_set_signal_mask(mprof_own_thread_mask() &
                            ~(UINT64_C(1) << (signal_number - 1)));
  for (unsigned seen = 0;; seen++) {
    while (mprof_own_news(MPROF_OWN_CONTROL) == seen)
      mprof_own_wait(MPROF_OWN_CONTROL, seen, UINT64_MAX);
    mprof_http_open();
  }
}

static void complain(const char *what) {
  char line[128];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, "control_signal has no effect: ");
  mprof_text_str(&t, what);
  mprof_message(line);
}

// Installs the handler. Returns NULL, or why it cannot.
static const char *install(int sig) {
  struct sigaction now,
      ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
  if (sig == 0)
    return "unknown signal; use a name such as USR2, or a number";
  if (sig == SIGKILL || sig == SIGSTOP || sigaction(sig, NULL, &now) != 0)
    return "this signal cannot be caught; choose another signal";
  if (now.sa_handler == on_signal) // inherited by a forked child
    return NULL;
  if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL)
    return "the program handles or ignores this signal, or dump_on_signal "
           "names it; choose another signal";
  sigfillset(&ours.sa_mask);
  sigaction(sig, &ours, NULL);
  return NULL;
}

void mprof_control_signal_start(void) {
  const char *name = mprof_flags.control_signal;
  const int before = errno;
  if (name[0] == '\0' || !mprof_guard_enter())
    return;
  signal_number = mprof_signal_number(name, strlen(name));
  // The name of the thread tells `mprof ctl` which signal to send.
  static char thread_name[16];
  struct mprof_text t = MPROF_TEXT(thread_name);
  mprof_text_str(&t, "mprof-signal-");
  mprof_text_dec(&t, (uint64_t)signal_number);
  const char *why = install(signal_number);
  if (why == NULL &&
      mprof_own_start(MPROF_OWN_CONTROL, thread_name, wait_for_signal) != 0)
    why = "cannot create a thread";
  if (why != NULL)
    complain(why);
  mprof_guard_leave();
  errno = before;
}
