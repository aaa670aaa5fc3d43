// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a name that is too long is shortened to the wanted size. First the
// innermost template arguments are replaced by dots, at last the middle of the
// name by the mark. Brackets in the names of operators are no arguments, and
// characters of UTF-8 stay whole. The path of a frame keeps its end.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -I%src/tools/mprof %s %src/tools/mprof/names/cut_name.c -o app && %emu ./app

#include "check.h"

#include "names/cut_name.h"

#include <string.h>

static const char *cut(const char *name, size_t max) {
  static char text[4096];
  strcpy(text, name);
  const size_t len = mprof_cut_name(text, max);
  CHECK(len <= max);
  CHECK_EQ(strlen(text), len);
  return text;
}

static void test_templates(void) {
  const char *name = "void f<A<B<int, int>, C>, int>(A<B<int, int>, C>*)";
  CHECK_STR(cut(name, 100), name);
  CHECK_STR(cut(name, strlen(name)), name);
  CHECK_STR(cut(name, strlen(name) - 1),
            "void f<A<B<....>, C>, int>(A<B<int, int>, C>*)");
  CHECK_STR(cut(name, 39), "void f<A<....>, int>(A<B<....>, C>*)");
  CHECK_STR(cut(name, 27), "void f<....>(A<....>*)");
  CHECK_STR(cut(name, 16), "void f<<....>>*)");
}

static void test_operators(void) {
  CHECK_STR(cut("bool operator< <P<int, int, int>>(P<int>)", 35),
            "bool operator< <P<....>>(P<int>)");
  CHECK_STR(cut("bool operator<<(S<int, int, int, int>&)", 30),
            "bool operator<<(S<....>&)");
  CHECK_STR(cut("S<int, int, int> T::operator->() const", 30),
            "S<....> T::operator->() const");
}

static void test_plain(void) {
  CHECK_STR(cut("abcdefghijklmnopqrstuvwxyz", 20), "abcdefghij<....>wxyz");
  // Two bytes for each of the characters.
  CHECK_STR(
      cut("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 16),
      "\u00e4\u00e4\u00e4<....>\u00e4");
}

static void test_frames(void) {
  char name[64] = "f<int, int, int, int>", path[64] = "/a/very/long/path/x.c";
  mprof_cut_frame(name, path, 42);
  CHECK_STR(name, "f<int, int, int, int>");
  CHECK_STR(path, "/a/very/long/path/x.c");
  mprof_cut_frame(name, path, 36);
  CHECK_STR(name, "f<....>");
  CHECK_STR(path, "<....>ong/path/x.c");
}

// Any number of frames fits.
static void test_rooms(void) {
  for (size_t frames = 1; frames <= MPROF_CUT_FRAMES; frames++) {
    size_t left = MPROF_CUT_ALL;
    for (size_t i = frames; i-- > 0;) {
      const size_t room = mprof_cut_room(left, i);
      CHECK(room >= MPROF_CUT_LEAST && room <= left);
      left -= room;
    }
  }
}

int main(void) {
  test_templates();
  test_operators();
  test_plain();
  test_frames();
  test_rooms();
  return 0;
}
