// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a file in the format profile.proto; see pprof.h. The kinds of
// profiles define the samples. (Go: runtime/pprof/proto.go)
//
// Each field is written when its contents are first needed. Therefore only the
// tables of locations, functions and strings use growing memory. The format
// allows this: the fields of a message may be in any order, and the number of a
// string is its position among the strings.
//
// The file has function names and lines. Inlined functions are additional lines
// of a location. The file has them because "go tool pprof" does not find
// inlined functions itself, and the binary may be missing where the file is
// read.
//
// So mprof_pprof_write passes over the samples twice. The first time, the
// output is muted, and only the addresses without known names are collected,
// because mprof answers one question for all of them faster than one for each
// (symbolize.h). The second time, the file is written.

#include "write/pprof.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "options/flags.h"
#include "symbolize/maps.h"
#include "symbolize/module_unloads.h"
#include "symbolize/short_name.h"
#include "symbolize/symbolize.h"
#include "symbolize/wrappers.h"
#include "sys/base.h"
#include "sys/os.h"
#include "sys/pctable.h"
#include "sys/stats.h"
#include "thread/labels.h"
#include "unwind/python.h"

#include <errno.h>
#include <string.h>

// --- profile.proto ---
//
// The field numbers of the messages of profile.proto. The comment at each
// number is the type of the field. Fields that MProf does not write are left
// out. (Go: runtime/pprof/proto.go, tagProfile_...)

// layout: message Profile
enum {
  PROFILE_SAMPLE_TYPE = 1,          // repeated ValueType
  PROFILE_SAMPLE = 2,               // repeated Sample
  PROFILE_MAPPING = 3,              // repeated Mapping
  PROFILE_LOCATION = 4,             // repeated Location
  PROFILE_FUNCTION = 5,             // repeated Function
  PROFILE_STRING_TABLE = 6,         // repeated string
  PROFILE_DROP_FRAMES = 7,          // int64 (string table index)
  PROFILE_TIME_NANOS = 9,           // int64
  PROFILE_DURATION_NANOS = 10,      // int64
  PROFILE_PERIOD_TYPE = 11,         // ValueType
  PROFILE_PERIOD = 12,              // int64
  PROFILE_COMMENT = 13,             // repeated int64 (string table index)
  PROFILE_DEFAULT_SAMPLE_TYPE = 14, // int64 (string table index)
};
// layout: message ValueType
enum {
  VALUE_TYPE_TYPE = 1, // int64 (string table index)
  VALUE_TYPE_UNIT = 2, // int64 (string table index)
};
// layout: message Sample
enum {
  SAMPLE_LOCATION = 1, // repeated uint64
  SAMPLE_VALUE = 2,    // repeated int64
  SAMPLE_LABEL = 3,    // repeated Label
};
// layout: message Label
enum {
  LABEL_KEY = 1,      // int64 (string table index)
  LABEL_STR = 2,      // int64 (string table index)
  LABEL_NUM = 3,      // int64
  LABEL_NUM_UNIT = 4, // int64 (string table index)
};
// layout: message Mapping
enum {
  MAPPING_ID = 1,                 // uint64
  MAPPING_START = 2,              // uint64
  MAPPING_LIMIT = 3,              // uint64
  MAPPING_OFFSET = 4,             // uint64
  MAPPING_FILENAME = 5,           // int64 (string table index)
  MAPPING_BUILD_ID = 6,           // int64 (string table index)
  MAPPING_HAS_FUNCTIONS = 7,      // bool
  MAPPING_HAS_FILENAMES = 8,      // bool
  MAPPING_HAS_LINE_NUMBERS = 9,   // bool
  MAPPING_HAS_INLINE_FRAMES = 10, // bool
};
// layout: message Location
enum {
  LOCATION_ID = 1,         // uint64
  LOCATION_MAPPING_ID = 2, // uint64
  LOCATION_ADDRESS = 3,    // uint64
  LOCATION_LINE = 4,       // repeated Line
};
// layout: message Line
enum {
  LINE_FUNCTION_ID = 1, // uint64
  LINE_LINE = 2,        // int64
};
// layout: message Function
enum {
  FUNCTION_ID = 1,          // uint64
  FUNCTION_NAME = 2,        // int64 (string table index)
  FUNCTION_SYSTEM_NAME = 3, // int64 (string table index)
  FUNCTION_FILENAME = 4,    // int64 (string table index)
  FUNCTION_START_LINE = 5,  // int64
};

