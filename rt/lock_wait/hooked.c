// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hooked functions: the kinds of their waits, which the option block_kinds
// selects, their addresses, names and switches; see hooked.h. Instrumented code
// tells the address of each function that it calls, with the function's switch.

#include "lock_wait/hooked.h"

#include "process/modules.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread/threads.h"
#include "unwind/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#pragma weak dlsym // static programs have no dlsym

// --- kinds of waits ---

enum group { sync, try, calls };

static const struct {
  char name[16];
  enum group group;
} kinds[MPROF_KIND_COUNT] = {
#define MPROF_KIND(Name, Group) {#Name, Group},
#include "mprof/hooks.def"
};
#define MPROF_KIND(Name, Group) MPROF_FITS(#Name, kinds->name)
#include "mprof/hooks.def"

static bool is_group_of(const char *s, size_t len, enum group g) {
  static const char *const names[] = {"sync", "try", "calls"};
  return strlen(names[g]) == len && memcmp(names[g], s, len) == 0;
}

// The kinds of the group sync, for which threads wait in the table of waiters.
// Only for these, a release has anything to do.
static const uint64_t sync_kinds = 0
#define MPROF_KIND(Name, Group) | (uint64_t)(Group == sync) << MPROF_KIND_##Name
#include "mprof/hooks.def"
    ;

static uint64_t bits_of(const char *s, size_t len) {
  uint64_t bits = 0;
  bool is_all = len == 3 && memcmp(s, "all", 3) == 0;
  for (int i = 0; i < MPROF_KIND_COUNT; i++)
    if (is_all || is_group_of(s, len, kinds[i].group) ||
        (strlen(kinds[i].name) == len && memcmp(kinds[i].name, s, len) == 0))
      bits |= UINT64_C(1) << i;
  return bits;
}

static void report(const char *s, size_t len) {
  char line[512];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, "unknown kind '");
  mprof_text_mem(&t, s, len < 80 ? len : 80);
  mprof_text_str(&t, len < 80 ? "' in option block_kinds"
                              : "...' in option block_kinds");
  mprof_text_str(&t, "; the groups are sync, calls and all; the kinds are");
  for (int i = 0; i < MPROF_KIND_COUNT; i++) {
    mprof_text_str(&t, i == 0 ? " " : ", ");
    mprof_text_str(&t, kinds[i].name);
  }
  mprof_message(line);
}

const char *mprof_kind_name(enum mprof_kind kind) {
  static const char names[][9] = {"mprof",
#define MPROF_STATE(Name) #Name,
                                  MPROF_STATES
#undef MPROF_STATE
  };
  const unsigned number = (unsigned)kind;
  if (number < MPROF_KIND_COUNT)
    return kinds[number].name;
  return number - MPROF_KIND_COUNT < sizeof(names) / sizeof(names[0])
             ? names[number - MPROF_KIND_COUNT]
             : "";
}

enum mprof_kind mprof_kind_of_file(int fd) {
  const long mode = mprof_sys_mode(fd, "");
  return mode < 0                         ? MPROF_KIND_io
         : S_ISSOCK(mode)                 ? MPROF_KIND_net
         : S_ISREG(mode) || S_ISBLK(mode) ? MPROF_STATE_disk
                                          : MPROF_KIND_io;
}

