// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a trace cannot make the table of its frames slow. Each frame is found
// at once, although the frames collide in a table with an FNV hash: it mixes
// the caller's number and the first letter of the frame alike.
//
// RUN: %clang -std=c11 -D_GNU_SOURCE -Wall -Werror -I%src/tools \
// RUN:   -I%src/tools/trace -I%rt %s %tools_common %rt/sys/text.c -o %t
// RUN: %t | FileCheck %s
// CHECK: 64000 frames, 0 collisions

#include "common/idmap.h"

static unsigned long finds;

static bool counted_find(const struct idmap *map, uint64_t id, size_t *index) {
  finds++;
  return idmap_find(map, id, index);
}

#define idmap_find counted_find
#include "frame_tree.c"

// The test passes the texts itself.
struct trace_text trace_string(const struct trace *trace, uint64_t id) {
  (void)trace, (void)id;
  abort();
}
size_t trace_stack(const struct trace *trace, uint64_t stack,
                   const struct trace_frame **frames) {
  (void)trace, (void)stack, (void)frames;
  abort();
}
void json_escape(FILE *out, struct trace_text text) {
  (void)out, (void)text;
  abort();
}

int main(void) {
  struct frame_tree tree = {0};
  enum { GROUPS = 1000, GROUP = 64 };
  for (uint32_t group = 0; group < GROUPS; group++)
    for (uint32_t i = 0; i < GROUP; i++) {
      const char text[] = {(char)('@' + i), '\0'};
      node_of(&tree, group * GROUP + i, strdup(text));
    }
  printf("%zu frames, %lu collisions\n", tree.count, finds - tree.count);
  frame_tree_clear(&tree);
}
