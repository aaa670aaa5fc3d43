// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of the execution trace as Go 1.11 wrote it, which its tools read up to
// now: batches of events, one for each buffer of a row, then the strings and
// stacks that they name, and the clock's frequency. What is a record in a row
// is one event or several here. (Go: traceWriter, ReadTrace)
//
// A thread's events have sequence numbers, by which readers put those of
// several rows in order: each of its starts and of what makes it ready has the
// next one. A row has them in its thread's order, so they are counted here; a
// waker's row has the number from the woken thread itself.

#include "trace.h"

#include "flags.h"
#include "pctable.h"
#include "writer.h"

#include <errno.h>
#include <string.h>

// Go's numbers. (Go: traceEv*)
enum event {
  EV_BATCH = 1,
  EV_FREQUENCY = 2,
  EV_STACK = 3,
  EV_GOMAXPROCS = 4,
  EV_PROC_START = 5,
  EV_PROC_STOP = 6,
  EV_GC_START = 7,
  EV_GC_DONE = 8,
  EV_GO_CREATE = 13,
  EV_GO_START = 14,
  EV_GO_END = 15,
  EV_GO_SLEEP = 19,
  EV_GO_UNBLOCK = 21,
  EV_GO_BLOCK_SELECT = 24,
  EV_GO_BLOCK_SYNC = 25,
  EV_GO_BLOCK_COND = 26,
  EV_GO_BLOCK_NET = 27,
  EV_GO_SYS_CALL = 28,
  EV_GO_SYS_EXIT = 29,
  EV_GO_SYS_BLOCK = 30,
  EV_GO_WAITING = 31,
  EV_GO_IN_SYSCALL = 32,
  EV_HEAP_ALLOC = 33,
  EV_STRING = 37,
  EV_USER_TASK_CREATE = 45,
  EV_USER_TASK_END = 46,
  EV_USER_REGION = 47,
  EV_USER_LOG = 48,
};

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