// --- protobuf ---
//
// Encodes messages into a buffer of fixed size. A field is encoded as
//
//   varint: tag << 3 | wire type
//   contents: a varint, or a length and that many bytes
//
// The contents of a nested message are written first. Then pb_end_message
// inserts the message's tag and length before the contents, so that the length
// need not be computed in advance. The functions return no errors: the caller
// checks is_full at the end. (Go: runtime/pprof/protobuf.go)

struct pb {
  unsigned char *data;
  size_t cap, len;
  bool is_full; // true: some output did not fit and was omitted
};

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

// Maximum size in bytes of a 64-bit integer that is encoded as a varint.
enum { VARINT_MAX = 10 };

static size_t encode_varint(unsigned char *out, uint64_t v) {
  size_t n = 0;
  for (; v >= 0x80; v >>= 7)
    out[n++] = (unsigned char)(v | 0x80);
  out[n++] = (unsigned char)v;
  return n;
}

static size_t varint_size(uint64_t v) {
  unsigned char bytes[VARINT_MAX];
  return encode_varint(bytes, v);
}

// Appends v as a varint, without a tag.
static void pb_varint(struct pb *b, uint64_t v) {
  unsigned char bytes[VARINT_MAX];
  const size_t n = encode_varint(bytes, v);
  if (n > b->cap - b->len) {
    b->is_full = true;
    return;
  }
  memcpy(b->data + b->len, bytes, n);
  b->len += n;
}

// Appends the tag and the length of a field of bytes. The caller then writes
// the len bytes of the contents.
static void pb_length(struct pb *b, int tag, size_t len) {
  pb_varint(b, (uint64_t)tag << 3 | WIRE_BYTES);
  pb_varint(b, len);
}

// Appends a field with an integer. A signed integer is encoded as the unsigned
// integer with the same bits.
static void pb_int(struct pb *b, int tag, uint64_t v) {
  pb_varint(b, (uint64_t)tag << 3 | WIRE_VARINT);
  pb_varint(b, v);
}

// Does the same as pb_int, but writes nothing if v is 0, because a reader
// treats a missing field as 0.
static void pb_int_opt(struct pb *b, int tag, uint64_t v) {
  if (v != 0)
    pb_int(b, tag, v);
}

// Appends a packed repeated field of n integers.
static void pb_ints(struct pb *b, int tag, const uint64_t *v, size_t n) {
  size_t len = 0;
  for (size_t i = 0; i < n; i++)
    len += varint_size(v[i]);
  pb_length(b, tag, len);
  for (size_t i = 0; i < n; i++)
    pb_varint(b, v[i]);
}

// Ends a nested message. Inserts the tag and the length of the message before
// its contents, by moving the contents. (Go appends the tag and the length, and
// then rotates the bytes. The result is the same.)
// start: the value of b->len when the message began.
static void pb_end_message(struct pb *b, int tag, size_t start) {
  unsigned char head[2 * VARINT_MAX];
  size_t len = b->len - start;
  size_t n = encode_varint(head, (uint64_t)tag << 3 | WIRE_BYTES);
  n += encode_varint(head + n, len);
  if (n > b->cap - b->len) {
    b->is_full = true;
    return;
  }
  memmove(b->data + start + n, b->data + start, len);
  memcpy(b->data + start, head, n);
  b->len += n;
}

// --- the writer ---

enum {
  // Maximum number of locations of a sample.
  LOCATIONS =
      MPROF_PPROF_PARTS * (MPROF_MAX_STACK_DEPTH + 2) + MPROF_PPROF_OUTER,
  DROP_SIZE = 65536, // maximum bytes of the field drop_frames
  // Maximum bytes of a label, with tags and lengths.
  LABEL_SIZE = 4 * VARINT_MAX,
  // Maximum bytes of a sample: the deepest stack, the values and all labels,
  // with tags and lengths.
  MESSAGE_SIZE = LOCATIONS * VARINT_MAX + 256 +
                 (MPROF_PPROF_KEYS + MPROF_LABELS_A_SET) * LABEL_SIZE,
};

// Maximum number of functions of a location.
enum { LINES_MAX = 64 };

// The id of a function of a location, and a line number in this function. The
// innermost function of a location comes first.
struct line {
  uint64_t function;
  unsigned number;
};

