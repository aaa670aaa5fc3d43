// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: sets of labels with equal contents are one set. Their text has the
// form that Go prints (as in Go's TestLabelMapStringer). A key or value that is
// too long is cut between two characters. A pair without key or value is not
// added, and mprof_label_set returns an error.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "mprof/mprof.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/labels.h"

#include <errno.h>

static const char *text(void) {
  static char buf[65536];
  CHECK(mprof_labels_text(mprof_labels_get(), buf, sizeof(buf)) == strlen(buf));
  return buf;
}

static void check_text(const char *value, const char *quoted) {
  char expected[256];
  CHECK_EQ(mprof_label_set("k", value), 0);
  snprintf(expected, sizeof(expected), "{\"k\":%s}", quoted);
  CHECK_STR(text(), expected);
}

static void check_texts(void) {
  CHECK_STR(text(), "{}");
  check_text("", "\"\"");
  check_text("a b", "\"a b\"");
  check_text("a\"b\\c", "\"a\\\"b\\\\c\"");
  check_text("\a\b\f\n\r\t\v", "\"\\a\\b\\f\\n\\r\\t\\v\"");
  // Unassigned characters, and characters of the category Cf.
  check_text("\xcd\xb8\xe2\x80\x8b\xdb\x9d", "\"\\u0378\\u200b\\u06dd\"");
  check_text("\xf0\x91\x82\xbd", "\"\\U000110bd\"");
  check_text("\x01\x1b\x7f", "\"\\x01\\x1b\\x7f\"");
  check_text("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
             "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
  check_text("\xff\xc3", "\"\\xff\\xc3\"");
  check_text("\xed\xa0\x80", "\"\\xed\\xa0\\x80\""); // half a surrogate pair
  check_text("\xc2\x85\xc2\xad\xe2\x80\xa8", "\"\\u0085\\u00ad\\u2028\"");
  check_text("\xef\xbb\xbf\xf3\xa0\x80\x81", "\"\\ufeff\\U000e0001\"");
  CHECK_EQ(mprof_label_set("k", NULL), 0);

  CHECK_EQ(mprof_label_set("foo", "bar"), 0);
  CHECK_EQ(mprof_label_set("key2", "value2"), 0);
  CHECK_EQ(mprof_label_set("key1", "value1"), 0);
  CHECK_EQ(mprof_label_set("key1\n", "x"), 0);
  CHECK_STR(text(), "{\"foo\":\"bar\", \"key1\":\"value1\", "
                    "\"key1\\n\":\"x\", \"key2\":\"value2\"}");
  char small[8];
  memset(small, 'x', sizeof(small));
  const size_t len = strlen(text());
  CHECK_EQ(mprof_labels_text(mprof_labels_get(), NULL, 0), len);
  CHECK_EQ(mprof_labels_text(mprof_labels_get(), small, 6), len);
  CHECK_STR(small, "{\"foo");
  CHECK_EQ(small[6], 'x');
  mprof_labels_swap(NULL);
}

static void check_sets(void) {
  CHECK(mprof_labels_get() == NULL);
  mprof_label_set("b", "2");
  const struct mprof_labels *b = mprof_labels_get();
  mprof_label_set("a", "1");
  const struct mprof_labels *ab = mprof_labels_get();
  CHECK(b != NULL && ab != NULL && b != ab);
  CHECK(mprof_labels_swap(NULL) == ab);
  CHECK(mprof_labels_swap(ab) == NULL);
  mprof_label_set("a", "1");
  CHECK(mprof_labels_get() == ab);
  mprof_label_set("a", NULL);
  CHECK(mprof_labels_get() == b);
  mprof_label_set("none", NULL);
  CHECK(mprof_labels_get() == b);
  // The order does not matter; of several values for a key the last one counts.
  const char *const pairs[] = {"b", "1", "a", "1", "b", "2", NULL};
  mprof_labels_swap(NULL);
  CHECK(mprof_labels_add(pairs) == NULL);
  CHECK(mprof_labels_get() == ab);
  // Lengths are compared, too: {"a": "1b"} is not {"a1": "b"}.
  mprof_labels_swap(NULL);
  mprof_label_set("a", "1b");
  const struct mprof_labels *x = mprof_labels_get();
  mprof_labels_swap(NULL);
  mprof_label_set("a1", "b");
  CHECK(mprof_labels_get() != x);
  mprof_labels_swap(NULL);
}

static void check_lengths(void) {
  static char key[131], value[1027];
  memset(key, 'k', 130);
  memset(value, 'v', 1026);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_labels_cut), 0);
  key[128] = value[1024] = '\0';
  CHECK_EQ(mprof_label_set(key, value), 0);
  CHECK_EQ(strlen(text()), 128 + 1024 + 7);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_labels_cut), 0);
  const struct mprof_labels *whole = mprof_labels_get();
  key[128] = 'k', value[1024] = 'v';
  CHECK_EQ(mprof_label_set(key, value), 0);
  CHECK(mprof_labels_get() == whole);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_labels_cut), 2);
  memcpy(value + 1022, "\xe2\x82\xac", 3); // bytes 1023 to 1025
  CHECK_EQ(mprof_label_set(key, value), 0);
  CHECK_EQ(strlen(text()), 128 + 1022 + 7);
  mprof_labels_swap(NULL);
}

