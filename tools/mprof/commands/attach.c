// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof attach: profiles a process that runs already, for some seconds or until
// Ctrl-C, and shows the results. The process then runs on without MProf.

#include "attach/inject.h"
#include "commands/add_names.h"
#include "commands/doctor_options.h"
#include "commands/input.h"
#include "commands/options.h"
#include "commands/preload.h"
#include "commands/show_written.h"
#include "commands/written_files.h"
#include "common/clock.h"
#include "common/ends_with.h"
#include "common/memory.h"
#include "files/bytes.h"
#include "files/write_profile.h"
#include "live/live_client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_SECONDS = 86400, GIVE_UP_MS = 30000 };

struct session {
  struct options options; // with the root directory of the process
  struct target target;
  char *directory;
  char name[64]; // of the program
  char *address; // of the HTTP server in the process, as mprof reaches it
  int64_t start_ns, stopped_us;
  int64_t give_up_ms; // the last moment at which an attachment begins anew
};

// --- what the process is told ---

// Returns whether a process of this user can write to the directory, which is
// not on a file system that is read-only.
static bool can_write(const char *path, uid_t user) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode) &&
         (user == 0 || (s.st_mode & S_IWOTH) ||
          (s.st_uid == user && (s.st_mode & S_IWUSR))) &&
         (access(path, W_OK) == 0 || errno != EROFS);
}

// Returns a directory in which the process can make a socket, as the process
// sees it, or NULL.
static const char *socket_directory(const struct target *t) {
  static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm", "/run"};
  char value[64] = "0";
  target_status(t->pid, t->pid, "Uid", value, sizeof value);
  // The effective id is the second one.
  const char *effective = strchr(value, '\t');
  const uid_t user = (uid_t)strtoul(effective ? effective : value, NULL, 10);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    char path[64];
    snprintf(path, sizeof path, "%s%s", t->root, places[i]);
    if (can_write(path, user))
      return places[i];
  }
  return NULL;
}

// Returns whether the process sees the same files as mprof.
static bool shares_files(const struct target *t) {
  struct stat here, there;
  char path[64], own[64] = "", other[64] = "";
  snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)t->pid);
  if (readlink("/proc/self/ns/mnt", own, sizeof own - 1) <= 0 ||
      readlink(path, other, sizeof other - 1) <= 0 || strcmp(own, other) != 0)
    return false;
  snprintf(path, sizeof path, "%s/", t->root);
  return stat("/", &here) == 0 && stat(path, &there) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

// Samples a second.
enum { CPU_RATE = 99, WALL_RATE = 20 };

// Returns the options for mprof_start. A process that ends while it is profiled
// writes its files itself, if it has the same directories.
static char *options_for(const struct session *s, const char *socket) {
  const struct options *o = &s->options;
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return NULL;
  fprintf(out,
          "quiet=1:follow_fork=0:report=0:dump_on_exec=1:dump_on__exit=1:"
          "heap_rate=%s:block_rate=%d:"
          "mutex_fraction=%d:threads=%d:cpu_rate=%d:wall_rate=%d:lock_order=%d",
          o->heap_rate ? o->heap_rate : "524288", o->block, o->mutex,
          o->threads, o->cpu ? CPU_RATE : 0, o->wall ? WALL_RATE : 0,
          o->lock_order);
  for (size_t i = 0; i < o->set.count; i++)
    fprintf(out, ":%s", o->set.items[i]);
  if (shares_files(&s->target))
    fprintf(out, ":log_path='%s/mprof.%%e.%%p'", s->directory);
  else
    fputs(":log_path=/dev/null", out);
  fprintf(out, ":listen='unix:%s'", socket);
  fclose(out);
  return text;
}

// --- one mprof attach for each process ---

// Takes a name that the kernel gives back when mprof ends, however it ends.
// Returns false if another mprof attach has it.
static bool take_turn(pid_t pid) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  const int length = snprintf(a.sun_path + 1, sizeof a.sun_path - 1,
                              "mprof-attach-%d", (int)pid);
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return fd < 0 ||
         bind(fd, (struct sockaddr *)&a,
              (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                          (size_t)length)) == 0 ||
         errno != EADDRINUSE;
}

