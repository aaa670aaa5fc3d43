// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the fields and the strings of a profile; see pprof_writer.h.

#include "write/pprof_writer.h"

#include "file/outfile.h"
#include "sys/text.h"
#include "write/profile_proto.h"

#include <errno.h>
#include <string.h>

void mprof_pprof_emit(struct mprof_pprof *w) {
  mprof_outfile_put(w->out, w->message, w->pb.len);
  w->pb.len = 0;
}

uint64_t mprof_pprof_put_string(struct mprof_pprof *w, const char *s,
                                size_t len) {
  mprof_pb_length(&w->pb, PROFILE_STRING_TABLE, len);
  mprof_pprof_emit(w);
  mprof_outfile_put(w->out, s, len);
  return w->strings++;
}

uint64_t mprof_pprof_put_name(struct mprof_pprof *w, const char *s) {
  return mprof_pprof_put_string(w, s, strlen(s));
}

struct mprof_pc_slot *mprof_pprof_slot_of(struct mprof_pprof *w,
                                          struct mprof_pc_table *t,
                                          uint64_t h) {
  struct mprof_pc_slot *s = mprof_pc_table_get(t, h == 0 ? 1 : h);
  if (s == NULL)
    w->error = -ENOMEM;
  return s;
}

uint64_t mprof_pprof_hash(uint64_t h, const char *s) {
  return mprof_hash(h, s, strlen(s)) * 0x9e3779b97f4a7c15u + 1;
}

uint64_t mprof_pprof_intern(struct mprof_pprof *w, const char *s) {
  if (*s == '\0')
    return 0;
  struct mprof_pc_slot *slot = mprof_pprof_slot_of(
      w, &w->strings_of, mprof_pprof_hash(MPROF_HASH_EMPTY, s));
  if (slot != NULL && slot->value == 0)
    slot->value = mprof_pprof_put_name(w, s);
  return slot == NULL ? 0 : slot->value;
}
