// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hooked functions that unlock or may wait: the kinds of their waits, their
// addresses, their names, and their switches. mprof/hooks.def lists them.

#ifndef MPROF_RT_LOCK_WAIT_HOOKED_H
#define MPROF_RT_LOCK_WAIT_HOOKED_H

#include "sys/abi_words.h"
#include "sys/base.h"

// --- kinds of waits ---

// Kinds that the option block_kinds cannot name. `disk` is the kind of a wait
// in read or a similar call, if the file is a regular file or a disk; waits of
// sockets have the kind net, and others the kind io. The rest are states of
// threads in the wall profile: runnable without a processor; in a page fault
// that waits, such as for a disk; in mmap or a similar call (memory); in
// another system call; stopped by a signal or a debugger; or waiting at an
// unknown place.
#define MPROF_STATES                                                           \
  MPROF_STATE(disk)                                                            \
  MPROF_STATE(running)                                                         \
  MPROF_STATE(runnable)                                                        \
  MPROF_STATE(fault)                                                           \
  MPROF_STATE(memory)                                                          \
  MPROF_STATE(syscall)                                                         \
  MPROF_STATE(stopped)                                                         \
  MPROF_STATE(waiting)

// The kinds of waits that the block profile distinguishes. The option
// block_kinds selects the kinds to record. A set of kinds is a word in which
// bit number `kind` is 1 for each kind of the set.
enum mprof_kind {
#define MPROF_KIND(Name, Group) MPROF_KIND_##Name,
#include "mprof/hooks.def"
  MPROF_KIND_COUNT,
  // A wait for one of the profiler's own locks. The option block_kinds cannot
  // name this kind.
  MPROF_KIND_own = MPROF_KIND_COUNT,
#define MPROF_STATE(Name) MPROF_STATE_##Name,
  MPROF_STATES
#undef MPROF_STATE
};

#define MPROF_KIND_BIT(Name) (UINT64_C(1) << MPROF_KIND_##Name)

// Returns the set of the kinds that s names. s is a list of names of kinds and
// of groups, which are separated by '+', ',' or a space. Reports each unknown
// name on stderr and skips it.
uint64_t mprof_kinds_parse(const char *s);
// Returns the name of a kind of waits, as the option block_kinds spells it, or
// of a state.
const char *mprof_kind_name(enum mprof_kind kind);
// Returns the kind of a wait in read or a similar call, by the type of the file
// fd: net, disk or io.
enum mprof_kind mprof_kind_of_file(int fd);
// Returns the kind or state of a thread that waits in the system call with this
// number.
enum mprof_kind mprof_kind_of_syscall(int number);

// --- addresses ---
//
// The entries call the hooked functions by their addresses and not by their
// names. A reference by name would make the dynamic linker look up the function
// at start, in each program, although most programs use only some of these
// functions.

enum mprof_hooked {
#define MPROF_RELEASE(Symbol, Proto, Object) MPROF_HOOKED_##Symbol,
#define MPROF_WAIT(Symbol, Proto, Kind) MPROF_HOOKED_##Symbol,
#include "mprof/hooks.def"
  MPROF_HOOKED_COUNT
};

// The address of each function, or NULL. An address is set before the switch of
// the function first leads to its entry, so it is never NULL in an entry.
// Written under registry_lock, and by mprof_hooked_find_all. Hidden, so that an
// entry jumps to the function by a single instruction.
extern MPROF_HIDDEN void *mprof_hooked_functions[MPROF_HOOKED_COUNT];