// --- requests ---

// The descriptor that reads the signals that end mprof.
static int signals = -1;

// How long a request may wait.
static struct {
  bool for_ever; // until a signal that ends mprof
  int64_t until_ms;
} patience;

enum { PATIENCE_MS = 10000 };

static void be_patient(bool for_ever) {
  patience.for_ever = for_ever;
  patience.until_ms = clock_now_ms() + PATIENCE_MS;
}

static bool has_signal(void) {
  struct pollfd p = {.fd = signals, .events = POLLIN};
  return poll(&p, 1, 0) > 0;
}

static bool must_give_up(void) {
  return patience.for_ever ? has_signal() : clock_now_ms() >= patience.until_ms;
}

// Forgets the signals that have come.
static void forget_signals(void) {
  struct signalfd_siginfo unused;
  while (has_signal() &&
         read(signals, &unused, sizeof unused) == (ssize_t)sizeof unused)
    ;
}

// Connects to the HTTP server in the process. Another process may have made a
// socket of this name.
static int connect_to(const struct session *s, char *why, size_t size) {
  struct ucred peer = {0};
  socklen_t length = sizeof peer;
  const int fd = live_connect(s->address, why, size);
  if (fd < 0 || (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
                 peer.pid == s->target.pid))
    return fd;
  close(fd);
  snprintf(why, size, "%s is the socket of another process", s->address);
  return -1;
}

// Sends a request to the process. Writes the body to `out` if that is not NULL.
// Returns whether the process has replied with status 200; if not, stores why.
static bool ask(const struct session *s, const char *method, const char *path,
                FILE *out, char *why, size_t size) {
  FILE *to = out ? out : fopen("/dev/null", "we");
  struct live_reply reply = {.out = to, .most = UINT64_MAX};
  const int fd = to ? connect_to(s, why, size) : -1;
  bool is_good = false;
  if (fd >= 0) {
    is_good = live_ask(fd, method, path, &reply, must_give_up) == 200;
    if (!is_good)
      snprintf(why, size, "%s", reply.text);
  }
  if (to && !out)
    fclose(to);
  return is_good;
}

// Ends the profiling: by a request, or else by a call in the process.
static void stop(const struct session *s) {
  char why[512];
  forget_signals();
  be_patient(false);
  if (ask(s, "POST", "/debug/mprof/stop", NULL, why, sizeof why))
    return;
  char *reason = eject(&s->target);
  if (reason)
    complain(&s->options, "%d goes on to be profiled: %s; %s",
             (int)s->target.pid, why, reason);
  free(reason);
}

// The profiles of which the time before the attachment is left out. An earlier
// mprof attach may have counted events, too.
static const struct {
  const char *page, *suffix;
} pages[] = {
    {"delta_heap?client=attach&gc=1&symbolize=0", "heap.pb.gz"},
    {"delta_block?client=attach&symbolize=0", "block.pb.gz"},
    {"delta_mutex?client=attach&symbolize=0", "mutex.pb.gz"},
    {"delta_cpu?client=attach&symbolize=0", "cpu.pb.gz"},
    {"delta_wall?client=attach&symbolize=0", "wall.pb.gz"},
    {"delta_locks?client=attach&symbolize=0", "locks.pb.gz"},
    {"memory?symbolize=0", "memory.pb.gz"},
    {"threads?symbolize=0", "threads.pb.gz"},
    {"lockorder?symbolize=0", "lockorder.pb.gz"},
};
enum {
  PAGES = sizeof pages / sizeof *pages,
  DELTAS = 6,
  THREADS = 7,
  LOCK_ORDER = 8
};

static bool is_wanted(const struct options *o, size_t page) {
  return page == 1         ? o->block
         : page == 2       ? o->mutex
         : page == 3       ? o->cpu
         : page == 4       ? o->wall
         : page == 5       ? o->mutex
         : page == THREADS ? o->threads
                           : page != LOCK_ORDER || o->lock_order;
}

static char *file_of(const struct session *s, const char *suffix) {
  return text_of("%s/mprof.%s.%d.%s", s->directory, s->name, (int)s->target.pid,
                 suffix);
}

