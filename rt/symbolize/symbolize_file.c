// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks llvm-symbolizer about addresses in files; see symbolize_file.h. A
// question to llvm-symbolizer is one line:
//     CODE "FILE" 0xADDRESS
// The answer is one line of JSON (symbolizer_answer.h).

#define _GNU_SOURCE 1

#include "symbolize/symbolize_file.h"

#include "helper/helper_process.h"
#include "symbolize/maps.h"
#include "symbolize/symbolizer_answer.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
  FILE_SIZE = sizeof(((struct mprof_file_query *)0)->file),
  LINE_SIZE = FILE_SIZE + 64,
  // Sizes of the buffer for an answer. The end of a longer answer is ignored.
  ANSWER_MIN = 1 << 17,
  ANSWER_MAX = 1 << 24,
  FILES_MAX = 32, // number of files for which the result of the check of their
                  // build id is stored
  FAILURES_MAX = 3, // after so many failed queries, llvm-symbolizer is not
                    // queried again
};

// A file about which llvm-symbolizer was asked, and the result of its check.
struct checked {
  struct mprof_file_query query; // all fields but the address are used
  bool is_right;                 // the file at its path is the loaded file
  int fd; // 0: name is the path; otherwise name refers to this descriptor
  char name[FILE_SIZE]; // name by which llvm-symbolizer opens the file
};

// State of symbolize_file.c. The state is used only in the helper process,
// which has only one thread.
static struct {
  struct mprof_child child; // process that runs llvm-symbolizer
  int failures;             // number of times that llvm-symbolizer failed
  bool has_old_files; // fds in `files` changed after llvm-symbolizer's start
  struct checked files[FILES_MAX];
  unsigned next; // number of files checked; the next is files[next % FILES_MAX]
  char *answer;  // a buffer of answer_size bytes, or NULL
  size_t answer_size;
} state;

// --- checking the file ---

static bool has_build_id(int fd, size_t len, const char *expected) {
  void *data = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
  char id[sizeof(state.files[0].query.build_id)] = "";
  if (data == MAP_FAILED)
    return false;
  mprof_maps_file_build_id(data, len, id);
  munmap(data, len);
  return strcmp(id, expected) == 0;
}