struct trace_writer {
  struct mprof_outfile out;
  uint64_t g; // of the thread whose row is written; 0: none
  uint64_t seq;
  bool is_running;
  bool has_processors; // the event is written
  unsigned processors;
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

static bool push(struct trace_writer *w, struct list *l, const void *item,
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

// An event whose first number is the ticks since the last one, but for those
// that have none.
static void put_event(struct trace_writer *w, enum event type,
                      const uint64_t *args, size_t n) {
  unsigned char body[ARGS_MAX * 10], head[3];
  unsigned char *p = body;
  for (size_t i = 0; i < n; i++)
    p = mprof_trace_put(p, args[i]);
  const size_t extra = n > 0 ? n - 1 : 0;
  size_t head_len = 1;
  head[0] = (unsigned char)(type | (extra < 3 ? extra : 3) << 6);
  if (extra >= 3)
    head[head_len++] = (unsigned char)(p - body);
  mprof_outfile_put(&w->out, head, head_len);
  mprof_outfile_put(&w->out, body, (size_t)(p - body));
}
#define EVENT(w, type, ...)                                                    \
  put_event(w, type, (const uint64_t[]){__VA_ARGS__},                          \
            sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static uint64_t stack_of(struct trace_writer *w, uint64_t handle) {
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
static uint64_t start_of(struct trace_writer *w, uint64_t handle) {
  return stack_of(w, handle != 0 ? handle : UNKNOWN_START);
}

// --- strings ---

static uint64_t hash(const char *s) { // FNV-1a
  uint64_t h = 0xcbf29ce484222325u;
  for (; *s != '\0'; s++)
    h = (h ^ (unsigned char)*s) * 0x100000001b3u;
  return h != 0 ? h : 1;
}

static uint32_t string_of(struct trace_writer *w, const char *s) {
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
    mprof_outfile_put(&w->out, head, (size_t)(p - head));
    mprof_outfile_put(&w->out, s, len);
  }
  return (uint32_t)slot->value;
}

// --- a row's records ---

static void put_processors(struct trace_writer *w) {
  if (w->has_processors)
    return;
  w->has_processors = true;
  EVENT(w, EV_GOMAXPROCS, 0, w->processors, 0);
}

static void put_begin(struct trace_writer *w, uint64_t ticks,
                      const unsigned char **p) {
  const uint64_t g = mprof_trace_get(p), tid = mprof_trace_get(p);
  const enum mprof_trace_from from = (enum mprof_trace_from)mprof_trace_get(p);
  w->g = g;
  w->seq = 0;
  w->is_running = true;
  if (from == MPROF_TRACE_FROM_UNKNOWN) {
    EVENT(w, EV_GO_CREATE, ticks, g, start_of(w, mprof_trace_get(p)), 0);
    ticks = 0;
  }
  EVENT(w, EV_PROC_START, ticks, tid);
  if (from == MPROF_TRACE_FROM_WAITING) {
    w->seq = 2;
    EVENT(w, EV_GO_UNBLOCK, 0, g, 2, 0);
  } else if (from == MPROF_TRACE_FROM_CALL) {
    w->seq = 2;
    EVENT(w, EV_GO_SYS_EXIT, 0, g, 2, 0);
  }
  EVENT(w, EV_GO_START, 0, g, ++w->seq);
  put_processors(w);
}

static void put_pre(struct trace_writer *w, const unsigned char **p) {
  const uint64_t g = mprof_trace_get(p);
  const enum mprof_trace_from from = (enum mprof_trace_from)mprof_trace_get(p);
  EVENT(w, EV_GO_CREATE, 0, g, start_of(w, mprof_trace_get(p)), 0);
  if (from == MPROF_TRACE_FROM_WAITING)
    EVENT(w, EV_GO_WAITING, 0, g);
  else if (from == MPROF_TRACE_FROM_CALL)
    EVENT(w, EV_GO_IN_SYSCALL, 0, g);
}

static void put_block(struct trace_writer *w, enum event type, uint64_t ticks,
                      const unsigned char **p) {
  w->is_running = false;
  EVENT(w, type, ticks, stack_of(w, mprof_trace_get(p)));
}

static void put_start(struct trace_writer *w, uint64_t ticks, bool is_self,
                      uint64_t stack) {
  const uint64_t ready = ++w->seq;
  if (is_self) {
    EVENT(w, EV_GO_UNBLOCK, ticks, w->g, ready, stack_of(w, stack));
    ticks = 0;
  }
  EVENT(w, EV_GO_START, ticks, w->g, ++w->seq);
  w->is_running = true;
}

// False if nobody signed it: then there is no event, and what ticks it took
// are the next one's.
static bool put_wake(struct trace_writer *w, uint64_t ticks,
                     const unsigned char **p) {
  const uint64_t stack = mprof_trace_get(p);
  *p = (const unsigned char *)(((uintptr_t)*p + 7) & ~(uintptr_t)7);
  uint64_t signed_by;
  memcpy(&signed_by, *p, sizeof(signed_by));
  *p += sizeof(signed_by);
  if (signed_by == 0)
    return false;
  EVENT(w, EV_GO_UNBLOCK, ticks, signed_by >> 32, (uint32_t)signed_by,
        stack_of(w, stack));
  return true;
}

static void put_call(struct trace_writer *w, uint64_t ticks,
                     const unsigned char **p, bool is_long) {
  EVENT(w, EV_GO_SYS_CALL, ticks, stack_of(w, mprof_trace_get(p)));
  if (!is_long)
    return;
  EVENT(w, EV_GO_SYS_BLOCK, 0);
  EVENT(w, EV_GO_SYS_EXIT, mprof_trace_get(p), w->g, w->seq + 1, 0);
  w->seq += 2;
  EVENT(w, EV_GO_START, 0, w->g, w->seq);
}

static uint64_t name_of(struct trace_writer *w, uint64_t handle) {
  return string_of(w, mprof_trace_name_text((uint32_t)handle));
}

static void put_log(struct trace_writer *w, uint64_t ticks,
                    const unsigned char **p) {
  unsigned char length[10];
  const uint64_t task = mprof_trace_get(p);
  const uint64_t key = name_of(w, mprof_trace_get(p));
  EVENT(w, EV_USER_LOG, ticks, task, key, stack_of(w, mprof_trace_get(p)));
  const uint64_t len = mprof_trace_get(p);
  mprof_outfile_put(&w->out, length,
                    (size_t)(mprof_trace_put(length, len) - length));
  mprof_outfile_put(&w->out, *p, len);
  *p += len;
}

static void put_gc_start(struct trace_writer *w, uint64_t ticks,
                         const unsigned char **p) {
  const uint64_t number = mprof_trace_get(p);
  EVENT(w, EV_GC_START, ticks, number, stack_of(w, mprof_trace_get(p)));
}

// One record; returns the ticks that it took and that no event had.
static uint64_t put_record(struct trace_writer *w, const unsigned char **p,
                           uint64_t before) {
  const enum mprof_trace_type type = (enum mprof_trace_type) * (*p)++;
  if (type == MPROF_TRACE_PRE) {
    put_pre(w, p);
    return before;
  }
  const uint64_t ticks = before + mprof_trace_get(p);
  switch (type) {
  case MPROF_TRACE_BEGIN:
    put_begin(w, ticks, p);
    break;
  case MPROF_TRACE_END:
    EVENT(w, EV_GO_END, ticks);
    EVENT(w, EV_PROC_STOP, 0);
    w->g = 0;
    w->is_running = false;
    break;
  case MPROF_TRACE_CREATE: {
    const uint64_t g = mprof_trace_get(p), start = mprof_trace_get(p);
    const uint64_t stack = mprof_trace_get(p);
    EVENT(w, EV_GO_CREATE, ticks, g, start_of(w, start), stack_of(w, stack));
    break;
  }
  case MPROF_TRACE_BLOCK_SYNC:
    put_block(w, EV_GO_BLOCK_SYNC, ticks, p);
    break;
  case MPROF_TRACE_BLOCK_COND:
    put_block(w, EV_GO_BLOCK_COND, ticks, p);
    break;
  case MPROF_TRACE_BLOCK_NET:
    put_block(w, EV_GO_BLOCK_NET, ticks, p);
    break;
  case MPROF_TRACE_BLOCK_SELECT:
    put_block(w, EV_GO_BLOCK_SELECT, ticks, p);
    break;
  case MPROF_TRACE_SLEEP:
    put_block(w, EV_GO_SLEEP, ticks, p);
    break;
  case MPROF_TRACE_START:
    put_start(w, ticks, false, 0);
    break;
  case MPROF_TRACE_START_SELF:
    put_start(w, ticks, true, mprof_trace_get(p));
    break;
  case MPROF_TRACE_WAKE:
    if (!put_wake(w, ticks, p))
      return ticks;
    break;
  case MPROF_TRACE_CALL:
    put_call(w, ticks, p, false);
    break;
  case MPROF_TRACE_CALL_LONG:
    put_call(w, ticks, p, true);
    break;
  case MPROF_TRACE_CALL_OPEN:
    put_call(w, ticks, p, false);
    EVENT(w, EV_GO_SYS_BLOCK, 0);
    w->is_running = false;
    break;
  case MPROF_TRACE_HEAP:
    EVENT(w, EV_HEAP_ALLOC, ticks, mprof_trace_get(p));
    break;
  case MPROF_TRACE_GC_START:
    put_gc_start(w, ticks, p);
    break;
  case MPROF_TRACE_GC_DONE:
    EVENT(w, EV_GC_DONE, ticks);
    break;
  case MPROF_TRACE_TASK: {
    const uint64_t task = mprof_trace_get(p), parent = mprof_trace_get(p);
    const uint64_t name = name_of(w, mprof_trace_get(p));
    EVENT(w, EV_USER_TASK_CREATE, ticks, task, parent, name,
          stack_of(w, mprof_trace_get(p)));
    break;
  }
  case MPROF_TRACE_TASK_END: {
    const uint64_t task = mprof_trace_get(p);
    EVENT(w, EV_USER_TASK_END, ticks, task, stack_of(w, mprof_trace_get(p)));
    break;
  }
  case MPROF_TRACE_REGION: {
    const uint64_t task = mprof_trace_get(p), is_end = mprof_trace_get(p);
    const uint64_t name = name_of(w, mprof_trace_get(p));
    EVENT(w, EV_USER_REGION, ticks, task, is_end, name,
          stack_of(w, mprof_trace_get(p)));
    break;
  }
  case MPROF_TRACE_LOG:
    put_log(w, ticks, p);
    break;
  default:
    break;
  }
  return 0;
}

static void put_row(struct trace_writer *w, const struct mprof_trace_row *r) {
  uint64_t left = 0;
  w->g = w->seq = 0;
  w->is_running = false;
  for (const struct mprof_trace_buf *b = r->first; b; b = b->next) {
    const unsigned char *p = b->data, *const end = b->data + b->len;
    EVENT(w, EV_BATCH, b->row, b->ticks - left);
    while (p < end)
      left = put_record(w, &p, left);
  }
}

// --- stacks ---

static void add_frame(const struct mprof_frame *f, void *arg) {
  struct trace_writer *w = arg;
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
  struct frame frame = {string_of(w, name), string_of(w, f->file), f->line};
  if (push(w, &w->frames, &frame, sizeof(frame)))
    w->frames_of_pc++;
}

// The frames of an address: their place and, in *n, how many.
static size_t frames_of(struct trace_writer *w, mprof_pc pc, size_t *n) {
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

static void put_stack(struct trace_writer *w, uint64_t number,
                      const struct stack_text *s) {
  unsigned char head[16], lengths[32], *p = head, *q = lengths;
  q = mprof_trace_put(q, number);
  q = mprof_trace_put(q, s->frames);
  *p++ = EV_STACK | 3 << 6;
  p = mprof_trace_put(p, (uint64_t)(q - lengths) + s->len);
  mprof_outfile_put(&w->out, head, (size_t)(p - head));
  mprof_outfile_put(&w->out, lengths, (size_t)(q - lengths));
  mprof_outfile_put(&w->out, s->body, s->len);
}

static void add_bucket(struct trace_writer *w, struct stack_text *s,
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

static void put_stacks(struct trace_writer *w) {
  for (size_t i = 0; i < w->handles.len && w->error == 0; i++) {
    const uint32_t handle = ((const uint32_t *)w->handles.v)[i];
    struct stack_text s;
    s.len = s.frames = 0;
    if (handle == UNKNOWN_START) {
      const struct frame f = {string_of(w, "thread"), 0, 0};
      add_to_stack(&s, 1, &f);
    } else {
      add_bucket(w, &s, mprof_persistent_pointer(handle));
    }
    put_stack(w, i + 1, &s);
  }
}

// --- the file ---

static void put_all(struct trace_writer *w,
                    const struct mprof_trace_input *in) {
  static const char header[16] = "go 1.11 trace\0\0";
  mprof_outfile_put(&w->out, header, sizeof(header));
  uint64_t last = 1;
  // The first row begins with what there was before.
  const struct mprof_trace_row *first = in->rows;
  for (const struct mprof_trace_row *r = in->rows; r; r = r->next) {
    if (r->id == 0)
      first = r;
    last = r->ticks > last ? r->ticks : last;
  }
  put_row(w, first);
  for (const struct mprof_trace_row *r = in->rows; r; r = r->next)
    if (r != first)
      put_row(w, r);
  EVENT(w, EV_BATCH, 0, last);
  int error = mprof_symbolize_begin(mprof_flags.symbolize);
  if (error != 0) {
    w->error = error;
    return;
  }
  put_stacks(w);
  mprof_symbolize_end();
  EVENT(w, EV_FREQUENCY, in->frequency);
}

static void free_all(struct trace_writer *w) {
  mprof_pc_table_free(&w->stacks);
  mprof_pc_table_free(&w->strings);
  mprof_pc_table_free(&w->pcs);
  free_list(&w->handles);
  free_list(&w->frames);
  mprof_os_unmap(w, sizeof(*w));
}

int mprof_write_trace(const struct mprof_trace_input *in, const char *path,
                      int fd) {
  struct trace_writer *w = mprof_os_map(sizeof(*w));
  if (!w)
    return ENOMEM;
  w->processors = in->processors;
  int error = path ? mprof_outfile_open(&w->out, path, false)
                   : mprof_outfile_open_fd(&w->out, fd);
  if (error == 0) {
    put_all(w, in);
    if (w->error != 0)
      w->out.error = w->error;
    error = mprof_outfile_close(&w->out);
  }
  free_all(w);
  return error;
}