// Adds names, and for the heap the moment, to the profile in the file.
static void complete(const struct session *s, const char *path) {
  struct profile *p = profile_new();
  if (input_file_read(p, path) == NULL) {
    if (ends_with(path, ".heap.pb.gz")) {
      char *line = text_of("moment: the end of mprof attach, %.1f s after its "
                           "begin, without older blocks",
                           (double)(p->time_ns - s->start_ns) / 1e9);
      profile_comment(p, profile_text(p, line));
      free(line);
    }
    add_names(&s->options, p, NAMES_AUTOMATIC);
    write_profile_file(p, path);
  }
  profile_free(p);
}

// Writes a page of the process to a file. Returns whether there is a file.
static bool save(const struct session *s, const char *method, const char *page,
                 const char *suffix) {
  char why[512] = "no descriptor is left";
  struct new_file file;
  char *path = file_of(s, suffix);
  const char *error = new_file_begin(&file, path);
  const int fd = error ? -1 : dup(file.fd);
  FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
  bool is_good = out && ask(s, method, page, out, why, sizeof why);
  if (out)
    is_good &= fclose(out) == 0;
  if (!error)
    error = new_file_end(&file, is_good ? NULL : why);
  if (error)
    complain(&s->options, "%s: %s", path, error);
  free(path);
  return !error;
}

// --- the session ---

// Sets the time before which the profiles leave out events, and begins the
// trace.
static bool begin(const struct session *s, char *why, size_t size) {
  for (size_t i = 0; i < DELTAS; i++) {
    if (!is_wanted(&s->options, i))
      continue;
    char *page = text_of("/debug/pprof/%s", pages[i].page);
    const bool is_good = ask(s, "GET", page, NULL, why, size);
    free(page);
    if (!is_good)
      return false;
  }
  return !s->options.trace ||
         ask(s, "POST", "/debug/mprof/trace/start", NULL, why, size);
}

static bool has_page(const struct session *s, const char *page) {
  char why[512];
  return ask(s, "GET", page, NULL, why, sizeof why);
}

static void collect(const struct session *s) {
  if (s->options.trace)
    save(s, "POST", "/debug/mprof/trace/stop", "trace");
  for (size_t i = 0; i < PAGES; i++) {
    char *page = text_of("/debug/pprof/%s", pages[i].page);
    char *path = file_of(s, pages[i].suffix);
    if (i == LOCK_ORDER && s->options.lock_order && !has_page(s, page))
      complain(
          &s->options,
          "%d has no profile of lock orders: its first mprof attach had no "
          "--lock-order",
          (int)s->target.pid);
    else if (is_wanted(&s->options, i) && save(s, "GET", page, pages[i].suffix))
      complete(s, path);
    free(page);
    free(path);
  }
}

// How long after a signal further ones count as the same: timeout(1) sends its
// signal to mprof, and then to the process group.
enum { SAME_SIGNAL_MS = 100 };

enum ending { ENDED_BY_TIME, ENDED_BY_SIGNAL, ENDED_WITH_PROCESS };

// Waits for the time, for a signal that ends mprof, or for the end of the
// process.
static enum ending wait_for_end(const struct session *s, int seconds) {
  struct pollfd p[] = {
      {.fd = (int)syscall(SYS_pidfd_open, s->target.pid, 0), .events = POLLIN},
      {.fd = signals, .events = POLLIN}};
  const int n = poll(p, 2, seconds > 0 ? seconds * 1000 : -1);
  struct signalfd_siginfo unused;
  if (p[0].fd >= 0)
    close(p[0].fd);
  if (n > 0 && p[1].revents && read(signals, &unused, sizeof unused) < 0)
    return ENDED_BY_SIGNAL;
  return n == 0         ? ENDED_BY_TIME
         : p[1].revents ? ENDED_BY_SIGNAL
                        : ENDED_WITH_PROCESS;
}

// Blocks the signals that end mprof, which wait_for_end and requests look for.
static void take_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  sigprocmask(SIG_BLOCK, &set, NULL);
  signals = signalfd(-1, &set, SFD_CLOEXEC);
}

