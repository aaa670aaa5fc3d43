// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks llvm-symbolizer about addresses in files; see symbolize_file.h. A
// question to llvm-symbolizer is one line:
//     CODE "FILE" 0xADDRESS
// The answer has two lines for each frame, and then an empty line:
//     FUNCTION
//     FILE:LINE:COLUMN

#define _GNU_SOURCE 1

#include "symbolize/symbolize_file.h"

#include "symbolize/maps.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/os_linux_cold.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { LINE_SIZE = 512, ANSWER_SIZE = 65536 };

// State of symbolize_file.c. The state is used only in the helper process,
// which has only one thread.
static struct {
  struct mprof_child child; // process that runs llvm-symbolizer
  bool has_failed;
  // The last query, and whether the file at its path is the file that was
  // loaded.
  struct mprof_file_query last;
  bool is_right;
  char answer[ANSWER_SIZE];
} files;

// --- checking the file ---

static bool has_build_id(int fd, size_t len, const char *expected) {
  void *data = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
  char id[sizeof(files.last.build_id)] = "";
  if (data == MAP_FAILED)
    return false;
  mprof_maps_file_build_id(data, len, id);
  munmap(data, len);
  return strcmp(id, expected) == 0;
}

// Returns whether the file at the path q->file is the file that was loaded. If
// q has a build ID, the file must have the same build ID. Otherwise the file
// must not have changed since its mapping was first seen. Without this check, a
// changed file could give wrong function names, which are worse than no names.
static bool is_right_file(const struct mprof_file_query *q) {
  struct stat st;
  if (q->file[0] != '/' || strpbrk(q->file, "\"\n\\") != NULL)
    return false;
  long fd = mprof_sys_open(q->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (fd < 0)
    return false;
  bool is_right = false;
  if (fstat((int)fd, &st) == 0 && S_ISREG(st.st_mode)) {
    int64_t changed_ns =
        (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
    is_right = q->build_id[0] != '\0'
                   ? has_build_id((int)fd, (size_t)st.st_size, q->build_id)
                   : changed_ns < q->noted_ns;
  }
  mprof_sys_close((int)fd);
  return is_right;
}

static bool check(const struct mprof_file_query *q) {
  if (strcmp(files.last.file, q->file) != 0 ||
      strcmp(files.last.build_id, q->build_id) != 0 ||
      files.last.noted_ns != q->noted_ns) {
    files.last = *q;
    files.is_right = is_right_file(q);
  }
  return files.is_right;
}

// --- questions ---

static bool send_question(const struct mprof_file_query *q) {
  char line[LINE_SIZE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, "CODE \"");
  mprof_text_str(&t, q->file);
  mprof_text_str(&t, "\" 0x");
  mprof_text_hex(&t, q->address);
  mprof_text_str(&t, "\n");
  return mprof_os_write_all(files.child.in, line, t.len) == 0;
}

// Reads llvm-symbolizer's answer up to the empty line at its end. Returns false
// if the output ends before the empty line.
static bool receive_answer(void) {
  size_t len = 0;
  while (len < 2 || memcmp(files.answer + len - 2, "\n\n", 2) != 0) {
    long n = mprof_sys_read(files.child.out, files.answer + len,
                            ANSWER_SIZE - 1 - len);
    if (n <= 0)
      return false;
    len += (size_t)n;
    // The answer is only the empty line, without frames.
    if (len == 1 && files.answer[0] == '\n')
      break;
  }
  files.answer[len] = '\0';
  return true;
}

static bool ask(const char *symbolizer, const struct mprof_file_query *q) {
  static const char *const args[] = {"--inlines", "--functions=linkage",
                                     "--demangle", "--output-style=LLVM", NULL};
  if (files.has_failed)
    return false;
  if (files.child.pid == 0)
    files.has_failed = mprof_child_start(&files.child, symbolizer, args) != 0;
  if (!files.has_failed)
    files.has_failed = !send_question(q) || !receive_answer();
  return !files.has_failed;
}

// --- answers ---

static const char *take_line(char **p) {
  char *line = *p, *end = strchr(line, '\n');
  if (end != NULL)
    *end++ = '\0';
  *p = end == NULL ? line + strlen(line) : end;
  return line;
}

// Returns the length of FILE in a string of the form FILE:LINE:COLUMN.
static size_t file_length(const char *place) {
  size_t len = strlen(place);
  for (int colons = 0; len > 0; len--)
    if (place[len - 1] == ':' && ++colons == 2)
      return len - 1;
  return strlen(place);
}

static void put_frame(struct mprof_text *t, const char *function,
                      const char *place, char separator) {
  size_t len = file_length(place);
  const char *line = place + len + (place[len] == ':');
  if (t->len + strlen(function) + strlen(place) + 4 > t->cap)
    return;
  mprof_text_str(t, function);
  mprof_text_mem(t, &separator, 1);
  mprof_text_mem(t, place, len);
  mprof_text_mem(t, &separator, 1);
  mprof_text_mem(t, line, strcspn(line, ":"));
  t->len++; // keep the null byte at the end of the frame's string
}

void mprof_symbolize_file(const char *symbolizer,
                          const struct mprof_file_query *q, char separator,
                          char *out, size_t size) {
  struct mprof_text t = {.buf = out, .cap = size};
  memset(out, 0, size);
  if (!check(q) || !ask(symbolizer, q))
    return;
  for (char *p = files.answer; *p != '\0' && *p != '\n';) {
    const char *function = take_line(&p);
    const char *place = take_line(&p);
    put_frame(&t, function, place, separator);
  }
}