struct mprof_pprof {
  struct mprof_outfile *out;
  struct pb pb; // encodes one message after another into `message`
  struct mprof_maps maps;
  // List of the mappings to write, sorted by id. *last_mapping is the null
  // pointer at the end of the list.
  struct mprof_mapping *first_mapping, **last_mapping;
  uint64_t mappings;
  // Mapping of all pseudo frames: names in place of functions, for example for
  // a truncated stack. Its limit is the number of the frames written so far.
  struct mprof_mapping pseudo;
  struct mprof_mapping python; // of functions of Python
  struct mprof_pc_table table; // maps addresses to location ids
  // These tables map a hash to a number. functions_of: the hash of a function's
  // name and file to the function's id. strings_of: the hash of a string to the
  // string's number. pseudo_of: the hash of a pseudo frame's name to its
  // location id.
  struct mprof_pc_table functions_of, strings_of, pseudo_of;
  // Numbers of strings, locations and functions written so far.
  uint64_t strings, locations, functions;
  size_t types; // number of values of a sample
  bool wants_names;
  bool collects;    // the addresses of the samples are collected for mprof
  size_t lines_len; // number of functions of the current location
  struct line lines[LINES_MAX];
  const char *empty_stack; // see struct mprof_pprof_head
  int error;               // -ENOMEM: a table could not grow
  uint64_t ids[LOCATIONS];
  unsigned char message[MESSAGE_SIZE];
  char text[DROP_SIZE];
};

// --- fields and strings ---

// Writes the message that w->pb has encoded, and clears it.
static void emit(struct mprof_pprof *w) {
  mprof_outfile_put(w->out, w->message, w->pb.len);
  w->pb.len = 0;
}

// Writes the string s and returns its number. Writes the string again even if
// an equal string was written before.
static uint64_t put_string(struct mprof_pprof *w, const char *s, size_t len) {
  pb_length(&w->pb, PROFILE_STRING_TABLE, len);
  emit(w);
  mprof_outfile_put(w->out, s, len);
  return w->strings++;
}

static uint64_t put_name(struct mprof_pprof *w, const char *s) {
  return put_string(w, s, strlen(s));
}

// Returns the slot of the hash h in table t. Returns NULL if there is no
// memory. The table has only hashes and no texts, because two names of a
// process practically never have the same 64-bit hash.
static struct mprof_pc_slot *slot_of(struct mprof_pprof *w,
                                     struct mprof_pc_table *t, uint64_t h) {
  struct mprof_pc_slot *s = mprof_pc_table_get(t, h == 0 ? 1 : h);
  if (s == NULL)
    w->error = -ENOMEM;
  return s;
}

// Returns the hash of a text that ends with s. h: the hash of the part before
// s, or MPROF_HASH_EMPTY.
static uint64_t hash(uint64_t h, const char *s) {
  return mprof_hash(h, s, strlen(s)) * 0x9e3779b97f4a7c15u + 1;
}

// Returns the number of the string s. Writes the string when it is first used.
static uint64_t intern(struct mprof_pprof *w, const char *s) {
  if (*s == '\0')
    return 0;
  struct mprof_pc_slot *slot =
      slot_of(w, &w->strings_of, hash(MPROF_HASH_EMPTY, s));
  if (slot != NULL && slot->value == 0)
    slot->value = put_name(w, s);
  return slot == NULL ? 0 : slot->value;
}

// --- mappings ---

static void put_mapping(struct mprof_pprof *w, const struct mprof_mapping *m) {
  uint64_t file = put_name(w, m->file);
  uint64_t build_id = m->build_id[0] == '\0' ? 0 : put_name(w, m->build_id);
  size_t start = w->pb.len;
  pb_int(&w->pb, MAPPING_ID, m->id);
  pb_int_opt(&w->pb, MAPPING_START, m->start);
  pb_int_opt(&w->pb, MAPPING_LIMIT, m->limit);
  pb_int_opt(&w->pb, MAPPING_OFFSET, m->offset);
  pb_int_opt(&w->pb, MAPPING_FILENAME, file);
  pb_int_opt(&w->pb, MAPPING_BUILD_ID, build_id);
  for (int tag = MAPPING_HAS_FUNCTIONS; tag <= MAPPING_HAS_INLINE_FRAMES; tag++)
    pb_int_opt(&w->pb, tag, m->has_names);
  pb_end_message(&w->pb, PROFILE_MAPPING, start);
  emit(w);
}

