// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the functions, files and lines of return addresses with
// llvm-symbolizer. symbolize_pc.c asks llvm-symbolizer about addresses in
// mapped modules, and symbolize_file.c about addresses in other modules.
//
// Both files run in a helper process, which is a copy of this process. The code
// in the helper may allocate, take the loader's lock, start a process, print
// warnings or crash. None of this disturbs the program. The writer of a profile
// and the helper exchange these messages:
//
//   writer -> helper   a return address, or an address in a file
//   helper -> writer   one string for each frame, and an empty string

#define _GNU_SOURCE 1

#include "symbolize/symbolize.h"

#include "file/path.h"
#include "lock_wait/hook_names.h"
#include "process/process.h"
#include "symbolize/maps.h"
#include "symbolize/module_unloads.h"
#include "symbolize/pctable.h"
#include "symbolize/symbolize_file.h"
#include "symbolize/symbolize_pc.h"
#include "sys/assert.h"
#include "sys/flags.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/os_linux_cold.h"
#include "thread/threads.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

// Separates the fields of a frame. No function name or file name contains this
// character.
#define SEPARATOR '\x1f'

enum {
  REPLY_SIZE = 32768,
  CHUNK_SIZE = 1 << 20,
  TIMEOUT_MS = 30000, // for one address; a large program takes seconds
  // Time limits for the helper to become ready, in the first and in the last
  // try. Each try waits twice as long as the previous try. All tries together
  // wait 1875 ms.
  FIRST_READY_MS = 125,
  LAST_READY_MS = 1000,
};

// A piece of memory for replies of the helper. `next` is the chunk that was
// allocated before this chunk.
struct chunk {
  struct chunk *next;
  size_t used;
  char data[];
};

static struct {
  struct mprof_maps maps;
  struct mprof_helper helper;
  struct mprof_pc_table table; // address -> reply; UINT64_MAX: no reply
  struct chunk *chunks;
  char *reply;   // 3 * REPLY_SIZE bytes; see mprof_symbolize
  unsigned uses; // calls of mprof_symbolize_begin that have not ended
  char path[MPROF_PATH_MAX];
  bool has_reported; // the reason for missing names was reported
} state;             // guarded by writer_lock

static const char ended_early[] =
    "the helper process of llvm-symbolizer ended unexpectedly";

// --- finding llvm-symbolizer ---

static bool is_symbolizer(const char *path) {
  static const char name[] = "llvm-symbolizer";
  const char *slash = strrchr(path, '/');
  const char *base = slash == NULL ? path : slash + 1;
  // sanitizer_common expands each '%' in the path. sanitizer_common also ends
  // the process if the base name of the path does not begin with
  // llvm-symbolizer.
  return strncmp(base, name, sizeof(name) - 1) == 0 &&
         strchr(path, '%') == NULL && mprof_os_is_executable(path);
}

static bool try_directory(const char *dir, size_t len, const char *name) {
  struct mprof_text t = MPROF_TEXT(state.path);
  mprof_text_mem(&t, dir, len);
  mprof_text_str(&t, "/");
  mprof_text_str(&t, name);
  return t.len < sizeof(state.path) - 1 && is_symbolizer(state.path);
}

// Searches a colon-separated list of directories for a symbolizer with the
// given name. Skips relative directories, because they depend on the current
// directory, into which another user may have put a program.
static bool search(const char *directories, const char *name) {
  for (const char *p = directories; p != NULL && *p != '\0';) {
    size_t len = strcspn(p, ":");
    if (*p == '/' && try_directory(p, len, name))
      return true;
    p += len + (p[len] == ':');
  }
  return false;
}

static bool find_symbolizer(void) {
  static const char usual[] = "/usr/bin:/usr/local/bin";
  const char *path = mprof_flags_environment("PATH");
  if (path == NULL)
    path = usual;
  return search(path, "llvm-symbolizer") ||
         search(path, "llvm-symbolizer-19") ||
         search("/usr/lib/llvm-19/bin", "llvm-symbolizer");
}

