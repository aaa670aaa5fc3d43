// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process to which mprof attaches: its modules and functions, which are
// read from its memory, so that its files need not be visible.

#ifndef MPROF_TOOL_TARGET_H
#define MPROF_TOOL_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target {
  pid_t pid;
  uint64_t libc, libdl; // addresses of the libraries; 0: not loaded
  bool has_mprof;       // a library of MProf is loaded
  bool is_late_loaded;  // libmprof_preload.so is loaded
  bool has_musl, has_loader;
  char root[40]; // /proc/PID/root
  // The kernel's random bytes of this program, which differ after an exec.
  unsigned char random[16];
};

// Reads about the process. Returns NULL, or the reason why its threads cannot
// be stopped. The callers of these functions free the reason.
char *target_read(struct target *t, pid_t pid);
// Returns whether the process has executed no other program since target_read.
// While one of its threads is stopped, it executes none.
bool target_is_same(const struct target *t);
// Returns whether the process is a child of vfork that has not executed a
// program yet, so that its memory is that of its parent.
bool target_borrows_memory(const struct target *t);
// Finds modules that the process has loaded since. Returns false if the list of
// mappings cannot be read, and sets errno.
bool target_find_modules(struct target *t);
// Returns the reason why no library can be loaded into it, or NULL.
// allows_seccomp: also into one with a seccomp filter.
char *target_why_not_load(const struct target *t, bool allows_seccomp);
// Returns the reason why ptrace has refused to trace it.
char *target_why_refused(pid_t pid);
// Returns the address of a function of libc, or of libdl in glibc before 2.34.
// Returns 0 if there is none.
uint64_t target_function(const struct target *t, const char *name);

// Copy memory of the process. Return whether all bytes were copied.
bool target_get(const struct target *t, uint64_t address, void *to,
                size_t size);
bool target_put(const struct target *t, uint64_t address, const void *from,
                size_t size);

// Opens the file that the process has mapped at `address`. name: its path in
// the kernel's list of mappings. Returns a descriptor, and stores the path by
// which the file was found, which the caller frees; or returns -1.
int target_open(const struct target *t, uint64_t address, const char *name,
                char **path);

// A mapping in the kernel's list.
struct target_mapping {
  uint64_t start, limit, offset;
  unsigned long inode; // of the file; 0: none
  bool is_code;
  const char *path; // of the file, or a name such as [heap]; "": none
};
// Calls `visit` for each mapping. Returns false if the list cannot be read, and
// sets errno.
bool target_each_mapping(pid_t pid,
                         void (*visit)(const struct target_mapping *m,
                                       void *arg),
                         void *arg);

// The system call futex in which a thread waits. address 0: the thread is in
// another call, or in none.
struct target_futex {
  uint64_t address;
  unsigned long operation, expected;
};
struct target_futex target_futex(pid_t pid, pid_t tid);

// Returns the field of /proc/PID/task/TID/status, in `value`, or false.
bool target_status(pid_t pid, pid_t tid, const char *field, char *value,
                   size_t size);

#endif
