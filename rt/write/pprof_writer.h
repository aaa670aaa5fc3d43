// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a profile that is being written in the format profile.proto.
// Only the files pprof*.c use it. See pprof.h for who may call these functions.
//
// Each field is written when its contents are first needed. Therefore only the
// tables of locations, functions and strings use growing memory. The format
// allows this: the fields of a message may be in any order, and the number of a
// string is its position among the strings.

#ifndef MPROF_RT_WRITE_PPROF_WRITER_H
#define MPROF_RT_WRITE_PPROF_WRITER_H

#include "bucket/bucket.h"
#include "symbolize/maps.h"
#include "symbolize/pctable.h"
#include "thread/labels.h"
#include "unwind/stack_end.h"
#include "write/pb.h"
#include "write/pprof.h"

enum {
  MPROF_PPROF_DROP_SIZE = 65536, // maximum bytes of the field drop_frames
  // Maximum bytes of a label, with tags and lengths.
  MPROF_PPROF_LABEL_SIZE = 4 * MPROF_PB_VARINT_MAX,
  // Maximum bytes of a sample: the deepest stack, the values and all labels,
  // with tags and lengths.
  MPROF_PPROF_MESSAGE_SIZE =
      (MPROF_MAX_STACK_DEPTH + 1) * MPROF_PB_VARINT_MAX + 256 +
      (MPROF_PPROF_LABELS + MPROF_LABELS_A_SET) * MPROF_PPROF_LABEL_SIZE,
};

// Maximum number of functions of a location.
enum { MPROF_PPROF_LINES_MAX = 64 };

// The id of a function of a location, and a line number in this function. The
// innermost function of a location comes first.
struct mprof_pprof_line {
  uint64_t function;
  unsigned number;
};

// Pseudo frames, which represent a truncated or an empty stack. The value of
// the enum is the address of the pseudo frame's location.
enum mprof_pprof_pseudo {
  MPROF_PPROF_PSEUDO_TRUNCATED,
  MPROF_PPROF_PSEUDO_EMPTY,
  MPROF_PPROF_PSEUDO_FRAMES
};

struct mprof_pprof {
  struct mprof_outfile *out;
  struct mprof_pb pb; // encodes one message after another into `message`
  struct mprof_maps maps;
  // List of the mappings to write, sorted by id. *last_mapping is the null
  // pointer at the end of the list.
  struct mprof_mapping *first_mapping, **last_mapping;
  uint64_t mappings;
  struct mprof_mapping pseudo; // mapping of all pseudo frames
  struct mprof_pc_table table; // maps addresses to location ids
  // These tables map a hash to a number. functions_of: the hash of a function's
  // name and file to the function's id. strings_of: the hash of a string to the
  // string's number.
  struct mprof_pc_table functions_of, strings_of;
  // Numbers of strings, locations and functions written so far.
  uint64_t strings, locations, functions;
  uint64_t named; // number of symbolized locations
  size_t types;   // number of values of a sample
  bool wants_names;
  size_t lines_len; // number of functions of the current location
  struct mprof_pprof_line lines[MPROF_PPROF_LINES_MAX];
  // Location ids of the pseudo frames; 0: not written yet.
  uint64_t pseudo_locations[MPROF_PPROF_PSEUDO_FRAMES];
  const char *empty_stack; // see struct mprof_pprof_head
  int error;               // -ENOMEM: a table could not grow
  uint64_t ids[MPROF_MAX_STACK_DEPTH + 1];
  unsigned char message[MPROF_PPROF_MESSAGE_SIZE];
  char text[MPROF_PPROF_DROP_SIZE];
};

// Writes the message that w->pb has encoded, and clears it.
void mprof_pprof_emit(struct mprof_pprof *w);
// Writes the string s and returns its number. Writes the string again even if
// an equal string was written before.
uint64_t mprof_pprof_put_string(struct mprof_pprof *w, const char *s,
                                size_t len);
uint64_t mprof_pprof_put_name(struct mprof_pprof *w, const char *s);
// Returns the number of the string s. Writes the string when it is first used.
uint64_t mprof_pprof_intern(struct mprof_pprof *w, const char *s);
// Returns the slot of the hash h in table t. Returns NULL if there is no
// memory. The table has only hashes and no texts, because two names of a
// process practically never have the same 64-bit hash.
struct mprof_pc_slot *mprof_pprof_slot_of(struct mprof_pprof *w,
                                          struct mprof_pc_table *t, uint64_t h);
// Returns the hash of a text that ends with s. h: the hash of the part before
// s, or MPROF_HASH_EMPTY.
uint64_t mprof_pprof_hash(uint64_t h, const char *s);

#endif // MPROF_RT_WRITE_PPROF_WRITER_H
