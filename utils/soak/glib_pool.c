// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread pool of glib, and a queue between threads. The locks and conditions
// are glib's own, in an uninstrumented library.

#include "soak.h"

#include <glib.h>

enum { JOBS = 300 };

static GAsyncQueue *results;

static void work(gpointer job, gpointer data) {
  (void)data;
  g_async_queue_push(
      results, g_strdup_printf("%lu", soak_work(GPOINTER_TO_SIZE(job)) | 1));
}

static int round_of_pool(void) {
  results = g_async_queue_new_full(g_free);
  GThreadPool *pool = g_thread_pool_new(work, NULL, 4, FALSE, NULL);
  int right = 0;
  for (gsize i = 1; i <= JOBS; i++)
    g_thread_pool_push(pool, GSIZE_TO_POINTER(i), NULL);
  for (int i = 0; i < JOBS; i++) {
    char *s = g_async_queue_pop(results);
    right += s[0] >= '1' && s[0] <= '9';
    g_free(s);
  }
  g_usleep(10000); // the pool's threads wait meanwhile
  g_thread_pool_free(pool, FALSE, TRUE);
  g_async_queue_unref(results);
  return right == JOBS;
}

int main(int argc, char **argv) { return soak_run(argc, argv, round_of_pool); }