enum mprof_kind mprof_kind_of_syscall(int number) {
  switch (number) {
  case SYS_read:
  case SYS_pread64:
  case SYS_readv:
  case SYS_preadv:
  case SYS_preadv2:
  case SYS_write:
  case SYS_pwrite64:
  case SYS_writev:
  case SYS_pwritev:
  case SYS_pwritev2:
  case SYS_sendfile:
  case SYS_splice:
  case SYS_copy_file_range:
    return MPROF_KIND_io;
  case SYS_recvfrom:
  case SYS_recvmsg:
  case SYS_recvmmsg:
  case SYS_sendto:
  case SYS_sendmsg:
  case SYS_sendmmsg:
  case SYS_accept:
  case SYS_accept4:
  case SYS_connect:
    return MPROF_KIND_net;
#ifdef SYS_poll // only x86-64
  case SYS_poll:
  case SYS_select:
  case SYS_epoll_wait:
#endif
  case SYS_ppoll:
  case SYS_pselect6:
  case SYS_epoll_pwait:
  case SYS_epoll_pwait2:
    return MPROF_KIND_poll;
  case SYS_nanosleep:
  case SYS_clock_nanosleep:
    return MPROF_KIND_sleep;
  case SYS_wait4:
  case SYS_waitid:
    return MPROF_KIND_child;
  case SYS_fsync:
  case SYS_fdatasync:
  case SYS_sync:
  case SYS_syncfs:
  case SYS_sync_file_range:
  case SYS_msync:
    return MPROF_KIND_fsync;
  case SYS_flock:
  case SYS_fcntl:
    return MPROF_KIND_file;
  case SYS_msgrcv:
  case SYS_msgsnd:
  case SYS_semop:
  case SYS_semtimedop:
  case SYS_mq_timedreceive:
  case SYS_mq_timedsend:
  case SYS_rt_sigtimedwait:
  case SYS_rt_sigsuspend:
#ifdef SYS_pause // only x86-64
  case SYS_pause:
#endif
    return MPROF_KIND_ipc;
  case SYS_io_uring_enter:
    return MPROF_KIND_uring;
  case SYS_futex:
    return MPROF_KIND_futex;
  case SYS_mmap:
  case SYS_munmap:
  case SYS_mremap:
  case SYS_mprotect:
  case SYS_madvise:
  case SYS_brk:
    return MPROF_STATE_memory;
  default:
    return MPROF_STATE_syscall;
  }
}

uint64_t mprof_kinds_parse(const char *s) {
  uint64_t bits = 0;
  while (*s != '\0') {
    size_t len = strcspn(s, "+, ");
    uint64_t named = bits_of(s, len);
    bits |= named;
    if (named == 0 && len > 0)
      report(s, len);
    s += len + (s[len] != '\0');
  }
  return bits;
}

// --- addresses ---

void *mprof_hooked_functions[MPROF_HOOKED_COUNT];

// The entries are weak, because a test may be linked without some of them.
#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  extern char __mprof_##Symbol[] __attribute__((weak));
#define MPROF_WAIT(Symbol, Proto, Kind)                                        \
  extern char __mprof_##Symbol[] __attribute__((weak));
#include "mprof/hooks.def"

// Returns the address. Makes the compiler load the address into a register
// before it compares it. The linker replaces such a load by a computation that
// needs no relocation.
static inline uintptr_t loaded(const char *entry) {
  uintptr_t address = (uintptr_t)entry;
  __asm__("" : "+r"(address));
  return address;
}

