// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a file in the format profile.proto; see pprof.h. write_pprof.c and
// write_custom.c define the samples of each profile. (Go:
// runtime/pprof/proto.go)
//
// The file includes functions and lines. Inlined functions are additional lines
// of a location. They are in the file because "go tool pprof" does not expand
// them itself, and the binary may not be available where the file is read.
//
// Each field is written when its contents are first needed. Therefore only the
// tables of locations, functions and strings use growing memory. The format
// allows this: the fields of a message may be in any order, and the number of a
// string is its position among the strings.

#include "write/pprof.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "symbolize/drop_frames.h"
#include "symbolize/maps.h"
#include "symbolize/module_unloads.h"
#include "symbolize/pctable.h"
#include "symbolize/skip_frames.h"
#include "symbolize/symbolize.h"
#include "symbolize/wrappers.h"
#include "sys/flags.h"
#include "sys/hash.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/procfile.h"
#include "sys/stats.h"
#include "sys/version.h"
#include "thread/labels.h"
#include "thread/labels_text.h"
#include "unwind/unwind_fp.h"
#include "write/pb.h"
#include "write/profile_proto.h"

#include <errno.h>
#include <string.h>

enum {
  TEXT_SIZE = 4096,                     // bytes of a comment
  DROP_SIZE = 65536,                    // bytes of drop_frames
  LABEL_SIZE = 4 * MPROF_PB_VARINT_MAX, // bytes, with tags and lengths
  // Bytes of a sample with the deepest stack, including tags, lengths and
  // labels.
  MESSAGE_SIZE = (MPROF_MAX_STACK_DEPTH + 1) * MPROF_PB_VARINT_MAX + 256 +
                 (MPROF_PPROF_LABELS + MPROF_LABELS_A_SET) * LABEL_SIZE,
};

// Maximum number of locations with names, and maximum number of functions of a
// location. An external process symbolizes each location, which takes about 50
// us. Locations beyond the limit have only addresses.
enum { NAMED_LOCATIONS_MAX = 20000, LINES_MAX = 64 };

// A function of a location and its line number. The innermost function comes
// first.
struct line {
  uint64_t function;
  unsigned number;
};

// Frames that represent no function. The value of the enum is the address of
// the frame.
enum pseudo_frame { PSEUDO_TRUNCATED, PSEUDO_EMPTY, PSEUDO_FRAMES };

struct mprof_pprof {
  struct mprof_outfile *out;
  struct mprof_pb pb; // encodes one message at a time into `message`
  struct mprof_maps maps;
  struct mprof_mapping *first_mapping, **last_mapping; // in order of ids
  uint64_t mappings;
  struct mprof_mapping pseudo; // mapping of the pseudo frames
  struct mprof_pc_table table; // maps shown addresses to location ids
  // Map the hash of the contents to function ids and to string numbers.
  struct mprof_pc_table functions_of, strings_of;
  uint64_t strings, locations, functions; // numbers written so far
  uint64_t named;                         // locations that were symbolized
  size_t types;                           // number of values of a sample
  bool wants_names;
  size_t lines_len; // lines of the current location
  struct line lines[LINES_MAX];
  uint64_t pseudo_locations[PSEUDO_FRAMES]; // 0: not written yet
  const char *empty_stack;                  // see struct mprof_pprof_head
  int error;                                // -ENOMEM: the table could not grow
  uint64_t ids[MPROF_MAX_STACK_DEPTH + 1];
  unsigned char message[MESSAGE_SIZE];
  char text[DROP_SIZE];
};

// --- fields of the profile ---

static void emit(struct mprof_pprof *w) {
  mprof_outfile_put(w->out, w->message, w->pb.len);
  w->pb.len = 0;
}

// Writes a string and returns its number, even if an equal string was written
// before.
static uint64_t put_string(struct mprof_pprof *w, const char *s, size_t len) {
  mprof_pb_length(&w->pb, PROFILE_STRING_TABLE, len);
  emit(w);
  mprof_outfile_put(w->out, s, len);
  return w->strings++;
}

static uint64_t put_name(struct mprof_pprof *w, const char *s) {
  return put_string(w, s, strlen(s));
}

// Strings are top-level fields. Therefore the strings of a message are written
// before the message begins.
static void put_value_type(struct mprof_pprof *w, int tag, uint64_t type,
                           uint64_t unit) {
  size_t start = mprof_pb_start_message(&w->pb);
  mprof_pb_uint64(&w->pb, VALUE_TYPE_TYPE, type);
  mprof_pb_uint64(&w->pb, VALUE_TYPE_UNIT, unit);
  mprof_pb_end_message(&w->pb, tag, start);
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
  mprof_pb_int64_opt(&w->pb, PROFILE_PERIOD, (int64_t)head->period);
  emit(w);
  if (head->default_type != NULL) {
    uint64_t name = put_name(w, head->default_type);
    mprof_pb_uint64(&w->pb, PROFILE_DEFAULT_SAMPLE_TYPE, name);
    emit(w);
  }
}

