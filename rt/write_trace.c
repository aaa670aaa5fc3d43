// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of the execution trace as Go 1.11 wrote it, which its tools read up to
// now: batches of events, one for each buffer of a row, then the strings and
// stacks that they name, and the clock's frequency. What is a record in a row
// is one event or several here. (Go: traceWriter, ReadTrace)

#include "write_trace.h"

#include "clock.h"
#include "flags.h"
#include "pctable.h"

#include <errno.h>
#include <string.h>

enum {
  STACK_BYTES_MAX = 2048, // of a stack's record; newer readers refuse more
  STACK_FRAMES_MAX = 128,
  FRAMES_OF_PC_MAX = 32, // inlined ones
  STRING_MAX = 4096,
};

// Go's readers take addresses for names of frames, so each inlined frame of one
// has an address of its own.
#define INLINED_SHIFT 56

struct frame {
  uint32_t function, file; // numbers of strings
  uint32_t line;
};

// A list that grows, in memory from mprof_os_map.
struct list {
  void *v;
  size_t len, bytes;
};

struct mprof_trace_writer {
  struct mprof_trace_sink sink;
  unsigned processors;
  uint64_t events;
  struct mprof_pc_table stacks;  // of handles, to numbers
  struct list handles;           // in the order of numbers
  struct mprof_pc_table strings; // of hashes, to numbers
  uint64_t strings_len;
  struct mprof_pc_table
      pcs; // of addresses, to 1 + the first frame << 8 | count
  struct list frames;
  size_t frames_of_pc;
  int error;
};

// --- memory ---

static bool push(struct mprof_trace_writer *w, struct list *l, const void *item,
                 size_t size) {
  if ((l->len + 1) * size > l->bytes) {
    const size_t bytes = l->bytes != 0 ? 2 * l->bytes : 65536;
    void *v = mprof_os_map(bytes);
    if (!v) {
      w->error = ENOMEM;
      return false;
    }
    if (l->v) {
      memcpy(v, l->v, l->len * size);
      mprof_os_unmap(l->v, l->bytes);
    }
    l->v = v;
    l->bytes = bytes;
  }
  memcpy((char *)l->v + l->len++ * size, item, size);
  return true;
}

static void free_list(struct list *l) {
  if (l->v)
    mprof_os_unmap(l->v, l->bytes);
}

// --- events ---

#define ARGS_MAX 6

void mprof_trace_emit_bytes(struct mprof_trace_writer *w, const void *data,
                            size_t len) {
  w->sink.put(w->sink.arg, data, len);
}

void mprof_trace_emit(struct mprof_trace_writer *w, enum event type,
                      const uint64_t *args, size_t n) {
  unsigned char body[ARGS_MAX * 10], head[3];
  w->events += type != EV_BATCH && type != EV_FREQUENCY;
  unsigned char *p = body;
  for (size_t i = 0; i < n; i++)
    p = mprof_trace_put(p, args[i]);
  const size_t extra = n > 0 ? n - 1 : 0;
  size_t head_len = 1;
  head[0] = (unsigned char)(type | (extra < 3 ? extra : 3) << 6);
  if (extra >= 3)
    head[head_len++] = (unsigned char)(p - body);
  mprof_trace_emit_bytes(w, head, head_len);
  mprof_trace_emit_bytes(w, body, (size_t)(p - body));
}

uint64_t mprof_trace_stack_number(struct mprof_trace_writer *w,
                                  uint64_t handle) {
  if (handle == 0)
    return 0;
  struct mprof_pc_slot *s = mprof_pc_table_get(&w->stacks, handle);
  if (!s) {
    w->error = ENOMEM;
    return 0;
  }
  const uint32_t h = (uint32_t)handle;
  if (s->value == 0 && push(w, &w->handles, &h, sizeof(h)))
    s->value = w->handles.len;
  return s->value;
}

// What a thread of which nobody knows what it runs is taken to run: readers
// want a stack of each.
#define UNKNOWN_START UINT32_MAX
#define MAIN_START (UINT32_MAX - 1)
#define MAIN_START (UINT32_MAX - 1)
uint64_t mprof_trace_start_number(struct mprof_trace_writer *w, uint64_t handle,
                                  bool is_main) {
  return mprof_trace_stack_number(w, handle != 0 ? handle
                                     : is_main   ? MAIN_START
                                                 : UNKNOWN_START);
}

// --- strings ---

static uint64_t hash(const char *s) { // FNV-1a
  uint64_t h = 0xcbf29ce484222325u;
  for (; *s != '\0'; s++)
    h = (h ^ (unsigned char)*s) * 0x100000001b3u;
  return h != 0 ? h : 1;
}

static uint32_t string_number(struct mprof_trace_writer *w, const char *s) {
  if (*s == '\0')
    return 0;
  struct mprof_pc_slot *slot = mprof_pc_table_get(&w->strings, hash(s));
  if (!slot) {
    w->error = ENOMEM;
    return 0;
  }
  if (slot->value == 0) {
    unsigned char head[21], *p = head;
    const size_t len = strnlen(s, STRING_MAX);
    slot->value = ++w->strings_len;
    *p++ = EV_STRING;
    p = mprof_trace_put(p, slot->value);
    p = mprof_trace_put(p, len);
    mprof_trace_emit_bytes(w, head, (size_t)(p - head));
    mprof_trace_emit_bytes(w, s, len);
  }
  return (uint32_t)slot->value;
}

// --- stacks ---

