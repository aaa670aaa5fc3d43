// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the names of wrappers: functions that the program marks with
// mprof_wrapper. The program's modules register these names. Writers of
// profiles omit the frames of wrappers from stacks.

#include "symbolize/wrappers.h"

#include "symbolize/short_name.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
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
    if (!mprof_is_word(tail[i]))
      return false;
  return memcmp(tail, q->name + q->len - TAIL, TAIL) != 0;
}

static void match(const char *name, void *arg) {
  struct query *q = arg;
  if (q->is_found || ends_otherwise(q, name))
    return;
  char plain[NAME_SIZE] = "";
  struct mprof_text t = MPROF_TEXT(plain);
  mprof_short_name(&t, name, MPROF_NAME_IS_CXX);
  if (strcmp(q->name, plain) == 0)
    q->is_found = true;
}

bool mprof_wrapper_name(struct mprof_text *out, const char *function) {
  if (__atomic_load_n(&modules, __ATOMIC_RELAXED) == NULL)
    return false; // as in most programs
  char plain[NAME_SIZE] = "";
  struct mprof_text t = MPROF_TEXT(plain);
  mprof_short_name(&t, function, MPROF_NAME_IS_CXX);
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
  return mprof_is_type_scope(function) || mprof_wrapper_name(NULL, function);
}

// --- regular expressions ---

void mprof_wrapper_pattern(struct mprof_text *out, const char *name) {
  static const char arguments[] = "(<.*>)?", tag[] = "(\\[abi:.*\\])?";
  char plain[NAME_SIZE] = "";
  struct mprof_text t = MPROF_TEXT(plain);
  mprof_short_name(&t, name, MPROF_NAME_IS_CXX);
  if (t.len == 0 || t.len == sizeof(plain) - 1)
    return;
  for (const char *p = plain; *p != '\0'; p++) {
    if (strncmp(p, "::", 2) == 0 && p > plain && mprof_is_word(p[-1]))
      mprof_text_str(out, arguments);
    if (strchr("\\.+*?()|[]{}^$", *p) != NULL)
      mprof_text_str(out, "\\");
    mprof_text_mem(out, p, 1);
  }
  mprof_text_str(out, tag);
  mprof_text_str(out, arguments);
}

// --- the frames that readers omit ---
//
// Makes the regular expression for the functions whose frames readers of a
// profile omit. The expression matches the program's wrappers. For heap
// profiles it also matches the runtime's functions, allocation functions, and
// the helpers in C++ libraries that call allocation functions.
//
// The expression does not match functions that lock or wait. The stack of a
// wait begins with such a function, and readers must show this function.

// The part of the expression that matches allocation functions. Readers match
// the expression with the whole name of a function, without parameters. Readers
// drop a matching frame and all frames between this frame and the leaf. So the
// expression does not match all functions of a library. Some functions of
// std::allocator_traits call constructors of the program, whose frames must
// stay.
static const char allocating[] =
#define ALLOC(Symbol) #Symbol "|"
#define REALLOC(Symbol) #Symbol "|"
#define DUP(Symbol) #Symbol "|"
#define FREE(Symbol)
#define DELETE(Symbol)
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr) Rule(Symbol)
#include "mprof/hooks.def"
#undef ALLOC
#undef REALLOC
#undef DUP
#undef FREE
#undef DELETE
    "operator new(\\[\\])?|"
    // The full name of a template function begins with its result type. This
    // part matches a result type that has no template arguments.
    "([^<]* )?(std::(__1::|__cxx11::|__detail::)?|__gnu_cxx::)("
    "(__new_allocator|new_allocator|allocator|allocator_traits)(<.*>)?::"
    "allocate(_at_least)?|"
    "_Vector_base(<.*>)?::_M_allocate|_(Rb_tree|List_base)(<.*>)?::_M_get_node|"
    "_Deque_base(<.*>)?::_M_allocate_(node|map)|"
    "_Hashtable(_alloc)?(<.*>)?::_M_allocate_buckets|"
    "basic_string(<.*>)?::_M_create|vector(<.*>)?::__vallocate|"
    "__allocate_(guarded|at_least)|__libcpp_(allocate|operator_new))"
    "(\\[abi:[^]]*\\])*(<.*>)?|__mprof_.*|" MPROF_TYPE_SCOPE ".*";

static void add_wrapper(const char *name, void *arg) {
  struct mprof_text *t = arg;
  size_t before = t->len;
  if (before > 0)
    mprof_text_str(t, "|");
  size_t start = t->len;
  mprof_wrapper_pattern(t, name);
  // Remove the new expression if it is empty or truncated. An empty expression
  // would match other functions, and a truncated expression may be invalid.
  if (t->len == start || t->len == t->cap - 1)
    t->len = before;
}

void mprof_drop_frames(struct mprof_text *t, bool allocators) {
  if (allocators)
    mprof_text_str(t, allocating);
  mprof_each_wrapper(add_wrapper, t);
}