static void check_mistakes(void) {
  CHECK_EQ(mprof_label_set(NULL, "x"), EINVAL);
  CHECK_EQ(mprof_label_set("", "x"), EINVAL);
  CHECK_EQ(mprof_label_set("", NULL), EINVAL);
  const char *const no_value[] = {"a", "1", "b", NULL};
  const char *const no_key[] = {"a", "1", "", "2", "c", "3", NULL};
  CHECK(mprof_labels_add(no_value) == NULL);
  CHECK_STR(text(), "{\"a\":\"1\"}");
  mprof_labels_swap(NULL);
  mprof_labels_add(no_key);
  CHECK_STR(text(), "{\"a\":\"1\", \"c\":\"3\"}");
  mprof_labels_swap(NULL);
  mprof_labels_add(NULL);
  CHECK(mprof_labels_get() == NULL);

  // Calls from a handler that interrupted the profiler.
  mprof_label_set("k", "v");
  const struct mprof_labels *before = mprof_labels_get();
  mprof_guard_enter();
  CHECK_EQ(mprof_label_set("k", "w"), EBUSY);
  CHECK(mprof_labels_add(no_key) == before && mprof_labels_get() == before);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_reentrant), 2);
  CHECK(mprof_labels_swap(NULL) == before); // works there, as it needs no lock
  mprof_guard_leave();
  CHECK(mprof_labels_get() == NULL);

  char name[8];
  for (int i = 0; i < 32; i++) {
    snprintf(name, sizeof(name), "k%d", i);
    CHECK_EQ(mprof_label_set(name, "v"), 0);
  }
  before = mprof_labels_get();
  CHECK_EQ(mprof_stat_get(MPROF_STAT_labels_overflow), 0);
  CHECK_EQ(mprof_label_set("one", "more"), ENOSPC);
  CHECK(mprof_labels_get() == before);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_labels_overflow), 1);
  CHECK_EQ(mprof_label_set("k7", "w"), 0);
  CHECK_EQ(mprof_label_set("k7", NULL), 0);
  CHECK_EQ(mprof_label_set("one", "more"), 0);
  mprof_labels_swap(NULL);
}

int main(void) {
  errno = 77;
  mprof_os_fail_map(1);
  CHECK_EQ(mprof_label_set("k", "v"), ENOMEM);
  mprof_os_fail_map(2);
  CHECK_EQ(mprof_label_set("k", "v"), ENOMEM);
  mprof_os_fail_map(0);
  CHECK(mprof_labels_get() == NULL);
  check_texts();
  check_sets();
  check_lengths();
  check_mistakes();
  CHECK_EQ(errno, 77);
  return 0;
}
