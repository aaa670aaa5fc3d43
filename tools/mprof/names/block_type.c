// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/block_type.h"

#include "symbolize/wrappers.h"

#include <string.h>

// --- text with brackets ---

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static bool begins(const char *p, const char *end, const char *word) {
  const size_t n = strlen(word);
  return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

static const char *skip_word(const char *p, const char *end) {
  while (p < end && is_word(*p))
    p++;
  return p;
}

// Returns the character behind the bracket that closes the one at p. Returns
// NULL if there is none, or if an operator could be mistaken for a bracket.
static const char *skip_brackets(const char *p, const char *end) {
  enum { DEPTH = 256 };
  char open[DEPTH];
  size_t depth = 0;
  for (const char *begin = p; p < end; p++) {
    if (begins(p, end, "operator") && !(p > begin && is_word(p[-1])) &&
        p + 8 < end && strchr("<>-", p[8]))
      return NULL;
    if (*p == '<' || *p == '(' || *p == '[' || *p == '{') {
      if (depth == DEPTH)
        return NULL;
      open[depth++] = *p;
    } else if (*p == '>') {
      // In parentheses, and in "->", it is no bracket.
      depth -= open[depth - 1] == '<' && p[-1] != '-';
    } else if (*p == ')' || *p == ']' || *p == '}') {
      const char wanted = *p == ')' ? '(' : *p == ']' ? '[' : '{';
      while (depth && open[depth - 1] == '<')
        depth--; // it was the operator "<"
      if (!depth || open[depth - 1] != wanted)
        return NULL;
      depth--;
    }
    if (!depth)
      return p + 1;
  }
  return NULL;
}

// Returns the end of the template argument that begins at p: a comma or the
// last bracket, which is at end. Returns NULL if the brackets do not match.
static const char *argument_end(const char *p, const char *end) {
  while (p && p < end && *p != ',')
    p = strchr("<([{", *p) ? skip_brackets(p, end) : p + 1;
  return p;
}

// Skips "std::" and namespaces in std with reserved names, such as "__1::".
// Returns NULL if the name is not in std.
static const char *skip_std(const char *p, const char *end) {
  if (begins(p, end, "__gnu_cxx::"))
    return p + strlen("__gnu_cxx::");
  if (!begins(p, end, "std::"))
    return NULL;
  p += strlen("std::");
  for (const char *next; begins(p, end, "__"); p = next + 2) {
    next = skip_word(p, end);
    if (!begins(next, end, "::"))
      break;
  }
  return p;
}

// --- names of functions ---

// A name in the table: what may be in the function beside the allocation.
enum contents {
  ONLY,   // nothing that could allocate
  OTHERS, // other functions, which have frames only if has_inlined
  NOTHING // the caller tells the type
};

// Functions in std and __gnu_cxx. method: NULL if the function itself has the
// template arguments; "" means all functions of the class.
static const struct {
  const char *name, *method;
  enum contents contents;
} functions[] = {
    {"__new_allocator", "allocate", ONLY},
    {"new_allocator", "allocate", ONLY},
    {"allocator", "allocate", ONLY},
    {"allocator", "allocate_at_least", ONLY},
    {"_Vector_base", "_M_allocate", ONLY},
    {"basic_string", "", ONLY},
    {"get_temporary_buffer", NULL, ONLY},
    {"__get_temporary_buffer", NULL, ONLY},
    {"make_unique", NULL, OTHERS},
    {"make_unique_for_overwrite", NULL, OTHERS},
    {"_Function_base::_Base_manager", "_M_create", OTHERS},
    {"_Function_base::_Base_manager", "_M_clone", OTHERS},
    {"_Function_base::_Base_manager", "_M_init_functor", OTHERS},
    {"any::_Manager_external", "_S_create", OTHERS},
    {"__libcpp_operator_new", NULL, NOTHING},
    {"__libcpp_allocate", NULL, NOTHING},
    {"__allocate_at_least", NULL, NOTHING},
    {"allocator_traits", "allocate", NOTHING},
    {"allocator_traits", "allocate_at_least", NOTHING},
};

static const char *const allocators[] = {
    "malloc",        "calloc",         "realloc", "reallocarray",
    "aligned_alloc", "posix_memalign", "_Znwm",   "_Znam"};

// Returns whether p is the end of a function's name: there are only parameters
// and qualifiers behind it. "f(int)::{lambda()#1}" is another function.
static bool is_end(const char *p, const char *end) {
  if (p < end && *p == '[') // "[abi:cxx11]"
    p = skip_brackets(p, end);
  if (p && p < end && *p == '<')
    p = skip_brackets(p, end);
  if (p && p < end && *p == '(') {
    p = skip_brackets(p, end);
    return p && !begins(p, end, "::");
  }
  return p == end;
}

// Returns whether a method has template arguments of which functions may be
// inlined into it, such as iterators of the program.
static bool is_open(const char *p, const char *end) {
  if (p < end && *p == '[')
    p = skip_brackets(p, end);
  if (p >= end || *p != '<')
    return false;
  const char *last = skip_brackets(p, end) - 2;
  const char *name = skip_std(p + 1, end);
  return *last != '*' && !(*last >= '0' && *last <= '9') &&
         !(name && begins(name, end, "allocator<"));
}

static bool is_method(const char *p, const char *end, const char *method,
                      bool has_inlined) {
  if (!begins(p, end, "::"))
    return false;
  p += 2;
  if (*method)
    return begins(p, end, method) && is_end(p + strlen(method), end);
  const char *behind = skip_word(p, end);
  if (begins(p, end, "operator"))
    while (behind < end && (*behind == '+' || *behind == '='))
      behind++;
  return behind > p && is_end(behind, end) &&
         (has_inlined || !is_open(behind, end));
}

// Returns whether the last template argument is std::allocator. Another
// allocator may allocate what it wants.
static bool has_std_allocator(const char *p, const char *end) {
  for (const char *next; (next = argument_end(p, end)); p = next + 1) {
    if (next < end)
      continue;
    p += *p == ' ';
    const char *name = skip_std(p, end);
    return name && begins(name, end, "allocator<");
  }
  return false;
}

// Finds the function whose name begins at p.
static enum block_type find_at(const char *p, const char *end, bool has_inlined,
                               struct block_type_name *type) {
  const char *name = skip_std(p, end);
  for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++) {
    const char *args = name + strlen(functions[i].name);
    if (!begins(name, end, functions[i].name) || args >= end || is_word(*args))
      continue;
    if (functions[i].contents == NOTHING && !functions[i].method)
      return is_end(args, end) ? BLOCK_TYPE_CALLER : BLOCK_TYPE_UNKNOWN;
    if (*args == '[')
      args = skip_brackets(args, end);
    const char *behind =
        args && args < end && *args == '<' ? skip_brackets(args, end) : NULL;
    if (!behind ||
        !(functions[i].method
              ? is_method(behind, end, functions[i].method, has_inlined)
              : is_end(behind, end)))
      continue;
    if (functions[i].contents == NOTHING)
      return BLOCK_TYPE_CALLER;
    if (functions[i].contents == OTHERS && !has_inlined)
      return BLOCK_TYPE_UNKNOWN;
    const bool is_string = strcmp(functions[i].name, "basic_string") == 0;
    if ((is_string || strcmp(functions[i].name, "_Vector_base") == 0) &&
        !has_std_allocator(args + 1, behind - 1))
      return BLOCK_TYPE_UNKNOWN;
    const char *type_end = argument_end(args + 1, behind - 1);
    if (!type_end)
      return BLOCK_TYPE_UNKNOWN;
    // std::make_unique<T[]> allocates blocks of T.
    if (begins(type_end - 2, end, "[]"))
      type_end -= 2;
    *type = (struct block_type_name){args + 1, (size_t)(type_end - args - 1)};
    return is_string ? BLOCK_TYPE_STRING : BLOCK_TYPE_FOUND;
  }
  return BLOCK_TYPE_UNKNOWN;
}

