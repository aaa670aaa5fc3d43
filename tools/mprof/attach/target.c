// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attach/target.h"

#include "common/memory.h"
#include "process/modules.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// --- memory ---

bool target_get(const struct target *t, uint64_t address, void *to,
                size_t size) {
  const struct iovec here = {to, size}, there = {(void *)address, size};
  return process_vm_readv(t->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool target_put(const struct target *t, uint64_t address, const void *from,
                size_t size) {
  const struct iovec here = {(void *)from, size},
                     there = {(void *)address, size};
  return process_vm_writev(t->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

// --- functions ---

static bool copy(void *target, void *to, uintptr_t from, size_t size) {
  return target_get(target, from, to, size);
}

// Stores where the library's symbols are.
static bool read_headers(const struct target *t, uint64_t library,
                         struct mprof_symbol_source *from) {
  ElfW(Ehdr) head;
  ElfW(Phdr) ph;
  uint64_t dynamic = 0;
  bool has_base = false;
  if (!target_get(t, library, &head, sizeof head) ||
      memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return false;
  for (unsigned i = 0; i < head.e_phnum; i++) {
    if (!target_get(t, library + head.e_phoff + i * sizeof ph, &ph, sizeof ph))
      return false;
    if (ph.p_type == PT_LOAD && !has_base) {
      from->base = library - (ph.p_vaddr - ph.p_offset);
      has_base = true;
    }
    if (ph.p_type == PT_DYNAMIC)
      dynamic = ph.p_vaddr;
  }
  from->dynamic = from->base + dynamic;
  return dynamic != 0;
}

uint64_t target_function(const struct target *t, const char *name) {
  const uint64_t libraries[] = {t->libc, t->libdl};
  struct mprof_symbol_source from = {.copy = copy, .arg = (void *)t};
  uint64_t found = 0;
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !found; i++)
    if (libraries[i] && read_headers(t, libraries[i], &from))
      found = mprof_symbol_find(&from, name);
  return found;
}

// --- the process ---

bool target_status(pid_t pid, pid_t tid, const char *field, char *value,
                   size_t size) {
  char path[64], line[256];
  bool is_found = false;
  snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, (int)tid);
  FILE *file = fopen(path, "re");
  const size_t length = strlen(field);
  while (file && !is_found && fgets(line, sizeof line, file)) {
    if (strncmp(line, field, length) != 0 || line[length] != ':')
      continue;
    const char *text = line + length + 1;
    text += strspn(text, " \t");
    snprintf(value, size, "%.*s", (int)strcspn(text, "\n"), text);
    is_found = true;
  }
  if (file)
    fclose(file);
  return is_found;
}

static bool begins_with(const char *text, const char *begin) {
  return strncmp(text, begin, strlen(begin)) == 0;
}

bool target_each_mapping(pid_t pid,
                         void (*visit)(const struct target_mapping *m,
                                       void *arg),
                         void *arg) {
  char path[64], line[4400];
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file)) {
    unsigned long start, limit, offset, inode;
    char execute;
    int at = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%lx-%lx %*c%*c%c%*c %lx %*s %lu %n", &start, &limit,
               &execute, &offset, &inode, &at) == 5 &&
        at != 0)
      visit(&(struct target_mapping){start, limit, offset, inode,
                                     execute == 'x', line + at},
            arg);
  }
  if (!file)
    return false;
  fclose(file);
  return true;
}

struct target_futex target_futex(pid_t pid, pid_t tid) {
  char path[64];
  long number = -1;
  unsigned long address = 0;
  struct target_futex f = {0};
  snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
  FILE *file = fopen(path, "re");
  if (file &&
      fscanf(file, "%ld %lx %lx %lx", &number, &address, &f.operation,
             &f.expected) == 4 &&
      number == SYS_futex)
    f.address = address;
  if (file)
    fclose(file);
  return f;
}

static void note_module(const struct target_mapping *m, void *arg) {
  struct target *t = arg;
  const char *name = basename(m->path);
  // A copy of a library in the memory of the process (inject.c).
  if (begins_with(name, "memfd:"))
    name += strlen("memfd:");
  t->has_musl |= begins_with(name, "ld-musl-");
  t->has_loader |= begins_with(name, "ld-linux") || begins_with(name, "ld-2.");
  t->is_late_loaded |= begins_with(name, "libmprof_preload");
  if (m->offset != 0)
    return;
  if (begins_with(name, "libc.so.6") || begins_with(name, "libc-2."))
    t->libc = t->libc ? t->libc : m->start;
  if (begins_with(name, "libdl.so.2") || begins_with(name, "libdl-2."))
    t->libdl = t->libdl ? t->libdl : m->start;
}

bool target_find_modules(struct target *t) {
  return target_each_mapping(t->pid, note_module, t);
}

struct inode_search {
  uint64_t address;
  unsigned long found; // 0: none
};

static void look_for_inode(const struct target_mapping *m, void *arg) {
  struct inode_search *s = arg;
  if (s->address >= m->start && s->address < m->limit)
    s->found = m->inode;
}

