// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: kept names are passed on only if they are about the mapped module,
// and if no file from which they come has changed, appeared or vanished. A
// damaged file gives only the names before the damage.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/mprof && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && ./app

#include "core.h"

#include "symbolize/names.h"
#include "symbolize/symbolizer_protocol.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first[] = "f\x1f"
                            "a.c\x1f"
                            "1\x1f"
                            "1\0"
                            "g\x1f\x1f"
                            "2\x1f"
                            "2\0";
static const char second[] = ""; // no frames

static char directory[4096], path[8192];
static char content[4096];
static size_t len, header_len;
static struct mprof_mapping m = {
    .start = 0x1000, .limit = 0x2000, .bias = 0x1000, .noted_ns = INT64_MAX};

static void put(const void *p, size_t size) {
  CHECK(len + size <= sizeof(content));
  memcpy(content + len, p, size);
  len += size;
}

static void put_source(const char *name, uint64_t stamp) {
  put(&stamp, sizeof(stamp));
  put(name, strlen(name) + 1);
}

static void put_names(uint64_t address, const char *names, uint32_t size) {
  put(&address, sizeof(address));
  put(&size, sizeof(size));
  put(names, size);
}

static struct stat state_of(const char *name) {
  struct stat st;
  NEED(stat(name, &st) == 0);
  return st;
}

static int64_t changed(const char *name) {
  const struct stat st = state_of(name);
  return st.st_ctim.tv_sec * INT64_C(1000000000) + st.st_ctim.tv_nsec;
}

static uint64_t stamp(const char *name) {
  const struct stat st = state_of(name);
  return mprof_kept_stamp(changed(name), (uint64_t)st.st_size, st.st_ino);
}

// Changes the time of the last change. Kernels before 6.13 count it in steps of
// some milliseconds.
static void touch(const char *name) {
  const int64_t before = changed(name);
  while (changed(name) == before)
    NEED(chmod(name, 0700) == 0);
}

static void make_file(const char *name) {
  const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0 && close(fd) == 0);
}

// Makes the content for the module m and the files "tool" and "absent".
static void make_content(void) {
  struct mprof_kept_header h = {.magic = MPROF_KEPT_MAGIC, .sources = 3};
  memcpy(h.build_id, m.build_id, sizeof(h.build_id));
  len = 0;
  put(&h, sizeof(h));
  put_source(m.file, stamp(m.file));
  put_source("tool", stamp("tool"));
  put_source("absent", MPROF_KEPT_ABSENT);
  header_len = len;
  put_names(0x10, first, sizeof(first));
  put_names(0x20, second, sizeof(second));
}

static void write_file(size_t size) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0);
  CHECK_EQ(write(fd, content, size), (ssize_t)size);
  close(fd);
}

static unsigned found; // bit 0: the first address, bit 1: the second

static void find(mprof_pc pc, const char *frames, void *arg) {
  CHECK(arg == &found);
  const bool is_first = pc == m.bias + 0x11;
  CHECK(is_first || pc == m.bias + 0x21);
  CHECK_STR(frames, is_first ? first : second);
  if (is_first)
    CHECK(memcmp(frames, first, sizeof(first)) == 0);
  found |= is_first ? 1 : 2;
}

static unsigned look_with(const char *program) {
  found = 0;
  mprof_kept_names_read(directory, program, &m, find, &found);
  return found;
}

static unsigned look(void) { return look_with("tool"); }

static unsigned look_at(size_t size) {
  write_file(size);
  return look();
}

static void changes_of_the_sources(void) {
  CHECK_EQ(look_at(len), 3);
  make_file("absent");
  CHECK_EQ(look(), 0);
  unlink("absent");
  CHECK_EQ(look(), 3);
  rename("tool", "other");
  CHECK_EQ(look(), 0);
  rename("other", "tool");
  touch("tool");
  CHECK_EQ(look(), 0);
  make_content();
  CHECK_EQ(look_at(len), 3);
  touch(m.file);
  CHECK_EQ(look(), 0);
  make_content();
  CHECK_EQ(look_at(len), 3);
}