static bool is_allocator(const char *name, const char *end) {
  for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++)
    if (begins(name, end, allocators[i]) &&
        is_end(name + strlen(allocators[i]), end))
      return true;
  return begins(name, end, "operator new(") ||
         begins(name, end, "operator new[](");
}

enum block_type block_type_of(const char *name, bool has_inlined,
                              struct block_type_name *type) {
  const char *end = name + strlen(name);
  // The plugin has put the call into a scope with the type (pass/BlockTypes.h).
  if (mprof_is_type_scope(name)) {
    name += strlen(MPROF_TYPE_SCOPE);
    *type = (struct block_type_name){name, (size_t)(end - name)};
    return BLOCK_TYPE_FOUND;
  }
  if (is_allocator(name, end))
    return BLOCK_TYPE_CALLER;
  // A template's result type precedes its name.
  for (const char *p = name; p && p < end;) {
    if (p == name || p[-1] == ' ' || p[-1] == '*' || p[-1] == '&') {
      const enum block_type found = find_at(p, end, has_inlined, type);
      if (found != BLOCK_TYPE_UNKNOWN)
        return found;
    }
    if (*p == '(') { // the parameters, or "(anonymous namespace)"
      p = skip_brackets(p, end);
      if (!p || !begins(p, end, "::"))
        return BLOCK_TYPE_UNKNOWN;
    } else {
      p = *p == '<' || *p == '[' || *p == '{' ? skip_brackets(p, end) : p + 1;
    }
  }
  return BLOCK_TYPE_UNKNOWN;
}

