// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code that all file formats of the trace share: it numbers the strings and
// stacks, finds the frames of a stack, and writes the parts of the file in
// order. The code of each format encodes the events. (Go: traceWriter,
// ReadTrace)

#include "trace/write_trace.h"

#include "bucket/bucket.h"
#include "options/flags.h"
#include "symbolize/symbolize.h"
#include "sys/clock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/pctable.h"
#include "sys/persistent.h"
#include "trace/trace.h"
#include "trace/trace_events.h"
#include "trace/trace_records.h"

#include <errno.h>
#include <string.h>

enum {
  STACK_FRAMES_MAX = 128, // maximum in newer versions of Go's readers
  FRAMES_OF_PC_MAX = 32,  // maximum for one address, with inlined frames
};

// Go's readers identify a frame by its address. An address in inlined functions
// has several frames. Therefore each frame gets an address of its own: the bits
// from INLINED_SHIFT on hold the index of the frame.
#define INLINED_SHIFT 56

struct frame {
  uint32_t function, file; // numbers of the two strings
  uint32_t line;
  // For a C++ library's start function: the program has passed a pointer to a
  // function.
  bool calls_pointer;
};

// --- memory ---

static bool grow(struct mprof_trace_writer *w, struct mprof_trace_list *l,
                 size_t used, size_t wanted) {
  size_t bytes = l->bytes != 0 ? l->bytes : 65536;
  while (bytes < wanted)
    bytes *= 2;
  if (bytes == l->bytes)
    return true;
  void *v = mprof_os_map(bytes);
  if (!v) {
    w->error = -ENOMEM;
    return false;
  }
  if (l->v) {
    memcpy(v, l->v, used);
    mprof_os_unmap(l->v, l->bytes);
  }
  l->v = v;
  l->bytes = bytes;
  return true;
}

bool mprof_trace_append(struct mprof_trace_writer *w,
                        struct mprof_trace_list *l, const void *items,
                        size_t len, size_t size) {
  if (!grow(w, l, l->len * size, (l->len + len) * size))
    return false;
  memcpy((char *)l->v + l->len * size, items, len * size);
  l->len += len;
  return true;
}

struct mprof_pc_slot *mprof_trace_slot(struct mprof_trace_writer *w,
                                       struct mprof_pc_table *t, mprof_pc key) {
  struct mprof_pc_slot *slot = mprof_pc_table_get(t, key);
  if (slot == NULL)
    w->error = -ENOMEM;
  return slot;
}

void mprof_trace_free_list(struct mprof_trace_list *l) {
  if (l->v)
    mprof_os_unmap(l->v, l->bytes);
  *l = (struct mprof_trace_list){0};
}

void mprof_trace_put_bytes(struct mprof_trace_writer *w, const void *data,
                           size_t len) {
  w->sink.put(w->sink.arg, data, len);
}

// --- numbers of stacks ---

uint64_t mprof_trace_stack_number(struct mprof_trace_writer *w,
                                  uint64_t handle) {
  if (handle == 0)
    return 0;
  struct mprof_pc_slot *s = mprof_trace_slot(w, &w->stacks, handle);
  if (s == NULL)
    return 0;
  const uint32_t h = (uint32_t)handle;
  if (s->value == 0 && mprof_trace_append(w, &w->handles, &h, 1, sizeof(h)))
    s->value = w->format->stacks_after + w->handles.len;
  return s->value;
}

// Handles that stand for unknown start functions, because readers require a
// stack for the start function of each thread. MAIN_START: the main thread.
// UNKNOWN_START: any other thread.
#define UNKNOWN_START UINT32_MAX
#define MAIN_START (UINT32_MAX - 1)
uint64_t mprof_trace_start_number(struct mprof_trace_writer *w, uint64_t handle,
                                  uint64_t tid) {
  const bool is_main = tid == (uint64_t)w->pid;
  return mprof_trace_stack_number(w, handle != 0 ? handle
                                     : is_main   ? MAIN_START
                                                 : UNKNOWN_START);
}

const struct mprof_bucket *mprof_trace_stack_bucket(uint32_t handle) {
  return handle >= MAIN_START ? NULL : mprof_persistent_pointer(handle);
}

// --- strings ---

static uint64_t hash(const char *s) {
  const uint64_t h = mprof_hash(MPROF_HASH_EMPTY, s, strlen(s));
  return h != 0 ? h : 1;
}

static uint64_t new_string(struct mprof_trace_writer *w, const char *s,
                           size_t len) {
  const size_t most = w->format->string_max;
  w->format->string(w, ++w->strings_len, s, len < most ? len : most);
  return w->strings_len;
}