// Adds mapping m to the list of mappings that will be written, and sets its id.
static void list_mapping(struct mprof_pprof *w, struct mprof_mapping *m) {
  *w->last_mapping = m;
  w->last_mapping = &m->next;
  m->id = ++w->mappings;
}

// Adds all current mappings of files to the list of mappings that will be
// written. Any other mapping is added only when a stack needs it.
static void list_mappings(struct mprof_pprof *w) {
  w->last_mapping = &w->first_mapping;
  for (size_t i = 0; i < w->maps.len; i++)
    if (!w->maps.v[i].is_jit)
      list_mapping(w, &w->maps.v[i]);
}

// Writes the mappings. Called after all locations were written, because only
// then it is known which mappings have function names. Readers symbolize the
// addresses in all other mappings themselves.
static void put_mappings(struct mprof_pprof *w) {
  for (const struct mprof_mapping *m = w->first_mapping; m; m = m->next)
    put_mapping(w, m);
}

// --- functions ---

// Writes the function f, whose name the symbolizer has demangled. If a
// function's name and system name are equal, readers remove the parameters from
// the name, but not the result type of a template. Then the pattern drop_frames
// would not match the name of a wrapper (mprof_wrapper). Therefore this
// function writes the plain name of a wrapper, without result type and
// parameters. The plain name differs from the system name, so readers do not
// change it.
static void put_function(struct mprof_pprof *w, uint64_t id,
                         const struct mprof_frame *f) {
  char plain[MPROF_WRAPPER_NAME];
  struct mprof_text t = MPROF_TEXT(plain);
  uint64_t system_name = intern(w, f->function), name = system_name;
  uint64_t file = intern(w, f->file);
  if (mprof_wrapper_name(&t, f->function)) {
    name = intern(w, plain);
    // Omits a system name that is equal to the plain name. Otherwise readers
    // would remove the "()" from the plain name of an operator().
    if (name == system_name)
      system_name = 0;
  } else if (mprof_name_is_foreign(f->function)) {
    system_name = 0; // readers would remove what is in brackets
  }
  size_t start = w->pb.len;
  pb_int(&w->pb, FUNCTION_ID, id);
  pb_int(&w->pb, FUNCTION_NAME, name);
  pb_int_opt(&w->pb, FUNCTION_SYSTEM_NAME, system_name);
  pb_int_opt(&w->pb, FUNCTION_FILENAME, file);
  pb_int_opt(&w->pb, FUNCTION_START_LINE, f->start_line);
  pb_end_message(&w->pb, PROFILE_FUNCTION, start);
  emit(w);
}

// Adds the function f to the current location. The argument of this callback is
// the struct mprof_pprof.
static void add_line(const struct mprof_frame *f, void *arg) {
  struct mprof_pprof *w = arg;
  if (f->function[0] == '\0' || w->lines_len == LINES_MAX)
    return;
  uint64_t h = hash(hash(MPROF_HASH_EMPTY, f->function), f->file);
  struct mprof_pc_slot *slot = slot_of(w, &w->functions_of, h);
  if (slot == NULL)
    return;
  if (slot->value == 0) {
    slot->value = ++w->functions;
    put_function(w, slot->value, f);
  }
  w->lines[w->lines_len++] =
      (struct line){.function = slot->value, .number = f->line};
}

// --- locations ---

// Writes a location with the functions in w->lines.
static void put_location(struct mprof_pprof *w, uint64_t id, uint64_t mapping,
                         uint64_t address) {
  size_t start = w->pb.len;
  pb_int(&w->pb, LOCATION_ID, id);
  pb_int(&w->pb, LOCATION_MAPPING_ID, mapping);
  pb_int_opt(&w->pb, LOCATION_ADDRESS, address);
  for (size_t i = 0; i < w->lines_len; i++) {
    size_t line = w->pb.len;
    pb_int(&w->pb, LINE_FUNCTION_ID, w->lines[i].function);
    pb_int_opt(&w->pb, LINE_LINE, w->lines[i].number);
    pb_end_message(&w->pb, LOCATION_LINE, line);
  }
  pb_end_message(&w->pb, PROFILE_LOCATION, start);
  emit(w);
}

// Removes the `skip` innermost functions from the current location.
static void drop_lines(struct mprof_pprof *w, unsigned skip) {
  if (skip > w->lines_len)
    skip = (unsigned)w->lines_len;
  w->lines_len -= skip;
  memmove(w->lines, w->lines + skip, w->lines_len * sizeof(w->lines[0]));
}

