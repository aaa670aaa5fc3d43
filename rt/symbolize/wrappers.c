// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the names of wrappers: functions that the program marks with
// mprof_wrapper. The program's modules register these names. Writers of
// profiles omit the frames of wrappers from stacks.

#include "symbolize/wrappers.h"

#include "sys/assert.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <string.h>

enum { NAME_SIZE = MPROF_WRAPPER_NAME };

// Linked list of the nodes with names that translation units have registered;
// guarded by registry_lock.
static struct __mprof_wrappers *modules;

// Constructors of the program call this function. If the recursion guard is
// already set, a signal handler has interrupted the runtime and is loading a
// library. In this case the library is not registered, because the interrupted
// code may hold registry_lock.
void __mprof_register_wrappers(struct __mprof_wrappers *node) {
  if (!mprof_guard_enter())
    return;
  mprof_lock_acquire(&mprof_registry_lock);
  node->next = modules;
  modules = node;
  mprof_lock_release(&mprof_registry_lock);
  mprof_guard_leave();
}

static bool is_known_locked(const char *name) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_REGISTRY));
  for (const struct __mprof_wrappers *m = modules; m != NULL; m = m->next)
    for (size_t i = 0; i < m->count; i++)
      if (strcmp(m->names[i], name) == 0)
        return true;
  return false;
}

// Copies the names in `node` that no other registered node has. The names are
// needed after the module is unloaded, because the profile still has stacks of
// the module. The names are also needed for the last profile, which is written
// after the program itself has unregistered its names.
//
// The copies are never freed, but no name is copied twice, even if a library is
// loaded many times. The copies are not in persistent memory, because
// persistent memory is emptied in a forked child.
static void keep_names_locked(const struct __mprof_wrappers *node) {
  size_t count = 0, text = 0;
  for (size_t i = 0; i < node->count; i++)
    if (!is_known_locked(node->names[i])) {
      count++;
      text += strlen(node->names[i]) + 1;
    }
  if (count == 0)
    return;
  struct __mprof_wrappers *kept =
      mprof_os_map(sizeof(*kept) + count * sizeof(char *) + text);
  if (kept == NULL)
    return;
  const char **names = (const char **)(kept + 1);
  char *p = (char *)(names + count);
  for (size_t i = 0; i < node->count; i++)
    if (!is_known_locked(node->names[i])) {
      size_t len = strlen(node->names[i]) + 1;
      memcpy(p, node->names[i], len);
      names[kept->count++] = p;
      p += len;
    }
  kept->names = names;
  kept->next = modules;
  modules = kept;
}

void __mprof_unregister_wrappers(struct __mprof_wrappers *node) {
  bool entered = mprof_guard_enter();
  mprof_lock_acquire(&mprof_registry_lock);
  for (struct __mprof_wrappers **p = &modules; *p != NULL; p = &(*p)->next)
    if (*p == node) {
      *p = node->next;
      keep_names_locked(node);
      break;
    }
  mprof_lock_release(&mprof_registry_lock);
  if (entered)
    mprof_guard_leave();
}

void mprof_each_wrapper(void (*fn)(const char *name, void *arg), void *arg) {
  mprof_lock_acquire(&mprof_registry_lock);
  for (const struct __mprof_wrappers *m = modules; m != NULL; m = m->next)
    for (size_t i = 0; i < m->count; i++)
      fn(m->names[i], arg);
  mprof_lock_release(&mprof_registry_lock);
}

// --- names ---

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

static bool starts_with(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

// Copies the name of the operator at p into t, and returns the end of this
// name. Operators are copied separately, because characters such as '<' and '('
// would otherwise begin template arguments or parameters.
static const char *copy_operator(struct mprof_text *t, const char *p) {
  const char *end = p + strlen("operator");
  if (starts_with(end, "()"))
    end += 2;
  else if (*end == ' ') // operator new[], operator bool
    end += strcspn(end, "(");
  else
    end += strspn(end, "<>=!+-*/%&|^~,[]");
  mprof_text_mem(t, p, (size_t)(end - p));
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

// Copies a demangled name into t without its result type, template arguments
// and parameters. Also drops the suffixes that the compiler adds to mark an ABI
// or a part of a function. For example:
//   "long *ns::box<int>::make[abi:x]<long>(int)"  ->  "ns::box::make"
static void simplify(struct mprof_text *t, const char *name) {
  static const char anonymous[] = "(anonymous namespace)";
  int depth = 0; // number of open '<'
  const char *p = name;
  while (*p != '\0') {
    bool begins_word = p == name || !is_word(p[-1]);
    const char *skipped;
    if (depth == 0 && starts_with(p, anonymous)) {
      mprof_text_str(t, anonymous);
      p += sizeof(anonymous) - 1;
      continue;
    }
    if (depth == 0 && begins_word && starts_with(p, "operator") &&
        !is_word(p[strlen("operator")])) {
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

struct query {
  const char *name;
  size_t len;
  bool is_found;
};

// Returns true only if the simplified form of a wrapper's name ends differently
// from the name in q. This fast check must reject most pairs of names, because
// there are many pairs. A profile has thousands of functions. A wrapper that is
// inline in a header registers its name once for each source file.
static bool ends_otherwise(const struct query *q, const char *name) {
  enum { TAIL = 3 };
  size_t len = strlen(name);
  if (len < TAIL || q->len < TAIL || strchr(name, '.') != NULL)
    return false;
  const char *tail = name + len - TAIL;
  for (int i = 0; i < TAIL; i++)
    if (!is_word(tail[i]))
      return false;
  return memcmp(tail, q->name + q->len - TAIL, TAIL) != 0;
}

static void match(const char *name, void *arg) {
  struct query *q = arg;
  if (q->is_found || ends_otherwise(q, name))
    return;
  char plain[NAME_SIZE] = "";
  struct mprof_text t = MPROF_TEXT(plain);
  simplify(&t, name);
  if (strcmp(q->name, plain) == 0)
    q->is_found = true;
}

bool mprof_wrapper_name(struct mprof_text *out, const char *function) {
  char plain[NAME_SIZE] = "";
  struct mprof_text t = MPROF_TEXT(plain);
  simplify(&t, function);
  struct query q = {.name = plain, .len = t.len};
  // Do not look up a truncated name, because another function could have the
  // same truncated name.
  if (t.len > 0 && t.len < sizeof(plain) - 1)
    mprof_each_wrapper(match, &q);
  if (q.is_found && out != NULL)
    mprof_text_str(out, plain);
  return q.is_found;
}

bool mprof_is_wrapper(const char *function) {
  return mprof_wrapper_name(NULL, function);
}

// --- regular expressions ---

void mprof_wrapper_pattern(struct mprof_text *out, const char *name) {
  static const char arguments[] = "(<.*>)?", tag[] = "(\\[abi:.*\\])?";
  char plain[NAME_SIZE] = "";
  struct mprof_text t = MPROF_TEXT(plain);
  simplify(&t, name);
  if (t.len == 0 || t.len == sizeof(plain) - 1)
    return;
  for (const char *p = plain; *p != '\0'; p++) {
    if (starts_with(p, "::") && p > plain && is_word(p[-1]))
      mprof_text_str(out, arguments);
    if (strchr("\\.+*?()|[]{}^$", *p) != NULL)
      mprof_text_str(out, "\\");
    mprof_text_mem(out, p, 1);
  }
  mprof_text_str(out, tag);
  mprof_text_str(out, arguments);
}
