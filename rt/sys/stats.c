// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's named counters, which stats.def lists.

#include "sys/stats.h"

#include <string.h>

// The descriptions of all counters, one after the other.
static const struct texts {
#define MPROF_STAT(Name, Loss, Text)                                           \
  MPROF_FITS(#Name, mprof_stat_infos->name) char Name[sizeof(Text)];
#include "sys/stats.def"
} texts = {
#define MPROF_STAT(Name, Loss, Text) Text,
#include "sys/stats.def"
};

const struct mprof_stat_info mprof_stat_infos[MPROF_STAT_COUNT] = {
#define MPROF_STAT(Name, Loss, Text)                                           \
  {#Name, Loss, offsetof(struct texts, Name)},
#include "sys/stats.def"
};

void mprof_stat_text(struct mprof_text *t, int s, uint64_t n) {
  const char *at = (const char *)&texts + mprof_stat_infos[s].text;
  for (const char *open; (open = strchr(at, '{')) != NULL;) {
    const char *one = open + 1, *many = strchr(one, '|') + 1,
               *close = strchr(many, '}');
    mprof_text_mem(t, at, (size_t)(open - at));
    if (n == 1)
      mprof_text_mem(t, one, (size_t)(many - 1 - one));
    else
      mprof_text_mem(t, many, (size_t)(close - many));
    at = close + 1;
  }
  mprof_text_str(t, at);
}

static _Atomic uint64_t counters[MPROF_STAT_COUNT];

_Atomic uint64_t *mprof_stats_copy;

void mprof_stat_add(enum mprof_stat s, uint64_t n) {
  atomic_fetch_add_explicit(&counters[s], n, memory_order_relaxed);
  if (mprof_unlikely(mprof_stats_copy != NULL))
    atomic_fetch_add_explicit(&mprof_stats_copy[s], n, memory_order_relaxed);
}

uint64_t mprof_stat_get(enum mprof_stat s) {
  return atomic_load_explicit(&counters[s], memory_order_relaxed);
}

void mprof_stat_set(enum mprof_stat s, uint64_t n) {
  atomic_store_explicit(&counters[s], n, memory_order_relaxed);
}

void mprof_stats_reset(void) {
  for (int s = 0; s < MPROF_STAT_COUNT; s++)
    mprof_stat_set((enum mprof_stat)s, 0);
}
