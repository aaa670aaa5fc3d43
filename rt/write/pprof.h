// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a gzipped file of profile.proto. It knows the format, but no kind of
// profile: the caller gives the head, then the samples one by one, each with a
// stack, values and labels. (Go: profileBuilder)
//
//   begin ---> string, sample (any number, in any order) ---> end
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

// Begins a profile in f, which was opened for gzip, and writes the head.
// has_samples: there will be samples, so the names of functions are needed.
// Returns 0; or an errno value, which f has then too, and then *w is NULL.
struct mprof_pprof;
int mprof_pprof_begin(struct mprof_pprof **w, struct mprof_outfile *f,
                      const struct mprof_pprof_head *head, bool has_samples);
// Returns the number of a string, by which samples refer to it. Equal strings
// have the same number. The number of "" is 0.
uint64_t mprof_pprof_string(struct mprof_pprof *w, const char *s);
// Writes a sample: the stack of b, types_len values, and n labels together with
// the labels of b.
void mprof_pprof_sample(struct mprof_pprof *w, const struct mprof_bucket *b,
                        const int64_t *values,
                        const struct mprof_pprof_label *labels, size_t n);
// Returns whether an error has occurred. The file is then lost, and the caller
// need not write the rest.
bool mprof_pprof_has_failed(const struct mprof_pprof *w);
// Writes the rest and frees w. Returns 0 or the first error of the file, which
// the caller closes.
int mprof_pprof_end(struct mprof_pprof *w);

#endif // MPROF_RT_WRITE_PPROF_H