// Reports why there are no function names, but only the first time. The message
// consists of what, name and rest. name is a path, an error or "". The message
// is made in state.reply.
static void report(const char *what, const char *name, const char *rest) {
  if (state.has_reported)
    return;
  state.has_reported = true;
  struct mprof_text t = {.buf = state.reply, .cap = REPLY_SIZE};
  mprof_text_str(&t, what);
  mprof_text_str(&t, name);
  mprof_text_str(&t, rest);
  mprof_text_str(&t, "; frames are shown without names");
  mprof_message_always(t.buf);
}

static bool choose_symbolizer(void) {
  const char *flag = mprof_flags.external_symbolizer_path;
  // A privileged (AT_SECURE) program must not run another program, because the
  // environment comes from an unprivileged user.
  if (getauxval(AT_SECURE) != 0)
    return false;
  if (mprof_has_sanitizer()) {
    // The sanitizer finds its own symbolizer by its own options. The path
    // chosen here is used only for unloaded modules, which the sanitizer does
    // not know. If no path is found, functions of unloaded modules have no
    // names.
    if (is_symbolizer(flag))
      strcpy(state.path, flag);
    else if (!find_symbolizer())
      state.path[0] = '\0';
    return true;
  }
  if (flag[0] == '\0') {
    if (find_symbolizer())
      return true;
    report(
        "cannot find llvm-symbolizer: install the package llvm-19 or set the "
        "option external_symbolizer_path",
        "", "");
    return false;
  }
  if (is_symbolizer(flag)) {
    strcpy(state.path, flag);
    return true;
  }
  report("external_symbolizer_path '", flag,
         "' is not an executable file whose name begins with llvm-symbolizer");
  return false;
}

// --- in the helper ---

// Returns the length of a reply, including the empty string at its end. An
// empty string always exists, because the last byte of the buffer is always 0.
static size_t reply_length(const char *reply) {
  const char *p = reply;
  while (*p != '\0')
    p += strlen(p) + 1;
  return (size_t)(p + 1 - reply);
}

// A question to the helper: a return address, or an address in a file. The
// length of the message tells which of the two it is.
union question {
  mprof_pc pc;
  struct mprof_file_query file;
};

static void answer(const union question *q, size_t len) {
  if (len == sizeof(q->pc)) {
    memset(state.reply, 0, REPLY_SIZE);
    mprof_symbolize_pc(q->pc, state.reply, REPLY_SIZE - 1);
  } else {
    mprof_symbolize_file(state.path, &q->file, SEPARATOR, state.reply,
                         REPLY_SIZE - 1);
  }
}

static void serve(int fd) {
  static union question q;
  long len;
  mprof_symbolize_pc_try();
  if (mprof_helper_send(fd, "", 1) < 0)
    return;
  mprof_symbolize_pc_init(state.path);
  while ((len = mprof_helper_receive(fd, &q, sizeof(q), -1)) > 0) {
    answer(&q, (size_t)len);
    if (mprof_helper_send(fd, state.reply, reply_length(state.reply)) < 0)
      return;
  }
}

// --- starting the helper ---

static void report_no_process(int error) {
  char why[64];
  struct mprof_text t = MPROF_TEXT(why);
  mprof_text_errno(&t, error);
  report("cannot create a process for llvm-symbolizer: ", why, "");
}

// Receives a reply by mprof_helper_receive. While this thread waits, other
// threads may interrupt it to read its stack.
static long await_reply(int fd, void *data, size_t len, int timeout_ms) {
  mprof_thread_set_interruptible(true);
  long n = mprof_helper_receive(fd, data, len, timeout_ms);
  mprof_thread_set_interruptible(false);
  return n;
}

