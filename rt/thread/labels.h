// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of thread labels: for which request or user a thread works. A set is
// made once, never changes and is never freed. So a number of 16 bits stands
// for it in a thread's record and in buckets. Number 0 is the set without
// labels. Lookups take no lock. (Go: runtime/pprof's LabelSet, g.labels)

#ifndef MPROF_RT_THREAD_LABELS_H
#define MPROF_RT_THREAD_LABELS_H

#include "sys/base.h"

enum {
  MPROF_LABELS_A_SET = 32, // maximum number of labels in a set
  // Bytes; longer texts are cut.
  MPROF_LABEL_KEY_MAX = 128,
  MPROF_LABEL_VALUE_MAX = 1024,
};

struct mprof_label {
  const char *key, *value; // followed by a 0 if the label is in a set
  uint16_t key_len, value_len;
};

// A set, to which programs have pointers. Written once before it is published.
struct mprof_labels {
  uint64_t hash;
  uint16_t id, len;
  struct mprof_label v[]; // sorted by key
};

// Returns the set with a number, or NULL for 0. It stays valid in forked
// children.
const struct mprof_labels *mprof_labels_of(uint16_t id);

// Makes labels_lock free in a forked child, which keeps the parent's sets.
void mprof_labels_reset(void);

#endif // MPROF_RT_THREAD_LABELS_H
