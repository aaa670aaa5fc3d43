// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the function that a std::thread runs; see std_thread.h. The state
// object of the thread contains this function. The mangled name of the state's
// type lists the callable object and the arguments:
//
//   std::thread::_State_impl<std::thread::_Invoker<
//       std::tuple<void (*)(void *, int), char *, int>>>
//
// libstdc++ stores the elements of the tuple from the last to the first, so the
// callable object is behind the arguments. The sizes of the arguments determine
// its offset. If the size of an argument is unknown, for example that of a
// class, the offset is unknown, too. (Itanium C++ ABI, section 5.1: mangling)

#include "thread_stacks/std_thread.h"

#include "sys/os_memory.h"
#include "unwind/eh_frame.h"

#include <string.h>

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
