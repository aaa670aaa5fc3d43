// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a gzipped file of profile.proto. It knows the format, but no kind of
// profile: the caller gives the head and a function that writes the samples one
// by one, each with a stack, values and labels. (Go: profileBuilder)
//
// Call with the guard set. Only one thread may use a writer.

#ifndef MPROF_RT_WRITE_PPROF_H
#define MPROF_RT_WRITE_PPROF_H

#include "sys/base.h"

struct mprof_bucket;
struct mprof_outfile;

// Maximum numbers of value types and of labels in a sample, without the
// bucket's own labels.
enum { MPROF_PPROF_TYPES = 7, MPROF_PPROF_LABELS = 3 };

struct mprof_pprof_type {
  const char *type, *unit;
};

struct mprof_pprof_head {
  struct mprof_pprof_type types[MPROF_PPROF_TYPES]; // of each sample's values
  size_t types_len;
  struct mprof_pprof_type period_type;
  uint64_t period;
  const char *default_type; // shown first by readers; NULL: the last type
  int64_t time_ns;          // CLOCK_REALTIME
  // The name and value of the sampling rate, for a comment; NULL: no comment.
  const char *rate_name;
  uint64_t rate;
  const char *note;      // one more comment; NULL: none
  bool drops_allocators; // readers drop frames of allocators, not only wrappers
  // Name of the frame that stands for an empty stack; NULL: no stack is empty.
  // Some readers lose samples without locations.
  const char *empty_stack;
};

struct mprof_pprof_label {
  uint64_t key; // number of a string, from mprof_pprof_string
  uint64_t str; // number of a string; 0: num is the value
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
  // Writes sample i of the snapshot, at most once: some have nothing to show.
  // keys: the numbers of the keys above.
  void (*put)(struct mprof_pprof *w, const void *snapshot, size_t i,
              const uint64_t *keys);
};

// Writes a profile to f, which was opened for gzip. Stops at the first error.
// Returns 0 or the first error of the file, which the caller closes.
int mprof_pprof_write(struct mprof_outfile *f,
                      const struct mprof_pprof_head *head,
                      const struct mprof_pprof_samples *samples);

// --- for mprof_pprof_samples.put ---

// Returns the number of a string, by which samples refer to it. Equal strings
// have the same number. The number of "" is 0.
uint64_t mprof_pprof_string(struct mprof_pprof *w, const char *s);
// Writes a sample: the stack of b, types_len values, and n labels together with
// the labels of b.
void mprof_pprof_sample(struct mprof_pprof *w, const struct mprof_bucket *b,
                        const int64_t *values,
                        const struct mprof_pprof_label *labels, size_t n);

#endif // MPROF_RT_WRITE_PPROF_H
