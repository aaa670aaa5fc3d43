// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "short_name.h"

#include <string.h>

static bool begins_with(struct trace_text text, const char *prefix) {
  size_t length = strlen(prefix);
  return text.length >= length && memcmp(text.bytes, prefix, length) == 0;
}

static bool ends_with(struct trace_text text, const char *suffix) {
  size_t length = strlen(suffix);
  return text.length >= length &&
         memcmp(text.bytes + text.length - length, suffix, length) == 0;
}

// Returns the first template argument. text must begin directly after the "<"
// of the template arguments.
static struct trace_text first_argument(struct trace_text text) {
  unsigned depth = 0;
  for (size_t i = 0; i < text.length; i++) {
    char c = text.bytes[i];
    if (depth == 0 && (c == ',' || c == '>'))
      return (struct trace_text){text.bytes, i};
    if (c == '<' || c == '(')
      depth++;
    else if ((c == '>' || c == ')') && depth)
      depth--;
  }
  return text;
}

static struct trace_text without_parameters(struct trace_text text) {
  if (!ends_with(text, ")"))
    return text;
  unsigned depth = 0;
  for (size_t i = text.length; i-- > 0;) {
    char c = text.bytes[i];
    if (c == ')')
      depth++;
    else if (c == '(' && --depth == 0) {
      struct trace_text name = {text.bytes, i};
      // A text such as void (*)(int) is the type of a function pointer. It has
      // no name before the parameters, so keep the whole text.
      bool is_name =
          i && !ends_with(name, "operator") && !ends_with(name, "*)");
      return is_name ? name : text;
    }
  }
  return text;
}

struct trace_text short_name(struct trace_text function) {
  // In libstdc++, the constructor of std::thread is std::thread::thread<T,
  // Arguments, void>(T&&, Arguments). T is the callable that the thread runs.
  static const char thread[] = "std::thread::thread<";
  if (begins_with(function, thread)) {
    size_t skip = sizeof thread - 1;
    return first_argument(
        (struct trace_text){function.bytes + skip, function.length - skip});
  }
  return without_parameters(function);
}
