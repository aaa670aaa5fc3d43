// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records of threads that were created and have not begun to run; see
// thread_starts.h. The records are stored in chunks of memory that are never
// unmapped.

#include "thread_stacks/thread_starts.h"

#include "lock_wait/contention.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "thread_stacks/thread_wait.h"
#include "trace/trace_events.h"
#include "unwind/rules.h"

#include <string.h>

#define CHUNK_BYTES 16384u

struct chunk {
  struct chunk *next;
  struct mprof_thread_start v[];
};
enum {
  PER_CHUNK =
      (CHUNK_BYTES - sizeof(struct chunk)) / sizeof(struct mprof_thread_start)
};

static struct {
  struct mprof_lock lock; // starts_lock; guards both lists
  struct mprof_thread_start *unused;
  // A forked copy of the process reads this list without the lock, because no
  // other thread runs in the copy.
  struct chunk *_Atomic chunks;
} starts = {.lock = MPROF_LOCK_INIT(MPROF_RANK_STARTS)};

// The field arg of a record may be the only pointer to a block of the program.
// LeakSanitizer must scan the chunks, so that it does not report this block as
// a leak.
extern void __lsan_register_root_region(const void *p, size_t len)
    __attribute__((weak));

static void add_chunk_locked(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_STARTS));
  struct chunk *c = mprof_os_map(CHUNK_BYTES);
  if (!c)
    return;
  if (__lsan_register_root_region)
    __lsan_register_root_region(c, CHUNK_BYTES);
  for (size_t i = 0; i < PER_CHUNK; i++) {
    c->v[i].next = starts.unused;
    starts.unused = &c->v[i];
  }
  c->next = starts.chunks;
  starts.chunks = c;
}

struct mprof_thread_start *mprof_thread_start_new(void) {
  mprof_lock_acquire(&starts.lock);
  if (!starts.unused)
    add_chunk_locked();
  struct mprof_thread_start *s = starts.unused;
  if (s)
    starts.unused = s->next;
  mprof_lock_release(&starts.lock);
  if (s)
    *s = (struct mprof_thread_start){.virtuals = NULL};
  else
    mprof_stat_add(MPROF_STAT_no_memory, 1);
  return s;
}

void mprof_thread_start_free(struct mprof_thread_start *s) {
  mprof_lock_acquire(&starts.lock);
  s->arg = NULL;
  s->next = starts.unused;
  starts.unused = s;
  mprof_lock_release(&starts.lock);
}

void mprof_thread_starts_each(void (*fn)(const struct mprof_thread_start *s,
                                         void *arg),
                              void *arg) {
  for (const struct chunk *c = starts.chunks; c; c = c->next)
    for (size_t i = 0; i < PER_CHUNK; i++)
      if (c->v[i].arg)
        fn(&c->v[i], arg);
}

void mprof_thread_starts_reset(void) { mprof_lock_reset(&starts.lock); }

void mprof_thread_begin(struct mprof_thread_start *s, bool is_done) {
  // The labels must be set first, because mprof_thread_self copies them into
  // the thread's new record.
  mprof_thread_set_labels(s->labels);
  if (!mprof_guard_enter())
    return;
  struct mprof_thread *t = mprof_thread_self(false);
  if (t) {
    mprof_lock_acquire(&mprof_registry_lock);
    t->created = s->bucket;
    t->runs = s->runs;
    mprof_lock_release(&mprof_registry_lock);
    if (atomic_load(&mprof_contention.notes_waits))
      mprof_thread_is_noting(t);
    mprof_thread_observe(t, true);
  }
  if (mprof_unlikely(s->trace_g != 0))
    mprof_trace_created(s->trace_g, s->trace_start, s->trace_session);
  if (is_done)
    mprof_thread_start_free(s);
  mprof_guard_leave();
}

// --- the function that a std::thread runs ---
//
// The state object of the thread contains this function. The mangled name of
// the state's type lists the callable object and the arguments:
//
//   std::thread::_State_impl<std::thread::_Invoker<
//       std::tuple<void (*)(void *, int), char *, int>>>
//
// libstdc++ stores the elements of the tuple from the last to the first, so the
// callable object is behind the arguments. The sizes of the arguments determine
// its offset. If the size of an argument is unknown, for example that of a
// class, the offset is unknown, too. (Itanium C++ ABI, section 5.1: mangling)