// Returns the mapping of the return address pc, or NULL.
static struct mprof_mapping *mapping_of(struct mprof_pprof *w, mprof_pc pc) {
  if (mprof_python_has(pc)) {
    w->python.start = MPROF_PYTHON_BEGIN;
    w->python.limit = MPROF_PYTHON_END;
    mprof_text_copy(w->python.file, sizeof(w->python.file),
                    MPROF_PYTHON_MODULE);
    return &w->python;
  }
  const struct mprof_mapping *m = mprof_maps_find(&w->maps, pc - 1);
  return m == NULL ? NULL : &w->maps.v[m - w->maps.v];
}

// Writes a new location for the return address pc, without its `skip` innermost
// functions. Returns the location's id. Returns 0 if no mapping contains pc.
static uint64_t new_location(struct mprof_pprof *w, mprof_pc pc,
                             unsigned skip) {
  struct mprof_mapping *m = mapping_of(w, pc);
  if (m == NULL)
    return 0;
  if (m->id == 0)
    list_mapping(w, m);
  w->lines_len = 0;
  if (w->wants_names || m == &w->python) {
    mprof_symbolize(pc, add_line, w);
    drop_lines(w, skip);
  }
  if (w->lines_len > 0)
    m->has_names = true;
  uint64_t id = ++w->locations;
  put_location(w, id, m->id, pc - 1); // pc - 1 is in the call instruction
  return id;
}

// Value in w->table for an address that no mapping contains.
#define UNMAPPED UINT64_MAX

// Returns the id of the location for the return address pc, without its `skip`
// innermost functions. Writes the location when it is first needed. Returns 0
// if no mapping contains pc.
// pc: a result of mprof_maps_shown.
static uint64_t locate(struct mprof_pprof *w, mprof_pc pc, unsigned skip) {
  if (pc == 0)
    return 0;
  // No address uses the bits 56 to 63, so these bits of the key hold `skip`.
  struct mprof_pc_slot *s =
      mprof_pc_table_get(&w->table, pc | (mprof_pc)skip << 56);
  if (s == NULL) {
    w->error = -ENOMEM;
    return 0;
  }
  if (s->value == 0) {
    uint64_t id = new_location(w, pc, skip);
    s->value = id == 0 ? UNMAPPED : id;
  }
  return s->value == UNMAPPED ? 0 : s->value;
}

// Returns the id of the location of a pseudo frame. Writes the location when it
// is first needed.
static uint64_t locate_pseudo(struct mprof_pprof *w, const char *name) {
  struct mprof_pc_slot *slot =
      slot_of(w, &w->pseudo_of, hash(MPROF_HASH_EMPTY, name));
  if (slot == NULL)
    return 0;
  if (slot->value == 0) {
    if (w->pseudo.id == 0) {
      // No reader finds a file of this name, so no reader tries to symbolize
      // the pseudo frames.
      w->pseudo = (struct mprof_mapping){.file = "[mprof]", .has_names = true};
      list_mapping(w, &w->pseudo);
    }
    const struct mprof_frame f = {.function = name, .file = ""};
    w->lines_len = 0;
    add_line(&f, w);
    slot->value = ++w->locations;
    put_location(w, slot->value, w->pseudo.id, w->pseudo.limit++);
  }
  return slot->value;
}

// --- stacks ---

// Appends the location ids of the stack of b to the n in w->ids, leaf first,
// and returns their number. Stops at an address that is no longer mapped,
// because the addresses after it may be wrong. Writes locations when they are
// first needed.
static size_t locate_stack(struct mprof_pprof *w, size_t n,
                           const struct mprof_bucket *b) {
  const size_t most = n + MPROF_MAX_STACK_DEPTH;
  bool is_cut = b->end != MPROF_STACK_COMPLETE;
  const uint32_t gone = mprof_bucket_gone(b);
  const struct mprof_skipped skipped = mprof_stack_skipped(b, w->wants_names);
  for (uint32_t i = skipped.frames; i < b->stack_len && n < most; i++) {
    uint64_t id = locate(w, mprof_maps_shown(&w->maps, b->stack[i], gone),
                         i == skipped.frames ? skipped.functions : 0);
    if (id == 0) {
      is_cut = true;
      break;
    }
    w->ids[n++] = id;
  }
  if (is_cut)
    w->ids[n++] = locate_pseudo(w, "[truncated]");
  if (n == 0 && w->empty_stack != NULL)
    w->ids[n++] = locate_pseudo(w, w->empty_stack);
  return n;
}

