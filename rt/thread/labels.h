// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Labels of threads: in whose name a thread works. A set of labels is made
// once, never changes and is never freed, so that a number of 16 bits stands
// for it in a thread's record and in buckets; 0 is the set without labels.
// (Go: runtime/pprof's LabelSet, g.labels)

#ifndef MPROF_RT_THREAD_LABELS_H
#define MPROF_RT_THREAD_LABELS_H

#include "sys/base.h"

enum {
  MPROF_LABELS_A_SET = 32, // at most
  // Bytes; what is longer is cut.
  MPROF_LABEL_KEY_MAX = 128,
  MPROF_LABEL_VALUE_MAX = 1024,
};

struct mprof_label {
  const char *key, *value; // in a set each ends with a 0
  uint16_t key_len, value_len;
};

// A set, as programs have it. Written once before it is published.
struct mprof_labels {
  uint64_t hash;
  uint16_t id, len;
  struct mprof_label v[]; // by key
};

// The set of a number; NULL for 0. It outlives forks.
const struct mprof_labels *mprof_labels_of(uint16_t id);

// In a forked child, where the sets are those of the parent.
void mprof_labels_reset(void);

#endif // MPROF_RT_THREAD_LABELS_H
