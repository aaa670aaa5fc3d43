// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shortens the names of start functions; see start_name.h. The C++ libraries'
// start functions are templates. Their argument is a tuple type, which contains
// the type of the callable object that the thread runs (CALLABLE):
//   libstdc++: std::tuple<CALLABLE, ARGUMENTS...>
//   libc++:    std::__1::tuple<std::__1::unique_ptr<...>, CALLABLE, ...>

#include "trace/start_name.h"

#include <string.h>

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

const char *mprof_trace_start_name(const char *name, struct mprof_text *t,
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