// Starts the helper, in several tries. If another thread held the loader's lock
// when the process was copied, the helper hangs. In this case the next try
// copies the process again, because the lock may be free by then.
static void start_helper(void) {
  for (int wait_ms = FIRST_READY_MS; wait_ms <= LAST_READY_MS; wait_ms *= 2) {
    int error =
        mprof_helper_start(&state.helper, serve, mprof_flags.verbosity > 0);
    if (error != 0) {
      report_no_process(error);
      return;
    }
    char ready;
    long n = await_reply(state.helper.fd, &ready, 1, wait_ms);
    if (n == 1)
      return;
    mprof_helper_kill(&state.helper);
    if (n != -ETIMEDOUT) {
      report(ended_early, "", "");
      return;
    }
  }
  report("another thread holds the lock of the dynamic loader, which the "
         "helper process of llvm-symbolizer needs",
         "", "");
}

// --- asking the helper ---

static const char *keep(const char *data, size_t len) {
  struct chunk *c = state.chunks;
  if (c == NULL || c->used + len > CHUNK_SIZE - sizeof(*c)) {
    c = mprof_os_map(CHUNK_SIZE);
    if (c == NULL)
      return NULL;
    c->next = state.chunks;
    state.chunks = c;
  }
  char *p = c->data + c->used;
  memcpy(p, data, len);
  c->used += len;
  return p;
}

static void give_up(const char *why) {
  mprof_helper_stop(&state.helper);
  report(why, "", "");
}

// Stores in *q the question about the return address pc in the mapping m, and
// returns the question's length. If the code is still mapped and
// sanitizer_common can look up pc, the question is pc itself. Otherwise the
// question has the file and the address in the file.
static size_t make_question(union question *q, mprof_pc pc,
                            const struct mprof_mapping *m) {
  if (mprof_symbolize_pc_works && m < state.maps.v + state.maps.len) {
    q->pc = pc;
    return sizeof(q->pc);
  }
  q->file = (struct mprof_file_query){.address = pc - 1 - m->bias,
                                      .noted_ns = m->noted_ns};
  memcpy(q->file.file, m->file, sizeof(m->file));
  memcpy(q->file.build_id, m->build_id, sizeof(m->build_id));
  return sizeof(q->file);
}

// Asks the helper about the return address pc in the mapping m. Returns the
// reply, or NULL if the helper sends no reply.
static const char *ask(mprof_pc pc, const struct mprof_mapping *m) {
  union question q;
  if (state.helper.pid == 0)
    return NULL;
  size_t len = make_question(&q, pc, m);
  if (mprof_helper_send(state.helper.fd, &q, len) < 0) {
    give_up(ended_early);
    return NULL;
  }
  long n = await_reply(state.helper.fd, state.reply, REPLY_SIZE, TIMEOUT_MS);
  if (n == -ETIMEDOUT) {
    give_up("llvm-symbolizer took more than 30 s to look up an address");
    return NULL;
  }
  if (n <= 0 || state.reply[n - 1] != '\0') {
    give_up(ended_early);
    return NULL;
  }
  return keep(state.reply, (size_t)n);
}

static const char *find_reply(mprof_pc pc, const struct mprof_mapping *m) {
  struct mprof_pc_slot *s = mprof_pc_table_get(&state.table, pc);
  if (s == NULL)
    return NULL;
  if (s->value == 0) {
    const char *reply = ask(pc, m);
    s->value = reply == NULL ? UINT64_MAX : (uintptr_t)reply;
  }
  return s->value == UINT64_MAX ? NULL : (const char *)(uintptr_t)s->value;
}

// --- frames ---

// Copies the field at *p, which ends at a separator, into t. Moves *p behind
// the separator. Returns the copy, or "" if llvm-symbolizer did not know the
// field.
static const char *take_field(const char **p, struct mprof_text *t) {
  const char *end = strchr(*p, SEPARATOR);
  size_t len = end == NULL ? strlen(*p) : (size_t)(end - *p);
  t->len = 0;
  mprof_text_mem(t, *p, len);
  *p += len + (end != NULL);
  return strcmp(t->buf, "<null>") == 0 || strcmp(t->buf, "??") == 0 ? ""
                                                                    : t->buf;
}

