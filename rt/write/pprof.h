// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a gzipped file in the format profile.proto. This module knows the
// format, but not the kinds of profiles. The caller provides the head of the
// profile and a function that writes one sample: a stack, values and labels.
// (Go: profileBuilder)
//
// Call all functions with the guard set. Only one thread may use a writer.

#ifndef MPROF_RT_WRITE_PPROF_H
#define MPROF_RT_WRITE_PPROF_H

#include "sys/base.h"

struct mprof_bucket;
struct mprof_outfile;

// Maximum numbers of value types and of labels of a sample, not counting the
// labels of the thread.
enum { MPROF_PPROF_TYPES = 7, MPROF_PPROF_LABELS = 3 };

struct mprof_pprof_type {
  const char *type, *unit;
};

struct mprof_pprof_head {
  struct mprof_pprof_type types[MPROF_PPROF_TYPES]; // of a sample's values
  size_t types_len;
  struct mprof_pprof_type period_type;
  uint64_t period;
  const char *default_type; // type that readers show first; NULL: the last one
  int64_t time_ns;          // CLOCK_REALTIME
  // Name and value of the sampling rate, written as a comment. NULL: no such
  // comment.
  const char *rate_name;
  uint64_t rate;
  const char *note;      // additional comment; NULL: none
  bool drops_allocators; // readers drop allocators as well as wrappers
  // Name of the frame shown for an empty stack. It is needed because some
  // readers lose samples without locations. NULL: no stack is empty.
  const char *empty_stack;
};

struct mprof_pprof_label {
  uint64_t key; // string number from mprof_pprof_string
  uint64_t str; // string number of the value; 0: num is the value
  int64_t num;
};

struct mprof_pprof;

// Maximum number of label keys of one kind of profile.
enum { MPROF_PPROF_KEYS = 4 };

// The samples of a profile.
struct mprof_pprof_samples {
  const void *snapshot;
  size_t len;
  const char *keys[MPROF_PPROF_KEYS]; // keys of labels; NULL: no more keys
  // Writes sample i of the snapshot, or nothing if the sample has no values to
  // show. keys: string numbers of the keys above.
  void (*put)(struct mprof_pprof *w, const void *snapshot, size_t i,
              const uint64_t *keys);
};

// Writes a profile to f, which has been opened for gzip. Stops at the first
// error. Returns 0 or the first error of f. The caller closes f.
int mprof_pprof_write(struct mprof_outfile *f,
                      const struct mprof_pprof_head *head,
                      const struct mprof_pprof_samples *samples);

// --- for mprof_pprof_samples.put ---

// Returns the string number that samples use to refer to s. Equal strings have
// equal numbers. The number of "" is 0.
uint64_t mprof_pprof_string(struct mprof_pprof *w, const char *s);
// Writes a sample: the stack of b, one value for each value type, the n given
// labels, and the labels of b.
void mprof_pprof_sample(struct mprof_pprof *w, const struct mprof_bucket *b,
                        const int64_t *values,
                        const struct mprof_pprof_label *labels, size_t n);

#endif // MPROF_RT_WRITE_PPROF_H