static void put_mapping(struct mprof_pprof *w, const struct mprof_mapping *m) {
  uint64_t file = put_name(w, m->file);
  uint64_t build_id = m->build_id[0] == '\0' ? 0 : put_name(w, m->build_id);
  size_t start = mprof_pb_start_message(&w->pb);
  mprof_pb_uint64(&w->pb, MAPPING_ID, m->id);
  mprof_pb_uint64_opt(&w->pb, MAPPING_START, m->start);
  mprof_pb_uint64_opt(&w->pb, MAPPING_LIMIT, m->limit);
  mprof_pb_uint64_opt(&w->pb, MAPPING_OFFSET, m->offset);
  mprof_pb_uint64_opt(&w->pb, MAPPING_FILENAME, file);
  mprof_pb_uint64_opt(&w->pb, MAPPING_BUILD_ID, build_id);
  for (int tag = MAPPING_HAS_FUNCTIONS; tag <= MAPPING_HAS_INLINE_FRAMES; tag++)
    mprof_pb_bool_opt(&w->pb, tag, m->has_names);
  mprof_pb_end_message(&w->pb, PROFILE_MAPPING, start);
  emit(w);
}

// Adds a mapping to the list of the profile's mappings.
static void list_mapping(struct mprof_pprof *w, struct mprof_mapping *m) {
  *w->last_mapping = m;
  w->last_mapping = &m->next;
  m->id = ++w->mappings;
}

// Lists all current mappings. An unloaded mapping is added to the list only
// when a stack needs it.
static void list_mappings(struct mprof_pprof *w) {
  w->last_mapping = &w->first_mapping;
  for (size_t i = 0; i < w->maps.len; i++)
    list_mapping(w, &w->maps.v[i]);
}

// Writes the mappings after all locations, because it is not known earlier
// which mappings have names. For the other mappings, readers look for names
// themselves.
static void put_mappings(struct mprof_pprof *w) {
  for (const struct mprof_mapping *m = w->first_mapping; m; m = m->next)
    put_mapping(w, m);
}

static void put_comment(struct mprof_pprof *w, const struct mprof_text *t) {
  uint64_t id = put_string(w, t->buf, t->len);
  mprof_pb_uint64(&w->pb, PROFILE_COMMENT, id);
  emit(w);
}

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

  if (head->note != NULL) {
    t.len = 0;
    mprof_text_str(&t, head->note);
    put_comment(w, &t);
  }

  for (int i = 0; i < MPROF_STAT_COUNT; i++) {
    uint64_t n = mprof_stat_get(i);
    if (mprof_stat_infos[i].is_loss && n == 0)
      continue;
    t.len = 0;
    mprof_text_str(&t, mprof_stat_infos[i].name);
    mprof_text_str(&t, ": ");
    mprof_text_dec(&t, n);
    mprof_text_str(&t, " ");
    mprof_text_str(&t, mprof_stat_infos[i].text);
    put_comment(w, &t);
  }
}

static void put_drop_frames(struct mprof_pprof *w, bool allocators) {
  struct mprof_text t = {.buf = w->text, .cap = sizeof(w->text)};
  mprof_drop_frames(&t, allocators);
  uint64_t id = put_string(w, t.buf, t.len);
  mprof_pb_uint64(&w->pb, PROFILE_DROP_FRAMES, id);
  emit(w);
}

// --- functions ---

// Returns the slot of a hash, or NULL if there is no memory. The table stores
// no texts, because 64 bits are enough to distinguish the names of a process.
static struct mprof_pc_slot *slot_of(struct mprof_pprof *w,
                                     struct mprof_pc_table *t, uint64_t h) {
  struct mprof_pc_slot *s = mprof_pc_table_get(t, h == 0 ? 1 : h);
  if (s == NULL)
    w->error = -ENOMEM;
  return s;
}

static uint64_t hash(uint64_t h, const char *s) {
  return mprof_hash(h, s, strlen(s)) * 0x9e3779b97f4a7c15u + 1;
}

// Returns the number of a string. Writes the string at its first use only.
static uint64_t intern(struct mprof_pprof *w, const char *s) {
  if (*s == '\0')
    return 0;
  struct mprof_pc_slot *slot =
      slot_of(w, &w->strings_of, hash(MPROF_HASH_EMPTY, s));
  if (slot != NULL && slot->value == 0)
    slot->value = put_name(w, s);
  return slot == NULL ? 0 : slot->value;
}