// Only the size and the inode tell apart files with equal times.
static void stamps(void) {
  const uint64_t s = mprof_kept_stamp(5, 6, 7);
  CHECK(s != mprof_kept_stamp(4, 6, 7) && s != mprof_kept_stamp(5, 7, 7) &&
        s != mprof_kept_stamp(5, 6, 8));
}

static void another_program(void) {
  make_file("other");
  CHECK_EQ(look_with("other"), 0);
  CHECK_EQ(look_with("absent"), 0);
}

// The second address is in another mapping of the module.
static void another_mapping(void) {
  m.limit = 0x1020;
  CHECK_EQ(look(), 1);
  m.limit = 0x1021;
  CHECK_EQ(look(), 3);
  m.start = 0x1011;
  CHECK_EQ(look(), 2);
  m.start = 0x1010;
  CHECK_EQ(look(), 3);
}

static void another_module(void) {
  m.build_id[1] = '0';
  CHECK_EQ(look(), 0);
  m.build_id[0] = '\0'; // mapped before the file was changed
  m.noted_ns = changed(m.file);
  make_content();
  CHECK_EQ(look_at(len), 0);
  m.noted_ns++;
  CHECK_EQ(look(), 3);
  // The first source is not the module.
  content[sizeof(struct mprof_kept_header) + sizeof(uint64_t) + 1] ^= 1;
  CHECK_EQ(look_at(len), 0);
  make_content();
}

// Returns whether the byte of the header or of a source is compared. Bytes
// behind the end of a string are not. At the end is the path of an absent file;
// with another letter, it is absent, too.
static bool is_compared(size_t i) {
  const size_t id = offsetof(struct mprof_kept_header, build_id);
  return i < sizeof(MPROF_KEPT_MAGIC) ||
         (i >= id && i <= id + strlen(m.build_id)) ||
         (i >= offsetof(struct mprof_kept_header, sources) &&
          i + sizeof("absent") < header_len);
}

static void damaged_files(void) {
  const size_t first_end = len - 12 - sizeof(second);
  for (size_t size = 0; size <= len; size++)
    CHECK_EQ(look_at(size), size < first_end ? 0u : size < len ? 1u : 3u);
  for (size_t i = 0; i < header_len; i++) {
    content[i] ^= 0x40;
    if (is_compared(i))
      CHECK_EQ(look_at(len), 0);
    content[i] ^= 0x40;
  }
  // The names of the first address have no end, or an empty string inside.
  content[first_end - 1] = 'x';
  CHECK_EQ(look_at(len), 0);
  content[first_end - 1] = '\0';
  content[first_end - 2] = 'x';
  CHECK_EQ(look_at(len), 0);
  content[first_end - 2] = content[first_end - 4] = content[first_end - 3] =
      '\0';
  CHECK_EQ(look_at(len), 0);
  make_content();
}

static void files_of_others(void) {
  CHECK_EQ(look_at(len), 3);
  chmod(path, 0602);
  CHECK_EQ(look(), 0);
  chmod(path, 0600);
  chmod("mprof", 0707);
  CHECK_EQ(look(), 0);
  chmod("mprof", 0700);
  CHECK_EQ(look(), 3);
  unlink(path);
  CHECK_EQ(mkfifo(path, 0600), 0); // nobody writes into it
  CHECK_EQ(look(), 0);
  unlink(path);
  CHECK_EQ(symlink("elsewhere", path), 0);
  CHECK_EQ(look(), 0);
}

int main(void) {
  CHECK(getcwd(directory, sizeof(directory)) != NULL);
  make_file("module");
  make_file("tool");
  CHECK(snprintf(m.file, sizeof(m.file), "%s/module", directory) <
        (int)sizeof(m.file));
  memcpy(m.build_id, "abcd", 5);
  snprintf(path, sizeof(path), "%s/mprof/names-%u", directory,
           mprof_kept_number(m.file));
  make_content();
  CHECK_EQ(look(), 0); // no file
  CHECK_EQ(look_at(len), 3);
  stamps();
  another_program();
  changes_of_the_sources();
  another_mapping();
  another_module();
  damaged_files();
  files_of_others();
  return 0;
}