uint64_t mprof_trace_string_number(struct mprof_trace_writer *w,
                                   const char *s) {
  if (*s == '\0')
    return 0;
  struct mprof_pc_slot *slot = mprof_trace_slot(w, &w->strings, hash(s));
  if (slot == NULL)
    return 0;
  if (slot->value == 0)
    slot->value = new_string(w, s, strlen(s));
  return slot->value;
}

uint64_t mprof_trace_name_number(struct mprof_trace_writer *w,
                                 uint64_t handle) {
  return mprof_trace_string_number(w, mprof_trace_name_text((uint32_t)handle));
}

uint64_t mprof_trace_text_number(struct mprof_trace_writer *w,
                                 const unsigned char *s, size_t len) {
  return len != 0 ? new_string(w, (const char *)s, len) : 0;
}

// --- locks ---

uint64_t mprof_trace_lock_number(struct mprof_trace_writer *w,
                                 uint64_t address) {
  if (address == 0)
    return 0;
  struct mprof_pc_slot *slot = mprof_trace_slot(w, &w->locks, address);
  if (slot == NULL)
    return 0;
  if (slot->value == 0)
    slot->value = ++w->strings_len;
  return slot->value;
}

// Writes the string of a lock, once. variable: its name; "": not known.
static void put_lock_string(uintptr_t address, const char *variable,
                            void *arg) {
  struct mprof_trace_writer *w = arg;
  char text[512];
  struct mprof_text t = MPROF_TEXT(text);
  struct mprof_pc_slot *slot = mprof_trace_slot(w, &w->locks, address);
  if (slot == NULL || slot->value == 0)
    return;
  mprof_text_address(&t, variable, address);
  w->format->string(w, slot->value, t.buf, t.len);
  slot->value = 0;
}

// Goes through a copy of the addresses, because mprof_pc_table_get may move the
// slots.
static void put_lock_strings(struct mprof_trace_writer *w) {
  const struct mprof_pc_table *t = &w->locks;
  const size_t bytes = t->used * sizeof(uintptr_t);
  if (bytes == 0)
    return;
  uintptr_t *addresses = mprof_os_map(bytes);
  size_t n = 0;
  if (addresses == NULL) {
    w->error = -ENOMEM;
    return;
  }
  for (size_t i = 0; i < t->count; i++)
    if (t->slots[i].pc != 0)
      addresses[n++] = t->slots[i].pc;
  mprof_symbolize_variables(addresses, n, put_lock_string, w);
  for (size_t i = 0; i < n; i++)
    put_lock_string(addresses[i], "", w);
  mprof_os_unmap(addresses, bytes);
}

// --- names of start functions ---
//
// The C++ libraries' start functions are templates. Their argument is a tuple
// type, which contains the type of the callable object that the thread runs
// (CALLABLE):
//   libstdc++: std::tuple<CALLABLE, ARGUMENTS...>
//   libc++:    std::__1::tuple<std::__1::unique_ptr<...>, CALLABLE, ...>

// Returns the length of the template argument at s.
static size_t argument_length(const char *s) {
  int depth = 0;
  const char *p = s;
  for (; *p != '\0' && (depth > 0 || (*p != ',' && *p != '>')); p++) {
    depth += *p == '<' || *p == '(';
    depth -= *p == '>' || *p == ')';
  }
  size_t len = (size_t)(p - s);
  while (len > 0 && s[len - 1] == ' ')
    len--;
  return len;
}

// Returns whether the type is "RESULT (*)(ARGUMENTS)" or
// "RESULT (CLASS::*)(ARGUMENTS)". Other types may have such a type as a part,
// but then their first parenthesis outside of <> does not end with "*)".
static bool is_function_pointer(const char *type, size_t len) {
  int depth = 0;
  for (size_t i = 0; i < len; i++) {
    depth += type[i] == '<';
    depth -= type[i] == '>';
    if (type[i] != '(' || depth > 0)
      continue;
    const size_t inner = strcspn(type + i, ")");
    return i + inner < len && type[i + inner - 1] == '*';
  }
  return false;
}

// Returns the type of the function that std::async runs, in the type at p of
// the callable object of its thread, which is a member function of the library.
// If the thread is of something else, returns NULL.
static const char *async_callable(const char *p, size_t len) {
  static const char *const before[] = {
      "std::__future_base::_Async_state_impl<std::thread::_Invoker<std::tuple<",
      "std::__1::__async_assoc_state<"};
  static const char llvm[] = "std::__1::__async_func<";
  for (size_t i = 0; i < 2; i++) {
    const char *in = strstr(p, before[i]);
    if (in == NULL || in >= p + len)
      continue;
    if (i == 0)
      return in + strlen(before[i]);
    in = strstr(in, llvm);
    return in != NULL && in < p + len ? in + sizeof(llvm) - 1 : NULL;
  }
  return NULL;
}

