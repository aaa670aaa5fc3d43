// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the stack of a callback of glib has glib's frames and its callers, in
// the first thread and in a thread that glib has created.
//
// REQUIRES: glib
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O1 -g1 $(pkg-config --cflags glib-2.0) %s -o app \
// RUN:   $(pkg-config --libs glib-2.0)
// RUN: %run{heap_rate=1:log_path=out} ./app
// RUN: %mprof_read --symbolize out.*.heap.pb.gz | FileCheck %s
// RUN: not grep -e "\[truncated\]" -e truncated_ out.*.txt
//
// CHECK-DAG: bytes=601 : visit <- {{(.* <- )?}}g_list_foreach <- visit_all <- main{{$}}
// CHECK-DAG: bytes=602 : on_idle <- {{.*}} <- g_main_loop_run <- run_loop <- main{{$}}
// CHECK-DAG: bytes=603 : visit <- {{(.* <- )?}}g_list_foreach <- work <- {{[^ ]+$}}

#include <glib.h>
#include <stdlib.h>

static void *volatile sink;

static void visit(gpointer data, gpointer size) {
  (void)data;
  free(sink = malloc(GPOINTER_TO_SIZE(size)));
}

static gboolean on_idle(gpointer loop) {
  free(sink = malloc(602));
  g_main_loop_quit(loop);
  return FALSE;
}

__attribute__((noinline)) static void visit_all(GList *list) {
  g_list_foreach(list, visit, GSIZE_TO_POINTER(601));
  __asm__ volatile("");
}

__attribute__((noinline)) static void run_loop(GMainLoop *loop) {
  g_idle_add(on_idle, loop);
  g_main_loop_run(loop);
  __asm__ volatile("");
}

static gpointer work(gpointer list) {
  g_list_foreach(list, visit, GSIZE_TO_POINTER(603));
  return NULL;
}

int main(void) {
  GList *list = NULL;
  for (gsize i = 0; i < 9; i++)
    list = g_list_prepend(list, GSIZE_TO_POINTER(i));
  visit_all(list);
  run_loop(g_main_loop_new(NULL, FALSE));
  g_thread_join(g_thread_new("worker", work, list));
  g_list_free(list);
  return 0;
}