enum {
  PARTS_MAX = 64, // maximum number of types in `parts` of struct parser
  ARGS_MAX = 16,
  DEPTH_MAX = 32, // maximum nesting of types
  // The name always begins with the same text, which contains four types to
  // which a later reference can refer: std::thread, _State_impl, _Invoker and
  // std::tuple.
  PARTS_OF_STATE = 4,
};

// A parser of mangled names. `p` is the position in the name. `parts` has the
// sizes in bytes of the types to which a later reference in the name can refer;
// 0: size unknown. The functions take_... move `p` behind the text that they
// parse. The functions that parse a type return its size.
struct parser {
  const char *p;
  bool has_failed; // the name has a form that this parser does not know
  int depth;
  unsigned parts_len;
  uint8_t parts[PARTS_MAX];
};

static unsigned take_type(struct parser *s);

static unsigned add_part(struct parser *s, unsigned size) {
  if (s->parts_len < PARTS_MAX)
    s->parts[s->parts_len++] = (uint8_t)size;
  else
    s->has_failed = true;
  return size;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool take(struct parser *s, const char *prefix) {
  const size_t len = strlen(prefix);
  if (strncmp(s->p, prefix, len) != 0)
    return false;
  s->p += len;
  return true;
}

// Parses a list of types and the 'E' that ends the list.
static void take_types(struct parser *s) {
  while (!s->has_failed && *s->p != 'E')
    take_type(s);
  s->p += *s->p == 'E';
}

static void take_template_arguments(struct parser *s) {
  if (*s->p != 'I')
    return;
  s->p++;
  take_types(s);
  add_part(s, 0);
}

// Parses a name such as 3foo.
static void take_word(struct parser *s) {
  size_t len = 0;
  for (; is_digit(*s->p) && len < 4096; s->p++)
    len = len * 10 + (size_t)(*s->p - '0');
  if (len == 0 || strnlen(s->p, len) < len)
    s->has_failed = true;
  else
    s->p += len;
}

// Parses a name with its template arguments.
static unsigned take_name(struct parser *s) {
  take_word(s);
  add_part(s, 0);
  take_template_arguments(s);
  return 0;
}

// Parses a reference to an earlier type of the name. p is behind the S of S_,
// S0_, ... S9_, SA_, ...
static unsigned take_reference(struct parser *s) {
  unsigned i = 0;
  for (; is_digit(*s->p) || (*s->p >= 'A' && *s->p <= 'Z'); s->p++)
    i = i * 36 +
        (is_digit(*s->p) ? (unsigned)(*s->p - '0')
                         : (unsigned)(*s->p - 'A') + 10) +
        1;
  if (!take(s, "_") || i >= s->parts_len) {
    s->has_failed = true;
    return 0;
  }
  if (*s->p != 'I')
    return s->parts[i];
  take_template_arguments(s);
  return 0;
}

// Parses a type that begins with S. p is behind the S.
static unsigned take_s(struct parser *s) {
  static const struct {
    const char *name;
    unsigned size;
  } known[] = {{"17reference_wrapperI", 8}, {"10shared_ptrI", 16}};
  if (*s->p != 't') {
    if (*s->p == 's' || *s->p == 'a' || *s->p == 'b')
      s->has_failed = true; // Ss, Sa, Sb: std::string, std::allocator, ...
    return take_reference(s);
  }
  s->p++;
  unsigned size = 0;
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
    if (strncmp(s->p, known[i].name, strlen(known[i].name)) == 0)
      size = known[i].size;
  take_name(s);
  if (size != 0 && s->parts_len > 0)
    s->parts[s->parts_len - 1] = (uint8_t)size;
  return size;
}

// Parses a nested name and the 'E' that ends the name.
static unsigned take_nested(struct parser *s) {
  if (take(s, "St"))
    ; // no later reference can refer to the prefix std alone
  else if (take(s, "S"))
    take_reference(s);
  while (!s->has_failed && *s->p != 'E')
    take_name(s);
  s->p += *s->p == 'E';
  return 0;
}

static unsigned take_function(struct parser *s) {
  take_types(s);
  return add_part(s, 0);
}

static unsigned take_member(struct parser *s) {
  take_type(s); // the class
  take(s, "K");
  const bool is_function = *s->p == 'F' || strncmp(s->p, "DoF", 3) == 0;
  take_type(s);
  return add_part(s, is_function ? 16 : 8);
}

static unsigned take_d(struct parser *s) {
  if (take(s, "n")) // std::nullptr_t
    return 8;
  if (take(s, "oF")) // a function that is noexcept
    return take_function(s);
  s->has_failed = true;
  return 0;
}

// Parses a type other than a basic type. c: first character of the type; p is
// behind this character.
static unsigned take_compound(struct parser *s, char c) {
  switch (c) {
  case 'P':
  case 'R':
  case 'O':
    take_type(s);
    return add_part(s, 8);
  case 'K':
  case 'V':
    return add_part(s, take_type(s));
  case 'F':
    return take_function(s);
  case 'M':
    return take_member(s);
  case 'N':
    return take_nested(s);
  case 'S':
    return take_s(s);
  case 'D':
    return take_d(s);
  default:
    s->has_failed = true;
    return 0;
  }
}

// Parses a type and returns its size. The alignment of the type is equal to its
// size, except that pointers to member functions and shared pointers have the
// alignment 8.
static unsigned take_type(struct parser *s) {
  static const char basic[] = "v\0z\0a\1b\1c\1h\1s\2t\2i\4j\4f\4w\4l\10m\10x\10"
                              "y\10d\10";
  for (size_t i = 0; i < sizeof(basic) - 1; i += 2)
    if (*s->p == basic[i]) {
      s->p++;
      return (unsigned char)basic[i + 1];
    }
  unsigned size = 0;
  if (is_digit(*s->p)) {
    size = take_name(s);
  } else if (s->depth == DEPTH_MAX || *s->p == '\0') {
    s->has_failed = true;
  } else {
    s->depth++;
    const char c = *s->p++;
    size = take_compound(s, c);
    s->depth--;
  }
  return s->has_failed ? 0 : size;
}

// Returns the offset of the callable object in the state whose type has this
// name. Returns 0 if the offset is unknown, or if the object is not a pointer
// to a function.
static size_t find_offset(const char *type) {
  static const char prefix[] =
      "NSt6thread11_State_implINS_8_InvokerISt5tupleIJ";
  struct parser s = {.p = type, .parts_len = PARTS_OF_STATE};
  unsigned sizes[ARGS_MAX], len = 0;
  take(&s, "*"); // marks the name of a type that is local to a source file
  if (!take(&s, prefix) || (*s.p != 'P' && *s.p != 'M'))
    return 0;
  take_type(&s);
  if (s.p[-1] != 'E') // a function's type ends with E
    return 0;
  for (; !s.has_failed && *s.p != 'E' && len < ARGS_MAX; len++)
    if ((sizes[len] = take_type(&s)) == 0)
      return 0;
  if (s.has_failed || *s.p != 'E')
    return 0;
  size_t at = sizeof(void *); // behind the pointer to the virtual table
  while (len > 0) {
    const size_t size = sizes[--len], align = size < 8 ? size : 8;
    at = ((at + align - 1) & ~(align - 1)) + size;
  }
  return (at + 7) & ~(size_t)7;
}

// The pointer that is stored in front of a virtual table points to this struct
// (Itanium C++ ABI).
struct type_info {
  const void *virtuals;
  const char *name;
};

uintptr_t mprof_std_thread_function(const void *state) {
  const struct mprof_virtuals *v = mprof_virtuals_of(state);
  const struct type_info *type = ((const struct type_info *const *)v)[-1];
  const uintptr_t run = (uintptr_t)v->run;
  // type is NULL in code that was compiled with -fno-rtti.
  const size_t offset = type == NULL ? 0 : find_offset(type->name);
  if (offset == 0)
    return run;
  uintptr_t fn;
  memcpy(&fn, (const char *)state + offset, sizeof(fn));
  // fn is not an address if the program has passed a pointer to a virtual
  // member function. So use fn only if a function begins at fn.
  return mprof_eh_function(fn).begin == fn ? fn : run;
}

// --- libc++ ---

// libc++'s std::mutex::try_lock. It is defined in programs that use libc++.
// Another file refers to it, too, so it takes no further look-up at start.
extern char libcxx_try_lock[] __asm__("_ZNSt3__15mutex8try_lockEv")
    __attribute__((weak));

// libc++ passes a std::tuple, whose elements it stores from the first to the
// last. The first element is a pointer to data of the library, the second is
// the callable object. So the second word may be the address of a function.
uintptr_t mprof_libcxx_thread_function(const void *arg) {
  uintptr_t second;
  if (!libcxx_try_lock || (uintptr_t)arg % sizeof(second) != 0 ||
      !mprof_os_copy(&second, (uintptr_t)arg + sizeof(second), sizeof(second)))
    return 0;
  return mprof_eh_function(second).begin == second ? second : 0;
}
