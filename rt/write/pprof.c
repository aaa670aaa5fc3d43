// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a file in the format profile.proto; see pprof.h. write_pprof.c and
// write_custom.c define the samples of each profile.
// (Go: runtime/pprof/proto.go)

#include "write/pprof.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "options/flags.h"
#include "symbolize/drop_frames.h"
#include "symbolize/maps.h"
#include "symbolize/module_unloads.h"
#include "symbolize/pctable.h"
#include "symbolize/symbolize.h"
#include "sys/base.h"
#include "sys/os_file.h"
#include "sys/os_memory.h"
#include "sys/stats.h"
#include "sys/text.h"
#include "thread/labels.h"
#include "thread/labels_text.h"
#include "write/pb.h"
#include "write/pprof_locations.h"
#include "write/pprof_writer.h"
#include "write/profile_proto.h"

#include <errno.h>
#include <string.h>

enum { TEXT_SIZE = 4096 }; // maximum bytes of a comment

// --- the head of the profile ---

// Writes a message ValueType. `type` and `unit` are numbers of strings, which
// the caller has already written. Strings are top-level fields, so they cannot
// be written while this nested message is being encoded.
static void put_value_type(struct mprof_pprof *w, int tag, uint64_t type,
                           uint64_t unit) {
  size_t start = mprof_pb_start_message(&w->pb);
  mprof_pb_uint64(&w->pb, VALUE_TYPE_TYPE, type);
  mprof_pb_uint64(&w->pb, VALUE_TYPE_UNIT, unit);
  mprof_pb_end_message(&w->pb, tag, start);
  mprof_pprof_emit(w);
}

static void put_type(struct mprof_pprof *w, int tag,
                     const struct mprof_pprof_type *t) {
  uint64_t type = mprof_pprof_put_name(w, t->type),
           unit = mprof_pprof_put_name(w, t->unit);
  put_value_type(w, tag, type, unit);
}

static void put_types(struct mprof_pprof *w,
                      const struct mprof_pprof_head *head) {
  w->types = head->types_len;
  for (size_t i = 0; i < head->types_len; i++)
    put_type(w, PROFILE_SAMPLE_TYPE, &head->types[i]);
  put_type(w, PROFILE_PERIOD_TYPE, &head->period_type);
  mprof_pb_int64_opt(&w->pb, PROFILE_PERIOD, (int64_t)head->period);
  mprof_pprof_emit(w);
  if (head->default_type != NULL) {
    uint64_t name = mprof_pprof_put_name(w, head->default_type);
    mprof_pb_uint64(&w->pb, PROFILE_DEFAULT_SAMPLE_TYPE, name);
    mprof_pprof_emit(w);
  }
}

static void put_comment(struct mprof_pprof *w, const struct mprof_text *t) {
  uint64_t id = mprof_pprof_put_string(w, t->buf, t->len);
  mprof_pb_uint64(&w->pb, PROFILE_COMMENT, id);
  mprof_pprof_emit(w);
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

  if (head->note != NULL) {
    t.len = 0;
    mprof_text_str(&t, head->note);
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
    mprof_text_str(&t, mprof_stat_text(i));
    put_comment(w, &t);
  }
}

static void put_drop_frames(struct mprof_pprof *w, bool allocators) {
  struct mprof_text t = {.buf = w->text, .cap = sizeof(w->text)};
  mprof_drop_frames(&t, allocators);
  uint64_t id = mprof_pprof_put_string(w, t.buf, t.len);
  mprof_pb_uint64(&w->pb, PROFILE_DROP_FRAMES, id);
  mprof_pprof_emit(w);
}

// --- samples ---

static void put_label(struct mprof_pprof *w,
                      const struct mprof_pprof_label *label) {
  size_t start = mprof_pb_start_message(&w->pb);
  mprof_pb_uint64(&w->pb, LABEL_KEY, label->key);
  mprof_pb_uint64_opt(&w->pb, LABEL_STR, label->str);
  if (label->str == 0)
    mprof_pb_int64(&w->pb, LABEL_NUM, label->num);
  mprof_pb_uint64_opt(&w->pb, LABEL_NUM_UNIT, label->unit);
  mprof_pb_end_message(&w->pb, SAMPLE_LABEL, start);
}

// Returns whether this label key is reserved, because MProf's samples or pprof
// use it.
static bool is_reserved(const char *key) {
  static const char *const own[] = {"bytes", "grade", "heap_rate", "holder",
                                    "kind",  "lock",  "state",     "thread"};
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
  return mprof_pprof_intern(w, w->text);
}

static uint64_t intern_value(struct mprof_pprof *w,
                             const struct mprof_label *l) {
  struct mprof_text t = {.buf = w->text, .cap = sizeof(w->text)};
  mprof_label_utf8(&t, l->value, l->value_len);
  return mprof_pprof_intern(w, w->text);
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

void mprof_pprof_sample(struct mprof_pprof *w, const struct mprof_bucket *b,
                        const int64_t *values,
                        const struct mprof_pprof_label *labels, size_t n) {
  size_t locations = mprof_pprof_locate_stack(w, b);
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
  mprof_pprof_emit(w);
}

uint64_t mprof_pprof_string(struct mprof_pprof *w, const char *s) {
  return mprof_pprof_intern(w, s);
}

// --- the file ---

static void put_head(struct mprof_pprof *w,
                     const struct mprof_pprof_head *head) {
  mprof_pprof_list_mappings(w);
  mprof_pprof_put_name(w, ""); // the format requires "" as string 0
  put_types(w, head);
  mprof_pb_int64(&w->pb, PROFILE_TIME_NANOS, head->time_ns);
  if (head->duration_ns != 0)
    mprof_pb_int64(&w->pb, PROFILE_DURATION_NANOS, head->duration_ns);
  mprof_pprof_emit(w);
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

// Creates a writer, stores it in *out, and writes the head of the profile.
// Returns 0 or -errno. After an error, f has the error, too, and *out is NULL.
// has_samples: true: the profile has samples, so function names are needed.
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
  mprof_pprof_put_mappings(w);
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
