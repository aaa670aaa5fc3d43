// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of thread labels. Labels say, for example, for which request or user a
// thread works. A set never changes and is never freed. So thread records and
// buckets refer to a set by a 16-bit number. Number 0 is the set without
// labels. Lookups take no lock. (Go: runtime/pprof's LabelSet, g.labels)

#ifndef MPROF_RT_THREAD_LABELS_H
#define MPROF_RT_THREAD_LABELS_H

#include "sys/base.h"

enum {
  MPROF_LABELS_A_SET = 32, // maximum number of labels in a set
  // Maximum lengths in bytes; longer keys and values are cut.
  MPROF_LABEL_KEY_MAX = 128,
  MPROF_LABEL_VALUE_MAX = 1024,
};

struct mprof_label {
  const char *key, *value; // terminated by a 0 if the label is in a set
  uint16_t key_len, value_len;
};

// A set of labels. Programs may have pointers to it. It is written once, before
// it is published.
struct mprof_labels {
  uint64_t hash;
  uint16_t id, len;
  struct mprof_label v[]; // sorted by key
};

// Returns the set with number id, or NULL for 0. The set stays valid in forked
// children.
const struct mprof_labels *mprof_labels_of(uint16_t id);

// Makes labels_lock free in a forked child. The child keeps the parent's sets.
void mprof_labels_reset(void);

#endif // MPROF_RT_THREAD_LABELS_H