static void read_name(struct session *s) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/comm", (int)s->target.pid);
  FILE *file = fopen(path, "re");
  if (!file || !fgets(s->name, sizeof s->name, file))
    strcpy(s->name, "process");
  if (file)
    fclose(file);
  s->name[strcspn(s->name, "\n")] = '\0';
  for (char *p = s->name; *p; p++)
    if (*p == '/' || *p == ' ' || (unsigned char)*p < ' ')
      *p = '_';
}

// A process that was killed or has executed another program leaves its socket.
static void remove_socket(struct session *s) {
  if (s->address)
    unlink(s->address + strlen("unix:"));
  free(s->address);
  s->address = NULL;
}

// Starts MProf in the process. Returns NULL, or what has gone wrong.
static char *start(struct session *s, const char *library) {
  const char *directory = socket_directory(&s->target);
  if (!directory)
    return text_of("it can write to none of /tmp, /var/tmp, /dev/shm and /run");
  unsigned number = 0; // so that nobody else can take the name before
  if (getrandom(&number, sizeof number, 0) < 0)
    number = (unsigned)getpid();
  char *socket = text_of("%s/mprof-attach.%d.%08x.sock", directory,
                         (int)s->target.pid, number);
  remove_socket(s);
  // The root directory of a process disappears with it.
  s->address = text_of("unix:%s%s",
                       shares_files(&s->target) ? "" : s->target.root, socket);
  char *options = options_for(s, socket);
  // If mprof ended or stopped while a thread of the process makes calls, the
  // thread could not continue where it was.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  char *why = inject(&s->target, library, options, &s->stopped_us);
  sigprocmask(SIG_SETMASK, &before, NULL);
  free(options);
  free(socket);
  return why;
}

// Returns whether the library is still in the process.
static bool is_in_process(const struct session *s) {
  struct target t;
  char *why = target_read(&t, s->target.pid);
  const bool is_there = !why && t.is_late_loaded;
  free(why);
  return is_there;
}

// Gets the files, and stops MProf in the process. Returns how the time really
// ended: a process that has executed another program has written its files
// itself.
static enum ending finish(const struct session *s, enum ending ending) {
  const int pid = (int)s->target.pid;
  if (ending != ENDED_WITH_PROCESS && !is_in_process(s)) {
    complain(&s->options, "%d has executed another program or has ended", pid);
    return ENDED_WITH_PROCESS;
  }
  if (ending == ENDED_WITH_PROCESS) {
    complain(&s->options, "%d has ended", pid);
    return ending;
  }
  char state[64] = "";
  target_status(pid, pid, "State", state, sizeof state);
  if (state[0] == 'T')
    complain(&s->options,
             "%d is stopped, and answers when it continues (kill -CONT %d)",
             pid, pid);
  if (ending == ENDED_BY_SIGNAL) {
    poll(NULL, 0, SAME_SIGNAL_MS);
    forget_signals();
  }
  be_patient(true);
  collect(s);
  stop(s);
  return ending;
}