// --- the form for readers ---

struct writer {
  char *to;
  size_t length;
  bool is_whole;
};

static void put(struct writer *w, const char *text, size_t length) {
  memcpy(w->to + w->length, text, length);
  w->length += length;
}

// Returns whether the argument is the default of a template of the C++ library.
// first: its first argument.
static bool is_default(const char *p, const char *end, const char *first,
                       size_t first_length) {
  static const char *const of_first[] = {"char_traits<", "less<", "hash<",
                                         "equal_to<", "default_delete<"};
  if (begins(p, end, "(__gnu_cxx::_Lock_policy)"))
    return true;
  const char *name = skip_std(p, end);
  if (!name)
    return false;
  // The type of the elements is always that of the container.
  if (begins(name, end, "allocator<"))
    return skip_brackets(name + strlen("allocator"), end) == end;
  for (size_t i = 0; i < sizeof of_first / sizeof *of_first; i++) {
    const char *argument = name + strlen(of_first[i]);
    if (!begins(name, end, of_first[i]) ||
        (size_t)(end - argument) <= first_length ||
        memcmp(argument, first, first_length) != 0)
      continue;
    argument += first_length;
    argument += *argument == ' ';
    return argument + 1 == end;
  }
  return false;
}

static void write_type(struct writer *w, const char *p, const char *end);

// Writes the template arguments between p and end.
static void write_arguments(struct writer *w, const char *p, const char *end,
                            bool is_std) {
  const char *first = p;
  size_t first_length = 0;
  for (const char *next; (next = argument_end(p, end)); p = next + 1) {
    const char *word = p + (p < end && *p == ' '), *last = next;
    while (last > word && last[-1] == ' ') // that of "> >"
      last--;
    if (p == first)
      first_length = (size_t)(last - first);
    if (p == first || w->is_whole || !is_std ||
        !is_default(word, last, first, first_length)) {
      if (p > first)
        put(w, p - 1, (size_t)(word - p + 1)); // the comma
      write_type(w, word, last);
    }
    if (next >= end)
      break;
  }
}

// Skips an inline namespace of std, such as "__cxx11::" and "__1::".
static const char *skip_inline(const char *p, const char *end) {
  static const char *const namespaces[] = {"__cxx11::", "__1::", "__ndk1::"};
  for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
    if (begins(p, end, namespaces[i]))
      return p + strlen(namespaces[i]);
  return p;
}

static void write_type(struct writer *w, const char *p, const char *end) {
  static const char string[] = "std::basic_string<char>";
  const size_t begin = w->length;
  bool is_std = false;
  while (p < end) {
    if (p[-1] != ':' && !is_word(p[-1]) && begins(p, end, "std::")) {
      put(w, p, strlen("std::"));
      p = skip_inline(p + strlen("std::"), end);
      is_std = true;
      continue;
    }
    const char *behind = *p == '<' ? skip_brackets(p, end) : NULL;
    if (behind) {
      put(w, "<", 1);
      write_arguments(w, p + 1, behind - 1, is_std);
      put(w, ">", 1);
      const size_t n = sizeof string - 1;
      if (!w->is_whole && w->length - begin >= n &&
          memcmp(w->to + w->length - n, string, n) == 0) {
        w->length -= n;
        put(w, "std::string", strlen("std::string"));
      }
      p = behind;
    } else {
      put(w, p++, 1);
    }
  }
}

void block_type_text(char *to, struct block_type_name type, bool is_whole) {
  struct writer w = {.to = to, .is_whole = is_whole};
  const char *end = type.text + type.length;
  while (end > type.text && end[-1] == ' ')
    end--;
  write_type(&w, type.text, end);
  to[w.length] = '\0';
}