// Evaluates to the hooked function f, for a call or for its address. The
// address may change when a library is loaded. So code that needs it twice must
// load it once, with LOAD_HOOKED.
#define HOOKED(f) HOOKED_(f)
#define HOOKED_(f) ((HOOKED_TYPE(f))mprof_hooked_functions[MPROF_HOOKED_##f])
#define HOOKED_TYPE(f) __typeof__(&f)
#define LOAD_HOOKED(f) LOAD_HOOKED_(f)
#define LOAD_HOOKED_(f)                                                        \
  ((HOOKED_TYPE(f))__atomic_load_n(&mprof_hooked_functions[MPROF_HOOKED_##f],  \
                                   __ATOMIC_RELAXED))

// Returns the number (enum mprof_hooked) of the function whose entry is
// `entry`, or -1.
int mprof_hooked_of_entry(uintptr_t entry);
// Finds the addresses of all functions that are in libc. Afterwards
// mprof_hook_at also knows the functions that only uninstrumented code calls.
// Takes the loader's lock. Call while no lock is held.
void mprof_hooked_find_all(void);
// Returns the set of the kinds of locks whose lock, try and unlock functions
// are in different modules. Takes the loader's lock.
uint64_t mprof_hooked_foreign_kinds(void);

// --- names ---

// Returns the address to store as the leaf of a stack, if the leaf is the
// hooked function at address op. Addresses in stacks are return addresses, so
// readers and mprof_symbolize subtract 1 from each of them. Therefore the
// result is op + 1.
static inline mprof_pc mprof_op_pc(uintptr_t op) { return op + 1; }
// A pseudo function for contention for the profiler's own locks. If the real
// stack of such an event is unknown, this function is the only frame of the
// recorded stack. (Go: _LostContendedRuntimeLock)
void mprof_lost_contended_runtime_lock(void);
// Returns the name of the hooked function or pseudo function that the address
// pc stands for in a recorded stack (mprof_op_pc). Returns NULL if pc belongs
// to no such function, or if the name of the function is mangled.
const char *mprof_hooked_name(mprof_pc pc);

// A hooked function that waits: its address, and its enum mprof_kind.
struct mprof_hook {
  uintptr_t op;
  uint8_t kind;
};
// Finds the hooked function whose address is fn, or whose entry has the address
// fn. (The entry of f is the runtime's function __mprof_f.) Returns false if fn
// is neither, or if the hooked function does not wait.
bool mprof_hook_at(uintptr_t fn, struct mprof_hook *hook);

// --- switches ---
//
// Rewritten code calls a hooked function f through a switch, which leads to f
// itself while the runtime records no waits of its kind. So rewritten code runs
// no code of the runtime then. Each executable or library has an array of
// switches, one for each such function that it calls. Its constructor registers
// the array.

// The switch of a hooked function, and the switches of an executable or
// library; hooks.def explains the fields. Both are guarded by registry_lock,
// but sites read target and is_on without it.
struct __mprof_switch {
#define MPROF_SWITCH_FIELD(Type, Name) Type Name;
#include "mprof/hooks.def"
};
struct __mprof_switches {
#define MPROF_SWITCHES_FIELD(Type, Name) Type Name;
#include "mprof/hooks.def"
};
// Begins to set the switches of a module. Called by the module's constructor.
MPROF_PUBLIC void __mprof_register_switches(struct __mprof_switches *node);
// Ends it. Called by the last destructor of a library.
MPROF_ENTRY void __mprof_unregister_switches(struct __mprof_switches *node);

// Sets all switches, so that waits of the given kinds are recorded. Call with
// registry_lock held, or at start while no other thread runs.
void mprof_switches_set_locked(uint64_t kinds);

// --- names of locks (lock_names.c) ---
//
// The names that the program has given to its locks with mprof_name_lock.
// Reports show the name and the address of a lock. If a lock has no name,
// reports show only its address. A forked child keeps the names, because it has
// the same locks as its parent.

struct mprof_text;

#define MPROF_LOCK_NAME 64 // size of a name in bytes, including the final 0

// Copies the name of the lock at address, and returns true. Returns false if
// the lock has no name; takes names_lock only if any lock has one.
bool mprof_lock_name(uintptr_t address, char name[MPROF_LOCK_NAME]);
// Appends the text for the lock at address to t. The text is "NAME (0x7f...)",
// or "0x7f..." if the lock has no name. Takes names_lock.
void mprof_lock_label(struct mprof_text *t, uintptr_t address);
// Resets names_lock in a forked child, and keeps the names.
void mprof_lock_names_reset(void);

#endif // MPROF_RT_LOCK_WAIT_HOOKED_H
