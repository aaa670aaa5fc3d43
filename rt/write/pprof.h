// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a gzipped file in the format profile.proto. This module knows the
// format, but not the kinds of profiles. The caller provides the head of the
// profile and a function that writes one sample: a stack, values and labels.
// (Go: profileBuilder)
//
// Call all functions with the recursion guard set. Only one thread may use a
// struct mprof_pprof.

#ifndef MPROF_RT_WRITE_PPROF_H
#define MPROF_RT_WRITE_PPROF_H

#include "sys/base.h"

struct mprof_bucket;
struct mprof_outfile;

// MPROF_PPROF_TYPES: maximum number of values of a sample.
// MPROF_PPROF_KEYS: maximum number of label keys of a profile. The labels that
//   the program sets for a thread are not counted here.
// MPROF_PPROF_OUTER: maximum number of names of mprof_pprof_sample_of.
// MPROF_PPROF_PARTS: maximum number of parts of mprof_pprof_sample_joined.
enum {
  MPROF_PPROF_TYPES = 9,
  MPROF_PPROF_KEYS = 7,
  MPROF_PPROF_OUTER = 2,
  MPROF_PPROF_PARTS = 4
};

struct mprof_pprof_type {
  const char *type, *unit;
};

struct mprof_pprof_head {
  // Types of a sample's values.
  struct mprof_pprof_type types[MPROF_PPROF_TYPES];
  size_t types_len;
  struct mprof_pprof_type period_type;
  uint64_t period;
  // The value type that readers show first. NULL: the last type.
  const char *default_type;
  int64_t time_ns; // time of the snapshot: ns of CLOCK_REALTIME
  // Duration of the period that the profile covers, in ns; 0: since the start
  // of the process.
  int64_t duration_ns;
  // Name and value of a number that is written as a comment of the profile,
  // such as the sampling rate. NULL: no such comment.
  const char *rate_name;
  uint64_t rate;
  // The moment of the samples, for the comment "moment: MOMENT". NULL: that of
  // writing, without a comment.
  const char *moment;
  const char *note;  // additional comment in the profile; NULL: none
  const char *curve; // comment with a value over time; NULL: none
  // true: readers omit the frames of wrappers and of allocation functions;
  // false: readers omit only the frames of wrappers.
  bool drops_allocators;
  // Name of the frame that is shown for an empty stack, because some readers
  // lose samples without locations. NULL: no stack is empty.
  const char *empty_stack;
};

struct mprof_pprof_label {
  uint64_t key; // number of the key; see mprof_pprof_string
  uint64_t str; // number of the string value; 0: the value is num
  int64_t num;
  uint64_t unit; // number of num's unit; 0: the key is the unit
};

struct mprof_pprof;

// The samples of a profile.
struct mprof_pprof_samples {
  const void *snapshot;
  size_t len;
  const char *keys[MPROF_PPROF_KEYS]; // label keys; NULL: no more keys
  // Writes sample i of the snapshot. Writes nothing if all values of the sample
  // are 0.
  // keys: the string numbers of the label keys above (mprof_pprof_string).
  void (*put)(struct mprof_pprof *w, const void *snapshot, size_t i,
              const uint64_t *keys);
};

// Writes a profile to f, which the caller has opened for gzip and will close.
// Stops at the first error. Returns 0 or the first error of f.
int mprof_pprof_write(struct mprof_outfile *f,
                      const struct mprof_pprof_head *head,
                      const struct mprof_pprof_samples *samples);

// Sets whether profiles are written while the process runs exit. Destructors
// have then freed blocks, so each profile gets a comment "written: at exit".
// Call with mprof_writer_lock held.
void mprof_pprof_set_at_exit(bool is_at_exit);

// --- for mprof_pprof_samples.put ---

// Returns the number by which samples refer to the string s. Equal strings have
// equal numbers. The number of "" is 0.
uint64_t mprof_pprof_string(struct mprof_pprof *w, const char *s);
// Writes a sample: the stack of b, one value for each value type, the n labels,
// and the labels of b.
void mprof_pprof_sample(struct mprof_pprof *w, const struct mprof_bucket *b,
                        const int64_t *values,
                        const struct mprof_pprof_label *labels, size_t n);
// Writes a sample whose outermost frames are n names, the outermost one first,
// and whose inner frames are the stack of b. b = NULL: no other frames.
void mprof_pprof_sample_of(struct mprof_pprof *w, const char *const *names,
                           size_t n, const struct mprof_bucket *b,
                           const int64_t *values);

// A part of a sample's stack.
struct mprof_pprof_part {
  const char *name;                 // a frame before the stack; NULL: none
  const struct mprof_bucket *stack; // NULL: none
};
// Writes a sample whose stack consists of n parts, the innermost one first,
// with the n labels and those of the first part.
void mprof_pprof_sample_joined(struct mprof_pprof *w,
                               const struct mprof_pprof_part *parts, size_t n,
                               const int64_t *values,
                               const struct mprof_pprof_label *labels,
                               size_t labels_len);

#endif // MPROF_RT_WRITE_PPROF_H