// Returns whether the open file fd is the file that was loaded. If q has a
// build ID, the file must have the same build ID. Otherwise the file must not
// have changed since its mapping was first seen. Without this check, a changed
// file could give wrong function names, which are worse than no names.
static bool is_right_file(const struct mprof_file_query *q, int fd) {
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
    return false;
  const int64_t changed_ns =
      (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
  return q->build_id[0] != '\0'
             ? has_build_id(fd, (size_t)st.st_size, q->build_id)
             : changed_ns < q->noted_ns;
}

// Sets c->name to the name by which llvm-symbolizer opens the file at path. fd
// is an open descriptor of the file. Three sorts of paths cannot be sent to
// llvm-symbolizer:
//
// - a path with a line break;
// - a path with both sorts of quotation marks;
// - a path with a colon, because llvm-symbolizer takes the text behind the
//   colon for the name of a processor.
//
// For such a path, the name is /proc/self/fd/FD, where FD is the number of fd.
// llvm-symbolizer inherits the descriptor.
static void set_name(struct checked *c, const char *path, int fd) {
  struct mprof_text t = MPROF_TEXT(c->name);
  c->name[0] = '\0';
  if (strpbrk(path, "\n\r:") == NULL &&
      (strchr(path, '"') == NULL || strchr(path, '\'') == NULL)) {
    mprof_text_str(&t, path);
    mprof_sys_close(fd);
    return;
  }
  c->fd = fd;
  state.has_old_files = true;
  mprof_sys_fcntl(fd, F_SETFD, 0);
  mprof_text_str(&t, "/proc/self/fd/");
  mprof_text_dec(&t, (uint64_t)fd);
}

// Returns whether the file at path is the file that was loaded. If it is, sets
// c->name.
static bool check_path(struct checked *c, const char *path) {
  const long fd = mprof_sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (fd < 0)
    return false;
  if (is_right_file(&c->query, (int)fd)) {
    set_name(c, path, (int)fd);
    return true;
  }
  mprof_sys_close((int)fd);
  return false;
}

// Replaces each \012 in path by a line break. /proc/self/maps shows line breaks
// in this way. Returns false if path contains no \012.
static bool unescape(char *path) {
  bool has_any = false;
  for (char *p = path; (p = strstr(p, "\\012")) != NULL; p++) {
    *p = '\n';
    memmove(p + 1, p + 4, strlen(p + 4) + 1);
    has_any = true;
  }
  return has_any;
}

// Returns the result of checking the file of q. Checks the file only if
// state.files does not have the result of an earlier check.
static struct checked *check(const struct mprof_file_query *q) {
  for (int i = 0; i < FILES_MAX; i++) {
    const struct mprof_file_query *old = &state.files[i].query;
    if (strcmp(old->file, q->file) == 0 && old->noted_ns == q->noted_ns &&
        strcmp(old->build_id, q->build_id) == 0)
      return &state.files[i];
  }
  struct checked *c = &state.files[state.next++ % FILES_MAX];
  if (c->fd != 0) {
    mprof_sys_close(c->fd);
    state.has_old_files = true;
  }
  *c = (struct checked){.query = *q};
  char path[FILE_SIZE];
  memcpy(path, q->file, sizeof(path));
  c->is_right = path[0] == '/' && (check_path(c, path) ||
                                   (unescape(path) && check_path(c, path)));
  return c;
}

// --- questions ---

static bool send_question(const struct checked *c, uint64_t address) {
  char line[LINE_SIZE];
  struct mprof_text t = MPROF_TEXT(line);
  const char *quote = strchr(c->name, '"') == NULL ? "\"" : "'";
  mprof_text_str(&t, "CODE ");
  mprof_text_str(&t, quote);
  mprof_text_str(&t, c->name);
  mprof_text_str(&t, quote);
  mprof_text_str(&t, " 0x");
  mprof_text_hex(&t, address);
  mprof_text_str(&t, "\n");
  return mprof_os_write_all(state.child.in, line, t.len) == 0;
}

// Makes the buffer of the answer larger, and keeps its first len bytes. Returns
// false if there is no memory, or if the buffer has its largest size.
static bool grow_answer(size_t len) {
  const size_t size = state.answer == NULL ? ANSWER_MIN : 2 * state.answer_size;
  char *larger = size <= ANSWER_MAX ? mprof_os_map(size) : NULL;
  if (larger == NULL)
    return false;
  if (state.answer != NULL) {
    memcpy(larger, state.answer, len);
    mprof_os_unmap(state.answer, state.answer_size);
  }
  state.answer = larger;
  state.answer_size = size;
  return true;
}

// Reads llvm-symbolizer's answer, which is one line. Returns false if the
// output ends before the end of the line, or if there is no memory. If the
// answer is too long, stores its begin.
static bool receive_answer(void) {
  size_t len = 0;
  char ignored[256], last = '\0';
  while (last != '\n') {
    const bool has_room = len + 1 < state.answer_size || grow_answer(len);
    char *to = has_room ? state.answer + len : ignored;
    const long n = mprof_sys_read(state.child.out, to,
                                  has_room ? state.answer_size - 1 - len
                                           : sizeof(ignored));
    if (n <= 0)
      return false;
    last = to[n - 1];
    len += has_room ? (size_t)n : 0;
  }
  if (state.answer == NULL)
    return false;
  state.answer[len] = '\0';
  return true;
}

static void stop_child(void) {
  mprof_sys_close(state.child.in);
  mprof_sys_close(state.child.out);
  state.child.pid = 0;
}

// Starts llvm-symbolizer if it does not run. Restarts llvm-symbolizer if the
// descriptors in state.files have changed since its start.
static bool start_child(const char *symbolizer) {
  static const char *const args[] = {"--inlines", "--functions=linkage",
                                     "--demangle", "--output-style=JSON", NULL};
  if (state.child.pid != 0 && state.has_old_files)
    stop_child();
  if (state.child.pid != 0)
    return true;
  state.has_old_files = false;
  return mprof_child_start(&state.child, symbolizer, args) == 0;
}

// Asks llvm-symbolizer about an address in the file c. llvm-symbolizer may
// crash, or the kernel may kill it if memory is short. So llvm-symbolizer is
// started again a few times. Returns false if there is no answer.
static bool ask(const char *symbolizer, const struct checked *c,
                uint64_t address) {
  while (state.failures < FAILURES_MAX && start_child(symbolizer)) {
    if (send_question(c, address) && receive_answer())
      return true;
    stop_child();
    state.failures++;
  }
  return false;
}

bool mprof_symbolize_file(const char *symbolizer,
                          const struct mprof_file_query *q,
                          struct mprof_text *out) {
  const struct checked *c = check(q);
  if (!c->is_right)
    return true;
  if (!ask(symbolizer, c, q->address))
    return false;
  mprof_symbolizer_answer(state.answer, out);
  return true;
}
