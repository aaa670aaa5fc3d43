// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: each block that glib allocates for the program is counted once, with
// its size. No freed block counts as in use. In sampled mode the program runs
// without error.
//
// REQUIRES: glib
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O1 -shared -fPIC -fno-builtin -I%src/include \
// RUN:   %S/Inputs/ground_truth.c -o truth.so
// RUN: %mprof_clang -fmprof -O1 -I%S/Inputs $(pkg-config --cflags glib-2.0) %s \
// RUN:   -o app $(pkg-config --libs glib-2.0)
// RUN: %run_quiet{heap_rate=0} LD_PRELOAD=$PWD/truth.so ./app
// RUN: %run_quiet{heap_rate=65536:seed=3} ./app
// RUN: %run{heap_rate=1:log_path=out.%%p} ./app
// RUN: %mprof_read --by-function g_strdup_printf --by-function insert \
// RUN:   out.*.heap.pb.gz | FileCheck %s
//
// Blocks that glib allocates are found below glib's caller. A string is found
// twice, as vasprintf allocates and then shrinks it.
// CHECK: cum g_strdup_printf: alloc_objects=2000
// CHECK: cum insert: alloc_objects={{[1-9][0-9][0-9][0-9]}}

#include "ground_truth.h"

#include <glib.h>

__attribute__((noinline)) static void insert(GHashTable *table) {
  for (int i = 0; i < 1000; i++)
    g_hash_table_insert(table, g_strdup_printf("the key of number %d", i),
                        g_string_new("a value that may grow"));
}

static void drop(gpointer string) { g_string_free(string, TRUE); }

static gpointer work(gpointer queue) {
  char *s;
  int n = 0;
  while (*(s = g_async_queue_pop(queue)) != '\0') {
    n += (int)strlen(s);
    g_free(s);
  }
  g_free(s);
  return GINT_TO_POINTER(n);
}

int main(void) {
  truth_begin();
  GHashTable *table =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, drop);
  insert(table);
  GList *list = NULL;
  GHashTableIter at;
  gpointer key, value;
  g_hash_table_iter_init(&at, table);
  while (g_hash_table_iter_next(&at, &key, &value)) {
    g_string_append_printf(value, " to %s", (char *)key);
    list = g_list_prepend(list, g_utf8_strup(((GString *)value)->str, -1));
  }
  list = g_list_sort(list, (GCompareFunc)strcmp);
  GPtrArray *a = g_ptr_array_new_with_free_func(g_free);
  for (GList *l = list; l; l = l->next)
    g_ptr_array_add(a, l->data);
  g_list_free(list);
  GAsyncQueue *queue = g_async_queue_new();
  GThread *thread = g_thread_new("worker", work, queue);
  for (guint i = 0; i < a->len; i++)
    g_async_queue_push(queue, g_strdup(g_ptr_array_index(a, i)));
  g_async_queue_push(queue, g_strdup(""));
  gboolean worked = g_thread_join(thread) != NULL;
  g_async_queue_unref(queue);
  g_ptr_array_free(a, TRUE);
  g_hash_table_destroy(table);
  char **parts = g_strsplit("one,two,three,four", ",", 0);
  char *joined = g_strjoinv("; ", parts);
  g_strfreev(parts);
  g_free(joined);
  return worked ? 0 : 1;
}
