// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of thread labels. A label describes the work of a thread, for example
// the request or the user that the thread works for. A set never changes and is
// never freed, so that thread records and buckets can refer to it by a 16-bit
// number. Number 0 is the set without labels. Lookups take no lock. (Go:
// runtime/pprof's LabelSet, g.labels)

#ifndef MPROF_RT_THREAD_LABELS_H
#define MPROF_RT_THREAD_LABELS_H

#include "sys/base.h"
#include "sys/message.h"

enum {
  MPROF_LABELS_A_SET = 32, // maximum number of labels in a set
  // Maximum lengths in bytes. Longer keys and values are truncated.
  MPROF_LABEL_KEY_MAX = 128,
  MPROF_LABEL_VALUE_MAX = 1024,
};

struct mprof_label {
  const char *key, *value; // 0-terminated if the label is part of a set
  uint16_t key_len, value_len;
};

// A set of labels. It does not change after its publication, because programs
// may keep pointers to it.
struct mprof_labels {
  uint64_t hash;
  uint16_t id, len;
  struct mprof_label v[]; // the labels, sorted by key
};

// Returns the set with number id, or NULL if id is 0. The set also stays valid
// in forked children.
const struct mprof_labels *mprof_labels_of(uint16_t id);

// Resets labels_lock in a forked child, because another thread of the parent
// may have held the lock. The child keeps the parent's sets.
void mprof_labels_reset(void);

// --- labels as text (labels_text.c) ---
//
// Writes label sets as text, for reports, for profiles, and for the public
// function mprof_stack.

// Writes the label set with number id as text, for example {"key":"value",
// "key2":"value2"}. Calls put(arg, ...) for each piece of the text. The text of
// the empty set, number 0, is {}. (Go: LabelSet.String)
void mprof_labels_write(uint16_t id,
                        void (*put)(void *arg, const char *s, size_t len),
                        void *arg);

// Appends the len bytes of s to t as valid UTF-8. Replaces each invalid byte by
// '?'. Keeps control characters.
void mprof_label_utf8(struct mprof_text *t, const char *s, size_t len);

// Returns whether the Unicode character c is printable. Other characters, such
// as control characters and unassigned ones, are escaped in texts for people.
// (Go: strconv.IsPrint)
bool mprof_is_printable(unsigned c);

#endif // MPROF_RT_THREAD_LABELS_H