enum { TEXT_SIZE = 4096 }; // maximum bytes of a comment

// --- the head of the profile ---

// Writes a message ValueType. `type` and `unit` are numbers of strings, which
// the caller has already written. Strings are top-level fields, so they cannot
// be written while this nested message is being encoded.
static void put_value_type(struct mprof_pprof *w, int tag, uint64_t type,
                           uint64_t unit) {
  size_t start = w->pb.len;
  pb_int(&w->pb, VALUE_TYPE_TYPE, type);
  pb_int(&w->pb, VALUE_TYPE_UNIT, unit);
  pb_end_message(&w->pb, tag, start);
  emit(w);
}

static void put_type(struct mprof_pprof *w, int tag,
                     const struct mprof_pprof_type *t) {
  uint64_t type = put_name(w, t->type), unit = put_name(w, t->unit);
  put_value_type(w, tag, type, unit);
}

static void put_types(struct mprof_pprof *w,
                      const struct mprof_pprof_head *head) {
  w->types = head->types_len;
  for (size_t i = 0; i < head->types_len; i++)
    put_type(w, PROFILE_SAMPLE_TYPE, &head->types[i]);
  put_type(w, PROFILE_PERIOD_TYPE, &head->period_type);
  pb_int_opt(&w->pb, PROFILE_PERIOD, head->period);
  emit(w);
  if (head->default_type != NULL) {
    uint64_t name = put_name(w, head->default_type);
    pb_int(&w->pb, PROFILE_DEFAULT_SAMPLE_TYPE, name);
    emit(w);
  }
}

static void put_comment(struct mprof_pprof *w, const struct mprof_text *t) {
  uint64_t id = put_string(w, t->buf, t->len);
  pb_int(&w->pb, PROFILE_COMMENT, id);
  emit(w);
}

static bool at_exit; // guarded by mprof_writer_lock

void mprof_pprof_set_at_exit(bool is_at_exit) { at_exit = is_at_exit; }

static void put_comments(struct mprof_pprof *w,
                         const struct mprof_pprof_head *head) {
  struct mprof_text t = {.buf = w->text, .cap = TEXT_SIZE};
  mprof_text_str(&t, "MProf " MPROF_VERSION);
  put_comment(w, &t);

  t.len = 0;
  mprof_text_str(&t, "command: ");
  mprof_command_line(w->text + t.len, TEXT_SIZE - t.len);
  t.len = strlen(w->text);
  put_comment(w, &t);

  if (head->rate_name != NULL) {
    t.len = 0;
    mprof_text_str(&t, head->rate_name);
    mprof_text_str(&t, ": ");
    mprof_text_dec(&t, head->rate);
    put_comment(w, &t);
  }

  if (at_exit) {
    t.len = 0;
    mprof_text_str(&t, "written: at exit");
    put_comment(w, &t);
  }

  if (head->moment != NULL) {
    t.len = 0;
    mprof_text_str(&t, "moment: ");
    mprof_text_str(&t, head->moment);
    put_comment(w, &t);
  }

  const char *const more[] = {head->note, head->curve};
  for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
    if (more[i] == NULL)
      continue;
    t.len = 0;
    mprof_text_str(&t, more[i]);
    put_comment(w, &t);
  }
}

// Writes the counters. Called at the end of the profile, because the look-up of
// names may count losses.
static void put_stats(struct mprof_pprof *w) {
  struct mprof_text t = {.buf = w->text, .cap = sizeof(w->text)};
  for (int i = 0; i < MPROF_STAT_COUNT; i++) {
    uint64_t n = mprof_stat_get(i);
    if (mprof_stat_infos[i].is_loss && n == 0)
      continue;
    t.len = 0;
    mprof_text_str(&t, mprof_stat_infos[i].name);
    mprof_text_str(&t, ": ");
    mprof_text_dec(&t, n);
    mprof_text_str(&t, " ");
    mprof_stat_text(&t, i, n);
    put_comment(w, &t);
  }
}

static void put_drop_frames(struct mprof_pprof *w, bool allocators) {
  struct mprof_text t = {.buf = w->text, .cap = sizeof(w->text)};
  mprof_drop_frames(&t, allocators);
  uint64_t id = put_string(w, t.buf, t.len);
  pb_int(&w->pb, PROFILE_DROP_FRAMES, id);
  emit(w);
}