// Compares with one entry after the other. The dynamic linker would have to
// relocate a table of the entries at the start of each program.
int mprof_hooked_of_entry(uintptr_t entry) {
#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  if (entry == loaded(__mprof_##Symbol))                                       \
    return MPROF_HOOKED_##Symbol;
#define MPROF_WAIT(Symbol, Proto, Kind)                                        \
  if (entry == loaded(__mprof_##Symbol))                                       \
    return MPROF_HOOKED_##Symbol;
#include "mprof/hooks.def"
  return -1;
}

// Returns the number of the function at address fn, or -1. If two functions
// have the same address, returns the first one in hooks.def.
static int hooked_at(uintptr_t fn) {
  for (int i = 0; i < MPROF_HOOKED_COUNT; i++)
    if ((uintptr_t)mprof_hooked_functions[i] == fn)
      return fn != 0 ? i : -1;
  return -1;
}

// The names stand in one constant object, and are found by their offsets. The
// dynamic linker would have to relocate a table of pointers at the start of
// each program.
static const char *symbol_at(int number) {
  static const struct names {
#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  char name_##Symbol[sizeof(#Symbol)];
#define MPROF_WAIT(Symbol, Proto, Kind) char name_##Symbol[sizeof(#Symbol)];
#include "mprof/hooks.def"
  } names = {
#define MPROF_RELEASE(Symbol, Proto, Object) #Symbol,
#define MPROF_WAIT(Symbol, Proto, Kind) #Symbol,
#include "mprof/hooks.def"
  };
  static const uint16_t offsets[] = {
#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  offsetof(struct names, name_##Symbol),
#define MPROF_WAIT(Symbol, Proto, Kind) offsetof(struct names, name_##Symbol),
#include "mprof/hooks.def"
  };
  return (const char *)&names + offsets[number];
}

// Returns whether libc has a function of this name.
static bool is_of_libc(int number) {
  static const bool is_in_libc[] = {
#define MPROF_RELEASE_OUTSIDE(Symbol, ...) false,
#define MPROF_WAIT_OUTSIDE(Symbol, ...) false,
#define MPROF_WAIT_URING(Symbol, ...) false,
#define MPROF_RELEASE(Symbol, ...) true,
#define MPROF_WAIT(Symbol, ...) true,
#include "mprof/hooks.def"
  };
  return is_in_libc[number];
}

void mprof_hooked_find_all(void) {
  const int before = errno;
  for (int i = 0; dlsym && i < MPROF_HOOKED_COUNT; i++) {
    void *none = NULL;
    if (mprof_hooked_functions[i] == NULL && is_of_libc(i))
      __atomic_compare_exchange_n(&mprof_hooked_functions[i], &none,
                                  dlsym(RTLD_DEFAULT, symbol_at(i)), false,
                                  __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  }
  errno = before;
}

// Returns the definition of the function `symbol`, whose address is `function`.
// If a program that is linked with -no-pie takes the address of a function of a
// library, the address is in the program's procedure linkage table.
static void *definition_of(void *function, const char *symbol) {
  if (function == NULL || mprof_linkage_jump(function) == NULL)
    return function;
  void *next = mprof_next_definition(symbol);
  return next != NULL ? next : function;
}

// Returns whether the functions lock, attempt and unlock are in the same
// module, or in modules of libc. The program or a preloaded library may replace
// libc's lock function by its own. That lock function may not work together
// with libc's try function, so waits for such locks are not recorded
// (foreign_kinds). Takes the loader's lock.
static bool comes_with(void *lock, void *attempt, void *unlock) {
  if (mprof_is_in_libc((uintptr_t)lock) &&
      mprof_is_in_libc((uintptr_t)attempt) &&
      mprof_is_in_libc((uintptr_t)unlock))
    return true;
  uintptr_t id = mprof_module_of(lock).id;
  return mprof_module_of(attempt).id == id && mprof_module_of(unlock).id == id;
}

#define DEFINITION(f) definition_of((void *)(f), #f)

uint64_t mprof_hooked_foreign_kinds(void) {
  uint64_t kinds = 0;
  if (!comes_with(DEFINITION(pthread_mutex_lock),
                  DEFINITION(pthread_mutex_trylock),
                  DEFINITION(pthread_mutex_unlock)))
    kinds |= MPROF_KIND_BIT(mutex);
  if (!comes_with(DEFINITION(pthread_rwlock_rdlock),
                  DEFINITION(pthread_rwlock_tryrdlock),
                  DEFINITION(pthread_rwlock_unlock)) ||
      !comes_with(DEFINITION(pthread_rwlock_wrlock),
                  DEFINITION(pthread_rwlock_trywrlock),
                  DEFINITION(pthread_rwlock_unlock)))
    kinds |= MPROF_KIND_BIT(rwlock);
  if (!comes_with(DEFINITION(pthread_spin_lock),
                  DEFINITION(pthread_spin_trylock),
                  DEFINITION(pthread_spin_unlock)))
    kinds |= MPROF_KIND_BIT(spin);
  return kinds;
}

// --- names ---
//
// In the profiles of waits, the leaf of each stack is a hooked function, such
// as pthread_mutex_lock. The hooked functions are in libc. A libc that is
// stripped or linked statically may have no symbol names, so the symbolizer may
// not find the names. Therefore hooks.def provides the names. Only the names of
// mangled functions come from the symbolizer, because the symbolizer demangles
// them.

// Functions that create threads. They are weak, so that a program is linked
// only with the libc functions that it uses. They are declared as arrays,
// because only their addresses are used, and under other names, because a
// header may declare them as functions.
#define MPROF_CREATE(Symbol, Proto)                                            \
  extern char mprof_create_##Symbol[] __asm__(#Symbol)                         \
      __attribute__((weak, visibility("default")));
#include "mprof/hooks.def"

static bool is_mangled(const char *symbol) {
  return symbol[0] == '_' && symbol[1] == 'Z';
}

static const char *symbol_of(uintptr_t op) {
  const int number = hooked_at(op);
  if (number >= 0)
    return symbol_at(number);
#define MPROF_CREATE(Symbol, Proto)                                            \
  if (op == (uintptr_t)mprof_create_##Symbol)                                  \
    return #Symbol;
#include "mprof/hooks.def"
  return NULL;
}

static const char *name_of(uintptr_t op) {
  const char *symbol = symbol_of(op);
  if (symbol != NULL)
    return is_mangled(symbol) ? NULL : symbol;
  if (op == (uintptr_t)mprof_lost_contended_runtime_lock)
    return "mprof::_LostContendedRuntimeLock";
  return NULL;
}

const char *mprof_hooked_name(mprof_pc pc) {
  return pc < 2 ? NULL : name_of(pc - mprof_op_pc(0));
}

bool mprof_hook_at(uintptr_t fn, struct mprof_hook *hook) {
  // The kinds of the functions. A release waits as little as a try.
  static const uint8_t kinds[] = {
#define MPROF_RELEASE(Symbol, Proto, Object) MPROF_KIND_try,
#define MPROF_WAIT(Symbol, Proto, Kind) MPROF_KIND_##Kind,
#include "mprof/hooks.def"
  };
  if (fn == 0)
    return false;
  int number = hooked_at(fn);
  if (number < 0)
    number = mprof_hooked_of_entry(fn);
  if (number < 0 || kinds[number] == MPROF_KIND_try)
    return false;
  *hook = (struct mprof_hook){(uintptr_t)mprof_hooked_functions[number],
                              kinds[number]};
  return true;
}

// A pseudo function that is never called. The mutex profile shows it in place
// of a stack that the runtime has dropped. Linkers merge functions with equal
// code, which would give two functions the same address. So this function has
// code that no other function has.
MPROF_NOINLINE void mprof_lost_contended_runtime_lock(void) {
  __asm__ volatile("nop\n\tnop\n\tnop");
}

// --- switches ---
//
// A thread may have read a switch just before it is set. So an entry may run
// although its kind is off, and a wait or a release may stay unrecorded
// although its kind is on. Neither does harm, because the entry does the whole
// work of the hooked function, and because waits that begin while their kind is
// off are not recorded either. A fork may happen between the two stores to a
// switch. begin_in_child (init.c) sets all switches again.

// The arrays of all loaded modules; guarded by registry_lock. A fork may happen
// while another thread changes the list, so each change is a single store, and
// the child finds a whole list.
static _Atomic(struct __mprof_switches *) modules;

// Returns whether s leads to the entry, in a process that records waits of
// `kinds`.
static bool wants_entry(const struct __mprof_switch *s, uint64_t kinds) {
  return s->kind >= MPROF_KIND_COUNT ? (kinds & sync_kinds) != 0
                                     : (kinds >> s->kind & 1) != 0;
}

// Whether an address in mprof_hooked_functions may be replaced, because the
// libraries that told it were unloaded. Until then it stays in place: at exit,
// the destructors of libraries run, too, but other threads may still call their
// functions. Guarded by registry_lock.
static bool is_replaceable[MPROF_HOOKED_COUNT];

// Returns whether the library m itself defines the function. The entries of
// libc's functions must not call it, because its locks may have another layout.
// They also call other functions of libc, such as pthread_mutex_trylock.
static bool defines(const struct __mprof_switches *m, const void *function) {
  const struct mprof_code_range own = mprof_eh_module((uintptr_t)m);
  return (uintptr_t)function - own.begin < own.end - own.begin;
}

// Tells the entry of s which function to call. Returns false if the module m of
// s has a function of its own, whose calls stay as they are. For example, a
// library may have its own pthread_mutex_lock that no other module sees, or may
// be opened with RTLD_DEEPBIND. The program's function has priority over
// functions of libraries.
static bool set_function_locked(const struct __mprof_switches *m,
                                const struct __mprof_switch *s) {
  const int number = mprof_hooked_of_entry((uintptr_t)s->entry);
  if (number < 0 || s->function == NULL ||
      (!m->is_program && is_of_libc(number) && defines(m, s->function)))
    return false;
  void **function = &mprof_hooked_functions[number];
  if (*function != s->function &&
      (*function == NULL || m->is_program || is_replaceable[number]))
    __atomic_store_n(function, s->function, __ATOMIC_RELEASE);
  if (*function == s->function)
    is_replaceable[number] = false;
  return *function == s->function;
}

static void set_switch_locked(const struct __mprof_switches *m,
                              struct __mprof_switch *s, uint64_t kinds) {
  const bool is_on = wants_entry(s, kinds) && set_function_locked(m, s);
  if (s->is_on == is_on)
    return;
  __atomic_store_n(&s->target, is_on ? s->entry : s->function,
                   __ATOMIC_RELEASE);
  __atomic_store_n(&s->is_on, is_on, __ATOMIC_RELEASE);
}

static void set_module_locked(const struct __mprof_switches *m,
                              uint64_t kinds) {
  for (struct __mprof_switch *s = m->begin; s != m->end; s++)
    set_switch_locked(m, s, kinds);
}

// Sets the program's switches first, so that entries call the program's
// functions.
void mprof_switches_set_locked(uint64_t kinds) {
  for (int is_program = 1; is_program >= 0; is_program--)
    for (struct __mprof_switches *m = modules; m != NULL; m = m->next)
      if (m->is_program == (uint64_t)is_program)
        set_module_locked(m, kinds);
}

static uint64_t kinds_now(void) {
  return __atomic_load_n(&__mprof_sync_kinds, __ATOMIC_RELAXED);
}

static bool is_used_locked(const struct __mprof_switch *s) {
  for (struct __mprof_switches *m = modules; m != NULL; m = m->next)
    for (struct __mprof_switch *t = m->begin; t != m->end; t++)
      if (t->entry == s->entry && t->function == s->function)
        return true;
  return false;
}

// Marks the addresses of functions that only the module m has told. The unload
// of m may also unload the functions. A function of the same name as one of
// libc's may be in another library, too.
static void forget_functions_locked(const struct __mprof_switches *m) {
  for (struct __mprof_switch *s = m->begin; s != m->end; s++) {
    const int number = mprof_hooked_of_entry((uintptr_t)s->entry);
    if (number >= 0 && mprof_hooked_functions[number] == s->function &&
        !is_used_locked(s))
      is_replaceable[number] = true;
  }
}

// If the recursion guard is already set, a signal handler has interrupted the
// runtime and is loading a library. In this case the library is not registered,
// because the interrupted code may hold registry_lock. Its waits are then not
// recorded.
void __mprof_register_switches(struct __mprof_switches *node) {
  if (!mprof_guard_enter())
    return;
  mprof_lock_acquire(&mprof_registry_lock);
  node->next = modules;
  modules = node;
  const uint64_t kinds = kinds_now();
  // The program's functions replace those of libraries that came before.
  if (node->is_program)
    mprof_switches_set_locked(kinds);
  else
    set_module_locked(node, kinds);
  mprof_lock_release(&mprof_registry_lock);
  mprof_guard_leave();
}

static void unlink_module(const struct __mprof_switches *node) {
  if (modules == node)
    modules = node->next;
  for (struct __mprof_switches *m = modules; m != NULL; m = m->next)
    if (m->next == node)
      m->next = node->next;
}

// If the guard is already set, a signal handler has interrupted the runtime and
// is unloading a library. The interrupted code may hold registry_lock, or a
// lock that comes after it. In this case the library is removed without the
// lock, because its memory is about to be unmapped, and each change of the list
// is a single store.
void __mprof_unregister_switches(struct __mprof_switches *node) {
  enum { PATIENCE_MS = 1000 };
  const bool entered = mprof_guard_enter();
  bool locked = entered;
  if (entered)
    mprof_lock_acquire(&mprof_registry_lock);
  else if (mprof_tls.held == 0)
    locked = mprof_lock_acquire_within(&mprof_registry_lock, PATIENCE_MS);
  unlink_module(node);
  if (locked) {
    forget_functions_locked(node);
    mprof_lock_release(&mprof_registry_lock);
  }
  if (entered)
    mprof_guard_leave();
}
