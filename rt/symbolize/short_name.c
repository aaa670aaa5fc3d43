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
  while (*end != '\0') {
    // The type of a conversion may be a pointer to a function, as in
    // "operator void (*)(int)()". A space precedes its parentheses.
    if (*end == '(' && depth == 0 && end[-1] != ' ')
      break;
    const char *next = *end == '(' ? skip_parentheses(end) : end + 1;
    if (*end == '(' && depth == 0 && *next == '(')
      next = skip_parentheses(next);
    depth += *end == '<';
    if (depth == 0)
      mprof_text_mem(t, end, (size_t)(next - end));
    depth -= *end == '>' && depth > 0;
    end = next;
  }
  return end;
}

// p points to the parenthesis that begins a list of parameters. If the list
// belongs to an enclosing function, as in "f(int)::g", returns a pointer behind
// the list. Otherwise returns NULL.
static const char *skip_enclosing(const char *p) {
  static const char *const words[] = {" const", " volatile", " &&", " &",
                                      " noexcept"};
  p = skip_parentheses(p);
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]);)
    if (starts_with(p, words[i])) {
      p += strlen(words[i]);
      i = 0;
    } else {
      i++;
    }
  return starts_with(p, "::") ? p : NULL;
}

// Returns the end of the part of template arguments at p in which '<' and '>'
// are no brackets: the name of an operator, or an expression in parentheses.
// Other parts are single characters.
static const char *end_of_argument_part(const char *p) {
  static const char word[] = "operator";
  if (*p == '(')
    return skip_parentheses(p);
  if (!mprof_is_word(p[-1]) && starts_with(p, word))
    return p + sizeof(word) - 1 + operator_length(p + sizeof(word) - 1);
  return p + 1;
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

// Returns a pointer behind the brace that closes the brace at p, as in
// "{lambda(int)#1}". If no brace closes it, returns the end of the string.
static const char *skip_braces(const char *p) {
  int open = 0;
  do {
    open += *p == '{';
    open -= *p == '}';
    p++;
  } while (open > 0 && *p != '\0');
  return p;
}

// --- suffixes ---

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns len without the last suffix, such as ".cold" or ".part.0", or len if
// the len bytes at s do not end with a suffix of the compiler. in_brackets: a
// demangler has recognized the suffix. Otherwise "Socket.destroy" is a name of
// another language, not a part of a coroutine.
static size_t without_suffix(const char *s, size_t len, bool in_brackets) {
  static const struct {
    char text[12];
    bool has_number; // GCC writes ".cold", and older versions ".cold.1"
    bool in_brackets;
  } words[] = {{"cold", false, false},  {"part", true, false},
               {"isra", true, false},   {"constprop", true, false},
               {"llvm", true, false},   {"lto_priv", true, false},
               {"resume", false, true}, {"destroy", false, true},
               {"cleanup", false, true}};
  size_t end = len;
  while (end > 0 && is_digit(s[end - 1]))
    end--;
  const bool is_numbered = end < len && end > 0 && s[end - 1] == '.';
  end = is_numbered ? end - 1 : len;
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    const size_t n = strlen(words[i].text);
    if (end > n && s[end - n - 1] == '.' &&
        memcmp(s + end - n, words[i].text, n) == 0 &&
        (is_numbered || !words[i].has_number) &&
        (in_brackets || !words[i].in_brackets))
      return end - n - 1;
  }
  return len;
}

static size_t without_suffixes(const char *s, size_t len, bool in_brackets) {
  for (size_t n; (n = without_suffix(s, len, in_brackets)) != len;)
    len = n;
  return len;
}

// Returns len without suffixes in brackets, as demanglers write them:
// "f() (.part.0.cold)" and "f() [clone .cold]".
static size_t without_brackets(const char *s, size_t len) {
  static const char *const starts[] = {" (", " [clone "};
  for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
    const size_t n = strlen(starts[i]);
    size_t dot = len; // behind the opening bracket
    while (dot > n && s[dot - 1] != ' ' && s[dot - 1] != '(')
      dot--;
    if (len > 0 && s[len - 1] == (i == 0 ? ')' : ']') && dot > n &&
        memcmp(s + dot - n, starts[i], n) == 0 &&
        without_suffixes(s + dot, len - 1 - dot, true) == 0)
      return dot - n;
  }
  return len;
}

size_t mprof_name_length(const char *name, size_t len) {
  for (size_t n; len > 0; len = n) {
    n = without_brackets(name, without_suffixes(name, len, false));
    if (n == len || n == 0)
      break;
  }
  return len;
}

// --- names of Rust ---

