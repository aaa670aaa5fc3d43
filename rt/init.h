// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's life: started by its constructor or by the first event, which
// may come earlier; started anew in a forked child; ended by its destructor.

#ifndef MPROF_RT_INIT_H
#define MPROF_RT_INIT_H

#include "base.h"
#include "fastpath.h"

#include <string.h>

// Whether events are taken. Starts the runtime if nobody has; false while that
// is under way in another frame or thread, and in a second copy of the runtime
// in the process, which leaves everything to the first.
bool mprof_init_start(void);
// Whether it will never be: this copy leaves everything to another.
bool mprof_init_is_inert(void);
// Which process this is: another number in a forked child. What a frame of the
// parent's remembers means nothing there.
extern atomic_uint mprof_epoch;
static inline uint32_t mprof_process_epoch(void) {
  return atomic_load_explicit(&mprof_epoch, memory_order_relaxed);
}
// Whether it is the process that the runtime has its books of, and not a child
// that was made without fork handlers: by vfork, _Fork or clone.
bool mprof_process_is_own(void);
// Before the program leaves the process by other ways than exit: _exit, which
// ends it, or exec, which may fail.
void mprof_write_before_end(void);
void mprof_write_before_exec(void);
extern atomic_bool mprof_is_ready; // may become false only in a forked child
static inline bool mprof_init_ready(void) {
  return mprof_likely(
             atomic_load_explicit(&mprof_is_ready, memory_order_acquire)) ||
         mprof_init_start();
}

// --- modules.c ---

// A module of the process, as far as one address in it tells.
struct mprof_module {
  uintptr_t id;         // 0 if no module holds the address
  uintptr_t start, end; // of the segment that does
  char name[64];        // its file's base name, "" for the program itself
};
// Takes the loader's lock, so only at start.
struct mprof_module mprof_module_of(void *address);
// Whether it is libstdc++ or libc++, with the operators that all expect.
static inline bool mprof_module_is_cxx_library(const struct mprof_module *m) {
  static const char *const names[] = {"libstdc++.so", "libc++.so",
                                      "libc++abi.so"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (strncmp(m->name, names[i], strlen(names[i])) == 0)
      return true;
  return false;
}
// How often the loader has loaded and unloaded something.
struct mprof_loads {
  unsigned long long adds, subs;
};
// Takes the loader's lock, so only where the loader is called anyway.
struct mprof_loads mprof_module_loads(void);

// --- entry_unload.c ---

// At start, so that an exit is not taken for unloads.
void mprof_unload_init(void);

// --- place.c: whose blocks may be put on page boundaries ---

// Decides once at start which families may be placed; see place.c.
void mprof_place_init(void);
extern struct mprof_place {
  bool c;        // malloc family: by posix_memalign
  bool cxx;      // operator new: by its aligned form
  bool is_glibc; // malloc is glibc's
} mprof_place;   // written once by mprof_place_init
// Whether a family's counted blocks are placed now.
static inline bool mprof_place_c(void) {
  return mprof_place.c && __mprof_free_mask != 0;
}
static inline bool mprof_place_cxx(void) {
  return mprof_place.cxx && __mprof_delete_mask != 0;
}
// Sets the masks for a rate; they only ever become 0.
void mprof_place_set_masks(uint64_t rate);
// Whether a block that posix_memalign just gave is known to hold zeros.
bool mprof_place_is_zeroed(const void *p, size_t size);
// Whether a sanitizer's runtime is in the process.
bool mprof_has_sanitizer(void);

#define MPROF_PAGE 4096u

// --- keep.c: blocks on page boundaries, kept for the next samples ---

// Keeps a counted block that the program frees, of a family that may be placed.
// False: the caller must free it.
bool mprof_keep_put(void *p);
// For a block that the program frees and that was not counted: if it is a kept
// one, it is being freed for the second time. Then it is kept no more but
// freed, so that the caller's free shows the allocator what the program does.
void mprof_keep_expose(void *p);
// One that holds size bytes, or NULL. What it holds is undefined.
void *mprof_keep_take(size_t size);

#endif // MPROF_RT_INIT_H