// --- samples ---

static void put_label(struct mprof_pprof *w,
                      const struct mprof_pprof_label *label) {
  size_t start = w->pb.len;
  pb_int(&w->pb, LABEL_KEY, label->key);
  pb_int_opt(&w->pb, LABEL_STR, label->str);
  if (label->str == 0)
    pb_int(&w->pb, LABEL_NUM, (uint64_t)label->num);
  pb_int_opt(&w->pb, LABEL_NUM_UNIT, label->unit);
  pb_end_message(&w->pb, SAMPLE_LABEL, start);
}

// Returns whether this label key is reserved, because MProf's samples or pprof
// use it.
static bool is_reserved(const char *key) {
  static const char *const own[] = {
      "bytes",         "grade", "heap_rate", "holder",
      "holder_access", "kind",  "lock",      "lock_offset",
      "longest_queue", "state", "thread",    "waiter_access",
      "worst_wait"};
  for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
    if (strcmp(key, own[i]) == 0)
      return true;
  return strncmp(key, "pprof::", 7) == 0;
}

static uint64_t intern_key(struct mprof_pprof *w, const struct mprof_label *l) {
  struct mprof_text t = {.buf = w->text, .cap = sizeof(w->text)};
  if (is_reserved(l->key))
    mprof_text_str(&t, "label.");
  mprof_label_utf8(&t, l->key, l->key_len);
  return intern(w, w->text);
}

static uint64_t intern_value(struct mprof_pprof *w,
                             const struct mprof_label *l) {
  struct mprof_text t = {.buf = w->text, .cap = sizeof(w->text)};
  mprof_label_utf8(&t, l->value, l->value_len);
  return intern(w, w->text);
}

// Stores the labels of label set `id` in v and returns their number. Omits
// labels with an empty value: the number of the empty string is 0, and readers
// would treat such a label as a numeric label.
static size_t list_labels(struct mprof_pprof *w, uint16_t id,
                          struct mprof_pprof_label *v) {
  const struct mprof_labels *s = mprof_labels_of(id);
  size_t n = 0;
  for (size_t i = 0; s && i < s->len; i++) {
    const struct mprof_label *l = &s->v[i];
    if (l->value_len > 0)
      v[n++] = (struct mprof_pprof_label){.key = intern_key(w, l),
                                          .str = intern_value(w, l)};
  }
  return n;
}

// Writes a sample: the first `locations` of w->ids, the values, the labels, and
// those of b, unless b is NULL.
static void put_sample(struct mprof_pprof *w, const struct mprof_bucket *b,
                       size_t locations, const int64_t *values,
                       const struct mprof_pprof_label *labels, size_t n) {
  struct mprof_pprof_label of_thread[MPROF_LABELS_A_SET];
  size_t of_thread_len = b != NULL ? list_labels(w, b->labels, of_thread) : 0;
  size_t start = w->pb.len;
  pb_ints(&w->pb, SAMPLE_LOCATION, w->ids, locations);
  pb_ints(&w->pb, SAMPLE_VALUE, (const uint64_t *)values, w->types);
  for (size_t i = 0; i < n; i++)
    put_label(w, &labels[i]);
  for (size_t i = 0; i < of_thread_len; i++)
    put_label(w, &of_thread[i]);
  pb_end_message(&w->pb, PROFILE_SAMPLE, start);
  emit(w);
}

void mprof_pprof_sample(struct mprof_pprof *w, const struct mprof_bucket *b,
                        const int64_t *values,
                        const struct mprof_pprof_label *labels, size_t n) {
  if (!mprof_symbolize_want_stack(b))
    put_sample(w, b, locate_stack(w, 0, b), values, labels, n);
}

void mprof_pprof_sample_of(struct mprof_pprof *w, const char *const *names,
                           size_t n, const struct mprof_bucket *b,
                           const int64_t *values) {
  if (b != NULL ? mprof_symbolize_want_stack(b) : w->collects)
    return;
  size_t locations = b != NULL ? locate_stack(w, 0, b) : 0;
  while (n > 0)
    w->ids[locations++] = locate_pseudo(w, names[--n]);
  put_sample(w, b, locations, values, NULL, 0);
}