// Writes a function. The symbolizer has demangled its name. If the name and the
// system name are equal, readers remove the parameters from the name. But
// readers keep the result type of a template, so drop_frames would not match.
// Therefore a wrapper gets its plain name, which differs from the system name,
// and readers do not change it.
static void put_function(struct mprof_pprof *w, uint64_t id,
                         const struct mprof_frame *f) {
  char plain[MPROF_WRAPPER_NAME];
  struct mprof_text t = MPROF_TEXT(plain);
  uint64_t system_name = intern(w, f->function), name = system_name;
  uint64_t file = intern(w, f->file);
  if (mprof_wrapper_name(&t, f->function)) {
    name = intern(w, plain);
    if (name == system_name) // readers would remove the "()" of an operator
      system_name = 0;
  }
  size_t start = mprof_pb_start_message(&w->pb);
  mprof_pb_uint64(&w->pb, FUNCTION_ID, id);
  mprof_pb_uint64(&w->pb, FUNCTION_NAME, name);
  mprof_pb_uint64_opt(&w->pb, FUNCTION_SYSTEM_NAME, system_name);
  mprof_pb_uint64_opt(&w->pb, FUNCTION_FILENAME, file);
  mprof_pb_end_message(&w->pb, PROFILE_FUNCTION, start);
  emit(w);
}

// Adds a function to the current location.
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
  size_t start = mprof_pb_start_message(&w->pb);
  mprof_pb_uint64(&w->pb, LOCATION_ID, id);
  mprof_pb_uint64(&w->pb, LOCATION_MAPPING_ID, mapping);
  mprof_pb_uint64_opt(&w->pb, LOCATION_ADDRESS, address);
  for (size_t i = 0; i < w->lines_len; i++) {
    size_t line = mprof_pb_start_message(&w->pb);
    mprof_pb_uint64(&w->pb, LINE_FUNCTION_ID, w->lines[i].function);
    mprof_pb_int64_opt(&w->pb, LINE_LINE, w->lines[i].number);
    mprof_pb_end_message(&w->pb, LOCATION_LINE, line);
  }
  mprof_pb_end_message(&w->pb, PROFILE_LOCATION, start);
  emit(w);
}

// Removes the `skip` innermost functions from the current location.
static void drop_lines(struct mprof_pprof *w, unsigned skip) {
  if (skip > w->lines_len)
    skip = (unsigned)w->lines_len;
  w->lines_len -= skip;
  memmove(w->lines, w->lines + skip, w->lines_len * sizeof(w->lines[0]));
}

// Writes a new location and returns its id, or 0 if no mapping contains its
// address.
static uint64_t new_location(struct mprof_pprof *w, mprof_pc pc,
                             unsigned skip) {
  const struct mprof_mapping *found = mprof_maps_find(&w->maps, pc - 1);
  if (found == NULL)
    return 0;
  struct mprof_mapping *m = &w->maps.v[found - w->maps.v];
  if (m->id == 0)
    list_mapping(w, m);
  w->lines_len = 0;
  if (w->wants_names && w->named < NAMED_LOCATIONS_MAX) {
    w->named++;
    mprof_symbolize(pc, add_line, w);
    drop_lines(w, skip);
  }
  if (w->lines_len > 0)
    m->has_names = true;
  uint64_t id = ++w->locations;
  put_location(w, id, m->id, pc - 1); // pc - 1 is in the call instruction
  return id;
}

// Value in the table for an address that no mapping contains.
#define UNMAPPED UINT64_MAX