// Parses the string s, which describes one frame, into f. Uses `function` and
// `file` as buffers. Returns false if s names no function.
static bool parse_frame(const char *s, struct mprof_text *function,
                        struct mprof_text *file, struct mprof_frame *f) {
  f->function = take_field(&s, function);
  f->file = take_field(&s, file);
  f->line = 0;
  for (; *s >= '0' && *s <= '9'; s++)
    f->line = f->line * 10 + (unsigned)(*s - '0');
  return f->function[0] != '\0';
}

mprof_pc mprof_symbolize_shown(mprof_pc pc, uint32_t gone) {
  return mprof_maps_shown(&state.maps, pc, gone);
}

// Returns whether m is a mapping of another file than the main program.
// Compares the file names, because the main program may have several mappings.
static bool is_library(const struct mprof_mapping *m) {
  return strcmp(m->file, state.maps.v[0].file) != 0;
}

bool mprof_symbolize(mprof_pc pc,
                     void (*fn)(const struct mprof_frame *, void *),
                     void *arg) {
  const struct mprof_mapping *m =
      pc == 0 ? NULL : mprof_maps_find(&state.maps, pc - 1);
  if (m == NULL)
    return false;
  struct mprof_frame f = {.function = "",
                          .file = "",
                          .module = m->file,
                          .is_library = is_library(m),
                          .offset = pc - 1 - m->bias};
  const char *hooked = mprof_hooked_name(pc);
  if (hooked != NULL) {
    f.function = hooked;
    fn(&f, arg);
    return true;
  }
  const char *reply = find_reply(pc, m);
  // state.reply has three parts of REPLY_SIZE bytes: the reply, a function name
  // and a file name. Each part is as large as the reply, because C++ names can
  // be long.
  struct mprof_text function = {.buf = state.reply + REPLY_SIZE,
                                .cap = REPLY_SIZE};
  struct mprof_text file = {.buf = state.reply + 2 * REPLY_SIZE,
                            .cap = REPLY_SIZE};
  bool has_names = false;
  for (const char *s = reply; s != NULL && *s != '\0'; s += strlen(s) + 1)
    if (parse_frame(s, &function, &file, &f)) {
      has_names = true;
      fn(&f, arg);
    }
  if (!has_names) {
    f.function = f.file = "";
    f.line = 0;
    fn(&f, arg);
  }
  return true;
}

static bool is_off; // guarded by writer_lock

void mprof_symbolize_turn_off(bool off) { is_off = off; }

int mprof_symbolize_begin(bool names) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  if (state.uses > 0) {
    state.uses++;
    return 0;
  }
  int error = mprof_unloads_read(&state.maps);
  if (error != 0)
    return error;
  state.reply = mprof_os_map(3 * REPLY_SIZE);
  if (state.reply == NULL) {
    mprof_maps_free(&state.maps);
    return -ENOMEM;
  }
  state.uses = 1;
  if (names && !is_off && choose_symbolizer())
    start_helper();
  return 0;
}

void mprof_symbolize_end(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE) && state.uses > 0);
  if (--state.uses > 0)
    return;
  mprof_helper_stop(&state.helper);
  mprof_pc_table_free(&state.table);
  while (state.chunks != NULL) {
    struct chunk *next = state.chunks->next;
    mprof_os_unmap(state.chunks, CHUNK_SIZE);
    state.chunks = next;
  }
  mprof_os_unmap(state.reply, 3 * REPLY_SIZE);
  state.reply = NULL;
  mprof_maps_free(&state.maps);
}

void mprof_symbolize_forget(void) {
  mprof_helper_forget(&state.helper);
  memset(&state, 0, sizeof(state));
}