// Appends a type to t. The type may contain long template arguments, of which
// viewers of traces show only the first part.
static void put_type(struct mprof_text *t, const char *type, size_t len) {
  enum { TYPE_MAX = 120 };
  mprof_text_mem(t, type, len < TYPE_MAX ? len : TYPE_MAX);
  if (len > TYPE_MAX)
    mprof_text_str(t, "...");
}

// Returns the name to show for the start function `name` of a thread. If the
// function belongs to a C++ library, appends the type of the callable object
// that the thread runs to t, and returns t's text. In all other cases returns
// name. *is_pointer becomes true if the type is a pointer to a function or to a
// member function, and is not changed otherwise.
static const char *start_name(const char *name, struct mprof_text *t,
                              bool *is_pointer) {
  static const char gnu[] =
      "std::thread::_State_impl<std::thread::_Invoker<std::tuple<";
  static const char llvm[] = "__thread_proxy[", tuple[] = "std::__1::tuple<";
  const char *p = NULL;
  if (strncmp(name, gnu, sizeof(gnu) - 1) == 0) {
    p = name + sizeof(gnu) - 1;
  } else if (strstr(name, llvm) != NULL && (p = strstr(name, tuple)) != NULL) {
    p += sizeof(tuple) - 1;
    p += argument_length(p);
    p += strspn(p, ", ");
  }
  if (p == NULL || argument_length(p) == 0)
    return name;
  const char *callable = async_callable(p, argument_length(p));
  if (callable != NULL) {
    mprof_text_str(t, "std::async ");
    p = callable;
  }
  const size_t len = argument_length(p);
  *is_pointer |= is_function_pointer(p, len);
  put_type(t, p, len);
  return t->buf;
}

// --- stacks ---

static void add_frame(const struct mprof_frame *f, void *arg) {
  struct mprof_trace_writer *w = arg;
  char text[512];
  struct mprof_text t = MPROF_TEXT(text);
  const char *name = f->function;
  bool calls_pointer = false;
  if (w->frames_of_pc == FRAMES_OF_PC_MAX)
    return;
  if (w->is_start)
    name = start_name(name, &t, &calls_pointer);
  if (*name == '\0') {
    mprof_text_str(&t, f->module);
    mprof_text_str(&t, "+0x");
    mprof_text_hex(&t, f->offset);
    name = text;
  }
  const struct frame frame = {(uint32_t)mprof_trace_string_number(w, name),
                              (uint32_t)mprof_trace_string_number(w, f->file),
                              f->line, calls_pointer};
  if (mprof_trace_append(w, &w->frames, &frame, 1, sizeof(frame)))
    w->frames_of_pc++;
}

