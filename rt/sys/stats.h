// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named counters of events that the runtime has recorded or lost. stats.def
// lists the counters. All operations on the counters are atomic and signal
// safe.

#ifndef MPROF_RT_SYS_STATS_H
#define MPROF_RT_SYS_STATS_H

#include "sys/base.h"
#include "sys/message.h"

// Identifies the counters. The report and the comments in profiles show their
// values.
enum mprof_stat {
#define MPROF_STAT(Name, Loss, Text) MPROF_STAT_##Name,
#include "sys/stats.def"
  MPROF_STAT_COUNT
};
struct mprof_stat_info {
  char name[24];
  bool is_loss;  // counts data missing from the profiles; shown only if not 0
  uint16_t text; // see mprof_stat_text
};
extern MPROF_HIDDEN const struct mprof_stat_info
    mprof_stat_infos[MPROF_STAT_COUNT];
// Appends the description of counter s, in the form for the number n.
void mprof_stat_text(struct mprof_text *t, int s, uint64_t n);
// A second array to which mprof_stat_add adds, in the file of the option
// persist;
// NULL: none. Written with persistent_lock held, and in a forked child.
extern MPROF_HIDDEN _Atomic uint64_t *mprof_stats_copy;
void mprof_stat_add(enum mprof_stat s, uint64_t n);
uint64_t mprof_stat_get(enum mprof_stat s);
void mprof_stat_set(enum mprof_stat s, uint64_t n);
void mprof_stats_reset(void);

#endif // MPROF_RT_SYS_STATS_H