// Returns the character that the escape at p stands for, and its length in
// *len. Returns 0 if there is no escape at p. (rustc: legacy::mangle)
static char rust_escape(const char *p, size_t *len) {
  static const struct {
    char text[6], c;
  } escapes[] = {
      {"$SP$", '@'},  {"$BP$", '*'},  {"$RF$", '&'},   {"$LT$", '<'},
      {"$GT$", '>'},  {"$LP$", '('},  {"$RP$", ')'},   {"$C$", ','},
      {"$u20$", ' '}, {"$u22$", '"'}, {"$u27$", '\''}, {"$u2b$", '+'},
      {"$u3b$", ';'}, {"$u3d$", '='}, {"$u5b$", '['},  {"$u5d$", ']'},
      {"$u7b$", '{'}, {"$u7d$", '}'}, {"$u7e$", '~'}};
  for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
    const size_t n = strnlen(escapes[i].text, sizeof(escapes[i].text));
    if (strncmp(p, escapes[i].text, n) == 0) {
      *len = n;
      return escapes[i].c;
    }
  }
  return 0;
}

size_t mprof_rust_name(char *out, const char *name, size_t len) {
  enum { HASH = 19 }; // "::h" and 16 hexadecimal digits
  if (len <= HASH || memcmp(name + len - HASH, "::h", 3) != 0)
    return 0;
  for (size_t i = len - HASH + 3; i < len; i++)
    if (!is_digit(name[i]) && (name[i] < 'a' || name[i] > 'f'))
      return 0;
  const char *end = name + len - HASH;
  char *to = out;
  for (const char *p = name; p < end;) {
    size_t n = 1;
    const bool begins = p == name || (p - name > 1 && p[-1] == ':');
    const char c = *p == '$' ? rust_escape(p, &n) : 0;
    if (c != 0) {
      *to++ = c;
    } else if (*p == '.' && p[1] == '.') {
      *to++ = ':';
      *to++ = ':';
      n = 2;
    } else if (!(begins && *p == '_' && p[1] == '$')) { // rustc adds this '_'
      *to++ = *p;
    }
    p += n;
  }
  return (size_t)(to - out);
}

// --- short names ---

// Copies the `len` bytes of the name of a C++ function into t. Returns whether
// the name has a list of parameters and nothing that C++ does not allow: a dot
// or slash, or a bracket in a place where C++ has none.
static bool shorten(struct mprof_text *t, const char *name, size_t len,
                    bool keeps_arguments) {
  static const char anonymous[] = "(anonymous namespace)";
  const size_t start = t->len;
  const char *p = name, *end = name + len, *operator_end = NULL;
  int depth = 0; // number of open '<'
  while (p < end) {
    const bool is_outside = depth == 0;
    const bool begins_word = p == name || !mprof_is_word(p[-1]);
    const char *skipped;
    if (is_outside && starts_with(p, anonymous)) {
      mprof_text_str(t, anonymous);
      p += sizeof(anonymous) - 1;
    } else if (is_outside && begins_word && starts_with(p, "operator") &&
               !mprof_is_word(p[strlen("operator")])) {
      p = operator_end = copy_operator(t, p);
    } else if (is_outside &&
               ((begins_word && (skipped = skip_decltype(p)) != NULL) ||
                (*p == '(' && p > name &&
                 (skipped = skip_enclosing(p)) != NULL))) {
      p = skipped;
    } else if (is_outside && starts_with(p, "[abi:")) {
      p += strcspn(p, "]");
      p += *p == ']';
    } else if (is_outside && *p == '{') {
      skipped = skip_braces(p);
      mprof_text_mem(t, p, (size_t)(skipped - p));
      p = skipped;
    } else if (is_outside && *p == '(') {
      return p == operator_end || (p > name && (mprof_is_word(p[-1]) ||
                                                strchr(">]}'", p[-1]) != NULL));
    } else if (is_outside &&
               (strchr("./[", *p) != NULL || (*p == '<' && p != operator_end &&
                                              (p == name || p[-1] == ' ')))) {
      return false;
    } else if (is_outside && *p == ' ') {
      t->len = start; // drop the result type; its '*' or '&' is skipped below
      p += 1 + strspn(p + 1, "*& ");
    } else {
      const char *next = is_outside ? p + 1 : end_of_argument_part(p);
      depth += *p == '<';
      if (depth == 0 || keeps_arguments)
        mprof_text_mem(t, p, (size_t)(next - p));
      depth -= *p == '>' && depth > 0 && p[-1] != '-';
      p = next;
    }
  }
  return false;
}

bool mprof_short_name(struct mprof_text *t, const char *name, unsigned form) {
  const size_t start = t->len, len = mprof_name_length(name, strlen(name));
  const bool is_cxx =
      shorten(t, name, len, (form & MPROF_NAME_KEEPS_ARGUMENTS) != 0);
  if (!is_cxx && !(form & MPROF_NAME_IS_CXX)) {
    t->len = start;
    mprof_text_mem(t, name, len);
  }
  t->buf[t->len] = '\0';
  return is_cxx;
}

bool mprof_name_is_foreign(const char *name) {
  char none[1];
  struct mprof_text t = MPROF_TEXT(none);
  return strchr(name, '<') != NULL && !mprof_short_name(&t, name, 0);
}