// Returns the location id of return address pc, which was converted by
// mprof_maps_shown. The location omits the `skip` innermost functions. Returns
// 0 if no mapping contains pc. Writes the location when it is first needed.
static uint64_t locate(struct mprof_pprof *w, mprof_pc pc, unsigned skip) {
  if (pc == 0)
    return 0;
  // Addresses do not use the bits from bit 56 on, so these hold skip.
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

static uint64_t locate_pseudo(struct mprof_pprof *w, enum pseudo_frame which) {
  const struct mprof_frame f = {
      .function = which == PSEUDO_TRUNCATED ? "[truncated]" : w->empty_stack,
      .file = ""};
  uint64_t *id = &w->pseudo_locations[which];
  if (*id == 0) {
    if (w->pseudo.id == 0) {
      // No reader looks for a file of this name.
      w->pseudo = (struct mprof_mapping){
          .limit = PSEUDO_FRAMES, .file = "[mprof]", .has_names = true};
      list_mapping(w, &w->pseudo);
    }
    w->lines_len = 0;
    add_line(&f, w);
    *id = ++w->locations;
    put_location(w, *id, w->pseudo.id, which);
  }
  return *id;
}

// --- samples ---

// Fills ids with the locations of the stack, leaf first, and returns their
// number. Stops at code that is no longer mapped, because the frames beyond it
// may be random.
static size_t locate_stack(struct mprof_pprof *w,
                           const struct mprof_bucket *b) {
  size_t n = 0;
  bool is_cut = b->end != MPROF_STACK_COMPLETE;
  const uint32_t gone = mprof_bucket_gone(b);
  const struct mprof_skipped skipped = mprof_stack_skipped(b, w->wants_names);
  for (uint32_t i = skipped.frames;
       i < b->stack_len && n < MPROF_MAX_STACK_DEPTH; i++) {
    uint64_t id = locate(w, mprof_maps_shown(&w->maps, b->stack[i], gone),
                         i == skipped.frames ? skipped.functions : 0);
    if (id == 0) {
      is_cut = true;
      break;
    }
    w->ids[n++] = id;
  }
  if (is_cut)
    w->ids[n++] = locate_pseudo(w, PSEUDO_TRUNCATED);
  if (n == 0 && w->empty_stack != NULL)
    w->ids[n++] = locate_pseudo(w, PSEUDO_EMPTY);
  return n;
}

static void put_label(struct mprof_pprof *w,
                      const struct mprof_pprof_label *label) {
  size_t start = mprof_pb_start_message(&w->pb);
  mprof_pb_uint64(&w->pb, LABEL_KEY, label->key);
  mprof_pb_uint64_opt(&w->pb, LABEL_STR, label->str);
  if (label->str == 0)
    mprof_pb_int64(&w->pb, LABEL_NUM, label->num);
  mprof_pb_end_message(&w->pb, SAMPLE_LABEL, start);
}

// Returns whether the samples themselves or pprof use this label key.
static bool is_reserved(const char *key) {
  static const char *const own[] = {"bytes", "grade", "kind",
                                    "lock",  "state", "thread"};
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

// Stores the labels of a set in v and returns their number. Omits a label with
// an empty value. Its string number would be 0, which readers would interpret
// as a numeric label.
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

void mprof_pprof_sample(struct mprof_pprof *w, const struct mprof_bucket *b,
                        const int64_t *values,
                        const struct mprof_pprof_label *labels, size_t n) {
  size_t locations = locate_stack(w, b);
  struct mprof_pprof_label of_thread[MPROF_LABELS_A_SET];
  size_t of_thread_len = list_labels(w, b->labels, of_thread);
  size_t start = mprof_pb_start_message(&w->pb);
  mprof_pb_uint64s(&w->pb, SAMPLE_LOCATION, w->ids, locations);
  mprof_pb_int64s(&w->pb, SAMPLE_VALUE, values, w->types);
  for (size_t i = 0; i < n; i++)
    put_label(w, &labels[i]);
  for (size_t i = 0; i < of_thread_len; i++)
    put_label(w, &of_thread[i]);
  mprof_pb_end_message(&w->pb, PROFILE_SAMPLE, start);
  emit(w);
}

uint64_t mprof_pprof_string(struct mprof_pprof *w, const char *s) {
  return intern(w, s);
}

// --- the file ---

static void put_head(struct mprof_pprof *w,
                     const struct mprof_pprof_head *head) {
  list_mappings(w);
  put_name(w, ""); // the format requires "" as string 0
  put_types(w, head);
  mprof_pb_int64(&w->pb, PROFILE_TIME_NANOS, head->time_ns);
  emit(w);
  put_drop_frames(w, head->drops_allocators);
  put_comments(w, head);
}

static void free_writer(struct mprof_pprof *w) {
  mprof_pc_table_free(&w->table);
  mprof_pc_table_free(&w->functions_of);
  mprof_pc_table_free(&w->strings_of);
  mprof_maps_free(&w->maps);
  mprof_os_unmap(w, sizeof(*w));
}

// Creates a writer and writes the head. has_samples: the profile has samples,
// so function names are needed. Returns 0 or -errno. On an error, f also has
// the error and *out is NULL.
static int begin(struct mprof_pprof **out, struct mprof_outfile *f,
                 const struct mprof_pprof_head *head, bool has_samples) {
  *out = NULL;
  struct mprof_pprof *w = mprof_os_map(sizeof(*w));
  if (w == NULL)
    return mprof_outfile_fail(f, -ENOMEM);
  w->pb = (struct mprof_pb){.data = w->message, .cap = sizeof(w->message)};
  int error = mprof_unloads_read(&w->maps);
  if (error != 0) {
    free_writer(w);
    return mprof_outfile_fail(f, error);
  }
  w->out = f;
  w->wants_names =
      mprof_flags.symbolize && has_samples && mprof_symbolize_begin(true) == 0;
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
  for (size_t k = 0; k < MPROF_PPROF_KEYS && samples->keys[k] != NULL; k++)
    keys[k] = mprof_pprof_string(w, samples->keys[k]);
  for (size_t i = 0; i < samples->len && !has_failed(w); i++)
    samples->put(w, samples->snapshot, i, keys);
  return end(w);
}