// Reads the process. One that has just been started runs before it has loaded
// libc: that is waited for. In the middle of execve, it does not have its
// loader, and looks like a program that is linked statically.
static char *read_started(struct target *t, pid_t pid) {
  enum { WITH_LOADER_MS = 30000, WITHOUT_MS = 1000 };
  int64_t since_ms = clock_now_ms();
  for (bool had_loader = false;; had_loader = t->has_loader) {
    char state[64];
    char *why = target_read(t, pid);
    if (t->has_loader != had_loader)
      since_ms = clock_now_ms();
    if (!why && has_signal())
      return text_of("a signal has ended mprof");
    if (why || t->libc || t->has_musl ||
        clock_now_ms() - since_ms >=
            (t->has_loader ? WITH_LOADER_MS : WITHOUT_MS) ||
        !target_status(pid, pid, "State", state, sizeof state) ||
        (state[0] != 'R' && state[0] != 'D'))
      return why;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

// Returns whether the process has executed another program since it was read,
// as a shell does that becomes the program, so that it is worth another try.
static bool is_another(const struct session *s) {
  return !target_is_same(&s->target) && !has_signal() &&
         clock_now_ms() < s->give_up_ms;
}

// Reads the process. Returns NULL, or why the library cannot be loaded into it.
static char *prepare(struct session *s, pid_t pid) {
  for (;;) {
    char *why = read_started(&s->target, pid);
    if (!why)
      why = target_why_not_load(&s->target, s->options.allow_seccomp);
    if (!why || !is_another(s))
      return why;
    free(why);
  }
}

// Starts MProf in the process, which prepare has read, and sets what its
// profiles leave out. Returns NULL, or what has gone wrong.
static char *profile(struct session *s, const char *library) {
  char text[512];
  char *why = start(s, library);
  if (why)
    return why;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  s->start_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
  be_patient(false);
  if (begin(s, text, sizeof text))
    return NULL;
  if (target_is_same(&s->target))
    stop(s);
  return text_of("it does not answer: %s", text);
}

static int attach(struct session *s, const char *library, int seconds) {
  struct file_names before = file_names_list(s->directory);
  take_signals();
  const int pid = (int)s->target.pid;
  char *why = profile(s, library);
  while (why && is_another(s)) {
    free(why);
    why = prepare(s, pid);
    if (!why)
      why = profile(s, library);
  }
  if (why) {
    complain(&s->options, "cannot attach to %d: %s", pid, why);
    free(why);
    return STATUS_ERROR;
  }
  read_name(s);
  if (!shares_files(&s->target))
    s->options.sysroot = s->target.root;
  if (!s->options.quiet)
    fprintf(stderr,
            "mprof attach: profiles %s (%d), of which one thread was stopped "
            "for %.1f ms%s\n",
            s->name, pid, (double)s->stopped_us / 1000,
            seconds ? "" : "; Ctrl-C ends it");
  const enum ending ending = finish(s, wait_for_end(s, seconds));
  // Files of an earlier mprof attach to the process were replaced.
  const struct file_names none = {0};
  struct written_files f =
      written_files_find(s->directory, s->target.pid,
                         ending == ENDED_WITH_PROCESS ? &before : &none);
  for (size_t i = 0; i < f.count && ending != ENDED_WITH_PROCESS; i++)
    f.items[i].moment = NULL; // the profiles show the end
  const bool has_any = f.count > 0;
  if (!has_any)
    complain(&s->options,
             "%d has written no profiles: it was killed, has recorded nothing, "
             "or cannot write to %s",
             pid, s->directory);
  else if (!s->options.quiet)
    show_written(&s->options, &f, s->start_ns);
  written_files_free(&f);
  file_names_free(&before);
  return has_any ? STATUS_OK : STATUS_ERROR;
}

// *seconds receives the value of --seconds, or 0.
static bool check_options(const struct options *o, int *seconds, pid_t *pid) {
  size_t length = 0;
  char *end;
  const long n = strtol(o->paths[0], &end, 10);
  *pid = (pid_t)n;
  if (*end || n <= 0 || n > INT32_MAX || *pid == getpid()) {
    complain(o, "%s is not the id of another process", o->paths[0]);
    return false;
  }
  for (size_t i = 0; i < o->set.count; i++)
    if (!doctor_accepts_option(o->set.items[i]))
      return false;
  if (!option_number(o, "seconds", o->seconds, 1, LONGEST_SECONDS, &length))
    return false;
  *seconds = (int)length;
  return heap_rate_is_right(o);
}

int command_attach(const struct options *o) {
  struct session s = {.options = *o, .give_up_ms = clock_now_ms() + GIVE_UP_MS};
  int seconds;
  pid_t pid;
  if (o->path_count != 1)
    return complain(o, "usage: mprof attach PID [OPTION]...");
  if (!check_options(o, &seconds, &pid))
    return STATUS_ERROR;
  char *why = prepare(&s, pid);
  if (why)
    return complain(o, "cannot attach to %d: %s", (int)pid, why);
  char *library = preload_library();
  if (!library)
    return complain(o, "mprof/libmprof_preload.so, which would be loaded into "
                       "the process, is not installed");
  if (!take_turn(pid))
    return complain(o, "another mprof attach is attached to %d", (int)pid);
  s.directory = output_directory(o);
  if (!s.directory)
    return STATUS_ERROR;
  const int status = attach(&s, library, seconds);
  free(library);
  free(s.directory);
  remove_socket(&s);
  return status;
}