// Returns the index in w->frames of the first frame of address pc. *n receives
// the number of frames of this address.
static size_t frames_of(struct mprof_trace_writer *w, mprof_pc pc, size_t *n) {
  *n = 0;
  struct mprof_pc_slot *s = mprof_trace_slot(w, &w->pcs, pc);
  if (s == NULL)
    return 0;
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

static bool add_to_stack(struct mprof_trace_frames *s, uint64_t pc,
                         const struct frame *f) {
  unsigned char one[40], *p = one;
  p = mprof_trace_put(p, pc);
  p = mprof_trace_put(p, f->function);
  p = mprof_trace_put(p, f->file);
  p = mprof_trace_put(p, f->line);
  const size_t len = (size_t)(p - one);
  if (s->count == STACK_FRAMES_MAX || s->len + len > sizeof(s->bytes))
    return false;
  memcpy(s->bytes + s->len, one, len);
  s->len += len;
  s->count++;
  return true;
}

// Adds the outermost function at address pc. Its first instruction may belong
// to an inlined function, which is left out.
static void add_outermost(struct mprof_trace_writer *w,
                          struct mprof_trace_frames *s, mprof_pc pc) {
  size_t n;
  const size_t first = frames_of(w, pc, &n);
  if (n != 0)
    add_to_stack(s, pc | (uint64_t)(n - 1) << INLINED_SHIFT,
                 (const struct frame *)w->frames.v + first + n - 1);
}

// Adds the only frame of the start stack b: the start function, or the function
// to which the program has passed a pointer.
static void add_start(struct mprof_trace_writer *w,
                      struct mprof_trace_frames *s,
                      const struct mprof_bucket *b) {
  const uint32_t gone = mprof_bucket_gone(b);
  const mprof_pc start =
      mprof_symbolize_shown(b->stack[b->stack_len - 1], gone);
  w->is_start = true;
  size_t n;
  const size_t first = frames_of(w, start, &n);
  const struct frame *f = (const struct frame *)w->frames.v + first;
  const bool is_passed = b->stack_len > 1 && n != 0 && f[n - 1].calls_pointer;
  add_outermost(w, s,
                is_passed ? mprof_symbolize_shown(b->stack[0], gone) : start);
}

static void add_bucket(struct mprof_trace_writer *w,
                       struct mprof_trace_frames *s,
                       const struct mprof_bucket *b) {
  w->is_start = false;
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

void mprof_trace_stack_frames(struct mprof_trace_writer *w, uint32_t handle,
                              struct mprof_trace_frames *s) {
  const struct mprof_bucket *b = mprof_trace_stack_bucket(handle);
  s->len = s->count = 0;
  if (b && b->size == MPROF_TRACE_IS_START) {
    add_start(w, s, b);
    return;
  }
  if (b) {
    add_bucket(w, s, b);
    return;
  }
  const char *name = handle == MAIN_START ? "main" : "thread";
  const struct frame f = {.function =
                              (uint32_t)mprof_trace_string_number(w, name)};
  add_to_stack(s, handle == MAIN_START ? 2 : 1, &f);
}

// --- the choice of a format ---

static const struct mprof_trace_format *const formats[] = {
    &mprof_trace_format_1_23, &mprof_trace_format_1_5};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static const struct mprof_trace_format *wanted_format(void) {
  for (size_t i = 0; i < FORMATS; i++)
    if (strcmp(mprof_flags.trace_format, formats[i]->name) == 0)
      return formats[i];
  return NULL;
}

void mprof_trace_format_check(void) {
  char line[256 + sizeof(mprof_flags.trace_format)];
  struct mprof_text t = MPROF_TEXT(line);
  if (wanted_format())
    return;
  mprof_text_str(&t, "value '");
  mprof_text_str(&t, mprof_flags.trace_format);
  mprof_text_str(&t, "' of option 'trace_format' is not");
  for (size_t i = 0; i < FORMATS; i++) {
    mprof_text_str(&t, i == 0 ? " " : " or ");
    mprof_text_str(&t, formats[i]->name);
  }
  mprof_text_str(&t, "; using ");
  mprof_text_str(&t, formats[0]->name);
  mprof_message(line);
}

// Returns the default format if the option names no known format.
static const struct mprof_trace_format *chosen_format(void) {
  const struct mprof_trace_format *f = wanted_format();
  return f ? f : formats[0];
}

bool mprof_trace_format_streams(void) { return chosen_format()->streams; }

// --- the file ---

void mprof_trace_write_tail(struct mprof_trace_writer *w, uint64_t end_ticks) {
  int error =
      mprof_symbolize_begin(mprof_flags.symbolize && w->format->has_names);
  if (error != 0) {
    w->error = error;
    return;
  }
  if (mprof_symbolize_collect(NULL)) {
    for (size_t i = 0; i < w->handles.len; i++) {
      const struct mprof_bucket *b =
          mprof_trace_stack_bucket(((const uint32_t *)w->handles.v)[i]);
      if (b)
        mprof_symbolize_want_stack(b);
    }
    mprof_symbolize_look_up(NULL);
  }
  put_lock_strings(w);
  w->format->begin_stacks(w, end_ticks);
  for (size_t i = 0; i < w->handles.len && w->error == 0; i++)
    w->format->stack(w, w->format->stacks_after + i + 1,
                     ((const uint32_t *)w->handles.v)[i]);
  w->format->finish(w, end_ticks);
  mprof_symbolize_end();
}

struct mprof_trace_writer *
mprof_trace_writer_new(const struct mprof_trace_sink *sink,
                       unsigned processors) {
  const struct mprof_trace_format *f = chosen_format();
  struct mprof_trace_writer *w = mprof_os_map(sizeof(*w) + f->state_bytes);
  if (w) {
    w->sink = *sink;
    w->format = f;
    w->state = w + 1;
    w->processors = processors;
    w->pid = mprof_sys_getpid();
    mprof_trace_put_bytes(w, f->header, 16);
  }
  return w;
}

void mprof_trace_writer_free(struct mprof_trace_writer *w) {
  if (w->format->free_state)
    w->format->free_state(w->state);
  mprof_pc_table_free(&w->stacks);
  mprof_pc_table_free(&w->strings);
  mprof_pc_table_free(&w->locks);
  mprof_pc_table_free(&w->pcs);
  mprof_trace_free_list(&w->handles);
  mprof_trace_free_list(&w->frames);
  mprof_os_unmap(w, sizeof(*w) + w->format->state_bytes);
}
