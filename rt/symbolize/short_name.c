// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shortens demangled names of functions; see short_name.h.

#include "symbolize/short_name.h"

#include <string.h>

bool mprof_is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

static bool starts_with(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

// Returns the number of characters of the operator at p, such as "<<" or "()".
// A name is followed by its parameters, template arguments or ABI tags, so
// "<<<int>" is the operator "<<", and "<<int>" is the operator "<".
static size_t operator_length(const char *p) {
  static const char symbols[][4] = {
      "()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=",
      "==", "!=", "&&",  "||",  "++",  "--",  "+=", "-=", "*=", "/=",
      "%=", "^=", "&=",  "|=",  "->",  "<",   ">",  "=",  "!",  "+",
      "-",  "*",  "/",   "%",   "&",   "|",   "^",  "~",  ","};
  for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
    const size_t len = strlen(symbols[i]);
    if (starts_with(p, symbols[i]) && strchr("(<[ ", p[len]) != NULL)
      return len;
  }
  return 0;
}

// Copies the name of the operator at p into t, and returns the end of this
// name. Operators are copied separately, because characters such as '<' and '('
// would otherwise begin template arguments or parameters, and because a name
// such as "operator bool" contains a space.
static const char *copy_operator(struct mprof_text *t, const char *p) {
  const char *end = p + strlen("operator");
  mprof_text_mem(t, p, (size_t)(end - p));
  if (*end != ' ' && *end != '"') {
    const size_t len = operator_length(end);
    mprof_text_mem(t, end, len);
    // "operator< <int>" has a space before its arguments.
    return end + len + (len > 0 && end[len] == ' ');
  }
  int depth = 0; // number of open '<'
  for (; *end != '\0' && (depth > 0 || *end != '('); end++) {
    depth += *end == '<';
    if (depth == 0)
      mprof_text_mem(t, end, 1);
    depth -= *end == '>' && depth > 0;
  }
  return end;
}

// Returns a pointer behind the parenthesis that closes the parenthesis at p. If
// no parenthesis closes it, returns the end of the string.
static const char *skip_parentheses(const char *p) {
  int open = 0;
  do {
    open += *p == '(';
    open -= *p == ')';
    p++;
  } while (open > 0 && *p != '\0');
  return p;
}

// p points to the parenthesis that begins a list of parameters. If the list
// belongs to an enclosing function, as in "f(int)::g", returns a pointer behind
// the list. Otherwise returns NULL.
static const char *skip_enclosing(const char *p) {
  p = skip_parentheses(p);
  if (starts_with(p, " const"))
    p += strlen(" const");
  return starts_with(p, "::") ? p : NULL;
}

// Returns a pointer behind "decltype(...)" or "decltype (...)" at p, or NULL if
// no decltype begins at p.
static const char *skip_decltype(const char *p) {
  static const char word[] = "decltype";
  if (!starts_with(p, word))
    return NULL;
  p += sizeof(word) - 1;
  p += *p == ' ';
  return *p == '(' ? skip_parentheses(p) : NULL;
}

void mprof_short_name(struct mprof_text *t, const char *name) {
  static const char anonymous[] = "(anonymous namespace)";
  int depth = 0; // number of open '<'
  const char *p = name;
  while (*p != '\0') {
    bool begins_word = p == name || !mprof_is_word(p[-1]);
    const char *skipped;
    if (depth == 0 && starts_with(p, anonymous)) {
      mprof_text_str(t, anonymous);
      p += sizeof(anonymous) - 1;
      continue;
    }
    if (depth == 0 && begins_word && starts_with(p, "operator") &&
        !mprof_is_word(p[strlen("operator")])) {
      p = copy_operator(t, p);
      continue;
    }
    if (depth == 0 && ((begins_word && (skipped = skip_decltype(p)) != NULL) ||
                       (*p == '(' && (skipped = skip_enclosing(p)) != NULL))) {
      p = skipped;
      continue;
    }
    if (depth == 0 && starts_with(p, "[abi:")) {
      p += strcspn(p, "]");
      p += *p == ']';
      continue;
    }
    if (depth == 0 && (*p == '(' || *p == '.' || starts_with(p, " [")))
      break;
    if (depth == 0 && *p == ' ') {
      t->len = 0; // drop the result type; its '*' or '&' is skipped below
      p += 1 + strspn(p + 1, "*& ");
      continue;
    }
    if (*p == '<')
      depth++;
    else if (*p == '>' && depth > 0)
      depth--;
    else if (depth == 0)
      mprof_text_mem(t, p, 1);
    p++;
  }
  t->buf[t->len] = '\0';
}
