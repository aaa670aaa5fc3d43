// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of profile.proto, gzipped, whatever it tells of: its head, then
// samples one by one, each of a stack, values and labels. (Go: profileBuilder)

#ifndef MPROF_RT_WRITE_PPROF_H
#define MPROF_RT_WRITE_PPROF_H

#include "sys/base.h"

struct mprof_bucket;
struct mprof_outfile;

// At most, of a writer.
enum { MPROF_PPROF_TYPES = 7, MPROF_PPROF_LABELS = 3 };

struct mprof_pprof_type {
  const char *type, *unit;
};

struct mprof_pprof_head {
  struct mprof_pprof_type types[MPROF_PPROF_TYPES]; // of a sample's values
  size_t types_len;
  struct mprof_pprof_type period_type;
  uint64_t period;
  const char *default_type; // NULL: the last
  int64_t time_ns;
  // What a comment says of how was sampled; NULL: nothing.
  const char *rate_name;
  uint64_t rate;
  const char *note;      // one more comment; NULL: none
  bool drops_allocators; // besides wrappers
  // The pseudo frame of stacks without frames; NULL: there are none. Some
  // readers lose samples without locations.
  const char *empty_stack;
};

struct mprof_pprof_label {
  uint64_t key; // of mprof_pprof_string
  uint64_t str; // the same; 0: num is the value
  int64_t num;
};

// Opens path and writes the head. has_samples: names of functions will be
// needed. 0 or an errno value, and then *w is NULL.
struct mprof_pprof;
int mprof_pprof_begin(struct mprof_pprof **w, struct mprof_outfile *f,
                      const struct mprof_pprof_head *head, bool has_samples);
// A string's number, which samples have it by. Equal strings have one. "" is 0.
uint64_t mprof_pprof_string(struct mprof_pprof *w, const char *s);
// Writes a sample with types_len values, and with the bucket's labels besides
// those n.
void mprof_pprof_sample(struct mprof_pprof *w, const struct mprof_bucket *b,
                        const int64_t *values,
                        const struct mprof_pprof_label *labels, size_t n);
// Whether the rest may be spared: the file is lost.
bool mprof_pprof_has_failed(const struct mprof_pprof *w);
// Writes the rest, closes the file and frees w. 0 or the first errno value, and
// then path is as it was.
int mprof_pprof_end(struct mprof_pprof *w);

#endif // MPROF_RT_WRITE_PPROF_H