void mprof_pprof_sample_joined(struct mprof_pprof *w,
                               const struct mprof_pprof_part *parts, size_t n,
                               const int64_t *values,
                               const struct mprof_pprof_label *labels,
                               size_t labels_len) {
  bool is_collected = w->collects;
  for (size_t i = 0; i < n; i++)
    is_collected |=
        parts[i].stack != NULL && mprof_symbolize_want_stack(parts[i].stack);
  if (is_collected)
    return;
  size_t locations = 0;
  for (size_t i = 0; i < n; i++) {
    if (parts[i].name != NULL)
      w->ids[locations++] = locate_pseudo(w, parts[i].name);
    if (parts[i].stack != NULL)
      locations = locate_stack(w, locations, parts[i].stack);
  }
  put_sample(w, parts[0].stack, locations, values, labels, labels_len);
}

uint64_t mprof_pprof_string(struct mprof_pprof *w, const char *s) {
  return w->collects ? 0 : intern(w, s);
}

// --- the file ---

static void put_head(struct mprof_pprof *w,
                     const struct mprof_pprof_head *head) {
  list_mappings(w);
  put_name(w, ""); // the format requires "" as string 0
  put_types(w, head);
  pb_int(&w->pb, PROFILE_TIME_NANOS, (uint64_t)head->time_ns);
  if (head->duration_ns != 0)
    pb_int(&w->pb, PROFILE_DURATION_NANOS, (uint64_t)head->duration_ns);
  emit(w);
  put_drop_frames(w, head->drops_allocators);
  put_comments(w, head);
}

static void free_writer(struct mprof_pprof *w) {
  mprof_pc_table_free(&w->table);
  mprof_pc_table_free(&w->functions_of);
  mprof_pc_table_free(&w->strings_of);
  mprof_pc_table_free(&w->pseudo_of);
  mprof_maps_free(&w->maps);
  mprof_os_unmap(w, sizeof(*w));
}

// Creates a writer, stores it in *out, and writes the head of the profile.
// Returns 0 or -errno. After an error, f has the error, too, and *out is NULL.
// has_samples: true: the profile has samples, so function names are needed.
static int begin(struct mprof_pprof **out, struct mprof_outfile *f,
                 const struct mprof_pprof_head *head, bool has_samples) {
  *out = NULL;
  struct mprof_pprof *w = mprof_os_map(sizeof(*w));
  if (w == NULL)
    return mprof_outfile_fail(f, -ENOMEM);
  w->pb = (struct pb){.data = w->message, .cap = sizeof(w->message)};
  int error = mprof_unloads_read(&w->maps);
  if (error != 0) {
    free_writer(w);
    return mprof_outfile_fail(f, error);
  }
  w->out = f;
  w->wants_names = mprof_flags.symbolize && has_samples &&
                   mprof_symbolize_begin_with(true, &w->maps) == 0;
  w->empty_stack = head->empty_stack;
  put_head(w, head);
  *out = w;
  return 0;
}

static bool has_failed(const struct mprof_pprof *w) {
  return w->error != 0 || w->out->error != 0;
}

// Writes the rest of the profile and frees w. Returns 0 or the first error of
// the file.
static int end(struct mprof_pprof *w) {
  put_stats(w);
  put_mappings(w);
  if (w->pb.is_full && w->error == 0)
    w->error = -EOVERFLOW;
  if (w->wants_names)
    mprof_symbolize_end();
  int error = mprof_outfile_fail(w->out, w->error);
  free_writer(w);
  return error;
}

int mprof_pprof_write(struct mprof_outfile *f,
                      const struct mprof_pprof_head *head,
                      const struct mprof_pprof_samples *samples) {
  struct mprof_pprof *w;
  int error = begin(&w, f, head, samples->len > 0);
  if (error != 0)
    return error;
  uint64_t keys[MPROF_PPROF_KEYS] = {0};
  w->collects = w->wants_names && !has_failed(w) && mprof_symbolize_collect(f);
  for (size_t i = 0; i < samples->len && w->collects; i++)
    samples->put(w, samples->snapshot, i, keys);
  if (w->collects)
    mprof_symbolize_look_up(f);
  w->collects = false;
  for (size_t k = 0; k < MPROF_PPROF_KEYS && samples->keys[k] != NULL; k++)
    keys[k] = mprof_pprof_string(w, samples->keys[k]);
  for (size_t i = 0; i < samples->len && !has_failed(w); i++)
    samples->put(w, samples->snapshot, i, keys);
  return end(w);
}