static void add_frame(const struct mprof_frame *f, void *arg) {
  struct mprof_trace_writer *w = arg;
  char text[512];
  struct mprof_text t = MPROF_TEXT(text);
  const char *name = f->function;
  if (w->frames_of_pc == FRAMES_OF_PC_MAX)
    return;
  if (*name == '\0') {
    mprof_text_str(&t, f->module);
    mprof_text_str(&t, "+0x");
    mprof_text_hex(&t, f->offset);
    name = text;
  }
  struct frame frame = {string_number(w, name), string_number(w, f->file),
                        f->line};
  if (push(w, &w->frames, &frame, sizeof(frame)))
    w->frames_of_pc++;
}

// The frames of an address: their place and, in *n, how many.
static size_t frames_of(struct mprof_trace_writer *w, mprof_pc pc, size_t *n) {
  *n = 0;
  struct mprof_pc_slot *s = mprof_pc_table_get(&w->pcs, pc);
  if (!s) {
    w->error = ENOMEM;
    return 0;
  }
  if (s->value == 0) {
    const size_t first = w->frames.len;
    w->frames_of_pc = 0;
    mprof_symbolize(pc, add_frame, w);
    if (w->frames_of_pc == 0)
      add_frame(&(struct mprof_frame){.function = "[unknown]", .file = ""}, w);
    s->value = 1 + (first << 8 | w->frames_of_pc);
  }
  *n = (s->value - 1) & 0xff;
  return (s->value - 1) >> 8;
}

// A stack's frames until the record is full.
struct stack_text {
  unsigned char body[STACK_BYTES_MAX];
  size_t len, frames;
};

static bool add_to_stack(struct stack_text *s, uint64_t pc,
                         const struct frame *f) {
  unsigned char one[40], *p = one;
  p = mprof_trace_put(p, pc);
  p = mprof_trace_put(p, f->function);
  p = mprof_trace_put(p, f->file);
  p = mprof_trace_put(p, f->line);
  const size_t len = (size_t)(p - one);
  // The head has two numbers of at most five bytes.
  if (s->frames == STACK_FRAMES_MAX || s->len + len > sizeof(s->body) - 10)
    return false;
  memcpy(s->body + s->len, one, len);
  s->len += len;
  s->frames++;
  return true;
}

static void put_stack(struct mprof_trace_writer *w, uint64_t number,
                      const struct stack_text *s) {
  unsigned char head[16], lengths[32], *p = head, *q = lengths;
  q = mprof_trace_put(q, number);
  q = mprof_trace_put(q, s->frames);
  *p++ = EV_STACK | 3 << 6;
  p = mprof_trace_put(p, (uint64_t)(q - lengths) + s->len);
  mprof_trace_emit_bytes(w, head, (size_t)(p - head));
  mprof_trace_emit_bytes(w, lengths, (size_t)(q - lengths));
  mprof_trace_emit_bytes(w, s->body, s->len);
}

static void add_bucket(struct mprof_trace_writer *w, struct stack_text *s,
                       const struct mprof_bucket *b) {
  for (uint32_t i = 0; i < b->stack_len; i++) {
    const mprof_pc pc =
        mprof_symbolize_shown(b->stack[i], mprof_bucket_gone(b));
    size_t n;
    const size_t first = frames_of(w, pc, &n);
    for (size_t k = 0; k < n; k++) {
      const struct frame *f = (const struct frame *)w->frames.v + first + k;
      if (!add_to_stack(s, pc | (uint64_t)k << INLINED_SHIFT, f))
        return;
    }
  }
}

static void put_stacks(struct mprof_trace_writer *w) {
  for (size_t i = 0; i < w->handles.len && w->error == 0; i++) {
    const uint32_t handle = ((const uint32_t *)w->handles.v)[i];
    struct stack_text s;
    s.len = s.frames = 0;
    if (handle >= MAIN_START) {
      const char *name = handle == MAIN_START ? "main" : "thread";
      const struct frame f = {string_number(w, name), 0, 0};
      add_to_stack(&s, handle == MAIN_START ? 2 : 1, &f);
    } else {
      add_bucket(w, &s, mprof_persistent_pointer(handle));
    }
    put_stack(w, i + 1, &s);
  }
}

// --- the file ---

void mprof_trace_write_head(struct mprof_trace_writer *w) {
  static const char header[16] = "go 1.11 trace\0\0";
  mprof_trace_emit_bytes(w, header, sizeof(header));
}

void mprof_trace_write_tail(struct mprof_trace_writer *w, uint64_t last_ticks) {
  EVENT(w, EV_BATCH, 0, last_ticks);
  int error = mprof_symbolize_begin(mprof_flags.symbolize);
  if (error != 0) {
    w->error = error;
    return;
  }
  put_stacks(w);
  mprof_symbolize_end();
  const uint64_t frequency =
      mprof_clock_ticks_per_second() / MPROF_TRACE_TICK_DIV;
  EVENT(w, EV_FREQUENCY, frequency != 0 ? frequency : 1);
}

uint64_t mprof_trace_string_number(struct mprof_trace_writer *w,
                                   const char *s) {
  return string_number(w, s);
}

unsigned mprof_trace_processors(const struct mprof_trace_writer *w) {
  return w->processors;
}

struct mprof_trace_writer *
mprof_trace_writer_new(const struct mprof_trace_sink *sink,
                       unsigned processors) {
  struct mprof_trace_writer *w = mprof_os_map(sizeof(*w));
  if (w) {
    w->sink = *sink;
    w->processors = processors;
  }
  return w;
}

void mprof_trace_writer_free(struct mprof_trace_writer *w) {
  mprof_pc_table_free(&w->stacks);
  mprof_pc_table_free(&w->strings);
  mprof_pc_table_free(&w->pcs);
  free_list(&w->handles);
  free_list(&w->frames);
  mprof_os_unmap(w, sizeof(*w));
}

int mprof_trace_writer_error(const struct mprof_trace_writer *w) {
  return w->error;
}

uint64_t mprof_trace_writer_events(const struct mprof_trace_writer *w) {
  return w->events;
}