int target_open(const struct target *t, uint64_t address, const char *name,
                char **path) {
  // The kernel shows the path below mprof's root directory if there is one, or
  // else below that of the process.
  const char *const roots[] = {"", t->root};
  struct inode_search file = {.address = address};
  target_each_mapping(t->pid, look_for_inode, &file);
  for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
    struct stat s;
    *path = text_of("%s%s", roots[i], name);
    const int fd = open(*path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &s) == 0 && s.st_ino == file.found)
      return fd;
    if (fd >= 0)
      close(fd);
    free(*path);
  }
  *path = NULL;
  return -1;
}

char *target_why_refused(pid_t pid) {
  char uid[64] = "", scope[8] = "";
  target_status(pid, pid, "Uid", uid, sizeof uid);
  if (geteuid() != 0 && (uid_t)strtoul(uid, NULL, 10) != geteuid())
    return text_of("it is a process of another user; run mprof as that user or "
                   "as root");
  FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
  if (file) {
    if (!fgets(scope, sizeof scope, file))
      scope[0] = '\0';
    fclose(file);
  }
  if (atoi(scope) > 0)
    return text_of("the kernel does not let you trace it: "
                   "/proc/sys/kernel/yama/ptrace_scope is %d; run mprof as "
                   "root%s",
                   atoi(scope), atoi(scope) == 1 ? ", or set it to 0" : "");
  return text_of("the kernel does not let you trace it: a container needs the "
                 "capability SYS_PTRACE, and the process must not have more "
                 "rights than you");
}

// Reads the random bytes. Leaves zeros if they cannot be read.
static void read_random(const struct target *t, unsigned char *random) {
  char path[64];
  ElfW(auxv_t) entry;
  snprintf(path, sizeof path, "/proc/%d/auxv", (int)t->pid);
  FILE *file = fopen(path, "re");
  memset(random, 0, sizeof t->random);
  while (file && fread(&entry, sizeof entry, 1, file) == 1)
    if (entry.a_type == AT_RANDOM)
      target_get(t, entry.a_un.a_val, random, sizeof t->random);
  if (file)
    fclose(file);
}

bool target_is_same(const struct target *t) {
  unsigned char now[sizeof t->random];
  read_random(t, now);
  return memcmp(now, t->random, sizeof now) == 0;
}

bool target_borrows_memory(const struct target *t) {
  enum { SAME_MEMORY = 1 }; // KCMP_VM
  char parent[64];
  return target_status(t->pid, t->pid, "PPid", parent, sizeof parent) &&
         syscall(SYS_kcmp, t->pid, (pid_t)atoi(parent), SAME_MEMORY, 0, 0) == 0;
}

char *target_read(struct target *t, pid_t pid) {
  char value[64];
  *t = (struct target){.pid = pid};
  snprintf(t->root, sizeof t->root, "/proc/%d/root", (int)pid);
  if (!target_status(pid, pid, "State", value, sizeof value))
    return text_of("there is no such process");
  const bool has_ended = value[0] == 'Z' || value[0] == 'X';
  if (has_ended && target_status(pid, pid, "Threads", value, sizeof value) &&
      atoi(value) > 1)
    return text_of("its first thread has ended, so that the kernel does not "
                   "show the memory of the process");
  if (has_ended)
    return text_of("the process has ended");
  if (target_status(pid, pid, "Tgid", value, sizeof value) &&
      atoi(value) != pid)
    return text_of("it is a thread of process %d", atoi(value));
  if (target_status(pid, pid, "Kthread", value, sizeof value) &&
      value[0] == '1')
    return text_of("it is a thread of the kernel");
  if (target_status(pid, pid, "TracerPid", value, sizeof value) &&
      atoi(value) != 0)
    return text_of("process %d traces it already, such as a debugger or "
                   "strace",
                   atoi(value));
  read_random(t, t->random);
  if (!target_find_modules(t))
    return errno == ENOENT || errno == ESRCH
               ? text_of("there is no such process")
               : target_why_refused(pid);
  ElfW(Ehdr) head;
  if (!t->libc || target_get(t, t->libc, &head, sizeof head))
    return NULL;
  if (errno == ESRCH)
    return text_of("the process has ended");
  if (errno != EFAULT)
    return target_why_refused(pid);
  // It has just executed another program, which has no libc yet.
  t->libc = 0;
  return NULL;
}

char *target_why_not_load(const struct target *t, bool allows_seccomp) {
  char value[64];
  if (!allows_seccomp &&
      target_status(t->pid, t->pid, "Seccomp", value, sizeof value) &&
      atoi(value) != 0)
    return text_of("its seccomp filter may kill it for a system call of MProf, "
                   "such as openat, socket or clone; --allow-seccomp attaches "
                   "nevertheless, as is safe in a container, whose filter only "
                   "refuses calls");
  if (target_status(t->pid, t->pid, "State", value, sizeof value) &&
      value[0] == 'T')
    return text_of("the process is stopped; let it continue first (kill -CONT "
                   "%d)",
                   (int)t->pid);
  ElfW(Ehdr) head;
  if (t->libc && target_get(t, t->libc, &head, sizeof head) &&
      head.e_ident[EI_CLASS] != ELFCLASS64)
    return text_of("it is a program of 32 bits");
  if (t->has_musl)
    return text_of("it uses musl, and the library that mprof loads uses glibc");
  if (!t->libc)
    return t->has_loader
               ? text_of("it has not loaded glibc")
               : text_of("it is linked statically, so no library can be loaded "
                         "into it");
  return NULL;
}
