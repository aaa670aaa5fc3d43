// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profiles as pprof reads them: what a sample of each kind has. Names,
// order and scaling are Go's. (Go: writeHeapProto)

#include "pprof.h"

static int64_t at_least_0(int64_t v) { return v < 0 ? 0 : v; }

static void put_mem(struct mprof_pprof *w, const struct mprof_mem_sample *s,
                    uint64_t bytes_key) {
  if (s->allocs == 0 && s->frees == 0)
    return;
  struct mprof_mem_estimate e = mprof_mem_scale(s);
  const int64_t values[] = {
      at_least_0(e.alloc_objects), at_least_0(e.alloc_bytes),
      at_least_0(e.inuse_objects), at_least_0(e.inuse_bytes)};
  const struct mprof_pprof_label bytes = {.key = bytes_key,
                                          .num = (int64_t)s->bucket->size};
  mprof_pprof_sample(w, s->bucket, values, &bytes, s->bucket->size != 0);
}

int mprof_write_heap_pprof(const struct mprof_mem_snapshot *s, const char *path,
                           bool allocs_first) {
  const struct mprof_pprof_head head = {.types = {{"alloc_objects", "count"},
                                                  {"alloc_space", "bytes"},
                                                  {"inuse_objects", "count"},
                                                  {"inuse_space", "bytes"}},
                                        .types_len = 4,
                                        .period_type = {"space", "bytes"},
                                        .period = s->rate,
                                        .default_type =
                                            allocs_first ? "alloc_space" : NULL,
                                        .time_ns = s->time_ns,
                                        .rate_name = "heap_rate",
                                        .rate = s->rate,
                                        .drops_allocators = true};
  struct mprof_pprof *w;
  int error = mprof_pprof_begin(&w, path, &head, s->len > 0);
  if (error != 0)
    return error;
  uint64_t bytes_key = mprof_pprof_string(w, "bytes");
  for (size_t i = 0; i < s->len && !mprof_pprof_has_failed(w); i++)
    put_mem(w, &s->samples[i], bytes_key);
  return mprof_pprof_end(w);
}
