// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the option block_kinds. The value of the option is a list of names of
// kinds and groups, which are separated by '+', ',' or a space.

#include "lock_wait/block_kinds.h"

#include "sys/message.h"

#include <string.h>

enum group { sync, try, calls };

static const struct {
  char name[16];
  enum group group;
} kinds[MPROF_KIND_COUNT] = {
#define MPROF_KIND(Name, Group) {#Name, Group},
#include "mprof/hooks.def"
};
#define MPROF_KIND(Name, Group) MPROF_FITS(#Name, kinds->name)
#include "mprof/hooks.def"

static bool is_group_of(const char *s, size_t len, enum group g) {
  static const char *const names[] = {"sync", "try", "calls"};
  return strlen(names[g]) == len && memcmp(names[g], s, len) == 0;
}

// The kinds of the group sync.
static const uint64_t sync_kinds = 0
#define MPROF_KIND(Name, Group) | (uint64_t)(Group == sync) << MPROF_KIND_##Name
#include "mprof/hooks.def"
    ;

static uint64_t bits_of(const char *s, size_t len) {
  uint64_t bits = 0;
  bool is_all = len == 3 && memcmp(s, "all", 3) == 0;
  for (int i = 0; i < MPROF_KIND_COUNT; i++)
    if (is_all || is_group_of(s, len, kinds[i].group) ||
        (strlen(kinds[i].name) == len && memcmp(kinds[i].name, s, len) == 0))
      bits |= UINT64_C(1) << i;
  return bits;
}

static void report(const char *s, size_t len) {
  char line[512];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, "unknown kind '");
  mprof_text_mem(&t, s, len < 80 ? len : 80);
  mprof_text_str(&t, len < 80 ? "' in option block_kinds"
                              : "...' in option block_kinds");
  mprof_text_str(&t, "; the groups are sync, calls and all; the kinds are");
  for (int i = 0; i < MPROF_KIND_COUNT; i++) {
    mprof_text_str(&t, i == 0 ? " " : ", ");
    mprof_text_str(&t, kinds[i].name);
  }
  mprof_message(line);
}

uint64_t mprof_contention_parse_kinds(const char *s) {
  uint64_t bits = 0;
  // Most processes start with the default, and use no other code of this file.
  if (s[0] == 's' && s[1] == 'y' && s[2] == 'n' && s[3] == 'c' && s[4] == '\0')
    return sync_kinds;
  while (*s != '\0') {
    size_t len = strcspn(s, "+, ");
    uint64_t named = bits_of(s, len);
    bits |= named;
    if (named == 0 && len > 0)
      report(s, len);
    s += len + (s[len] != '\0');
  }
  return bits;
}
