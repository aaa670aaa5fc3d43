// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expands the % patterns in the names of output files, and makes their
// directory; see outfile.h.

#include "file/outfile.h"

#include "options/flags.h"
#include "sys/message.h"
#include "sys/os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { NAME_SIZE = 256 };

// Appends the len bytes at s, but replaces each '/' by '_'. Otherwise the name
// of a program or a host could lead out of the output directory.
static void put_name(struct mprof_text *t, const char *s, size_t len) {
  for (size_t i = 0; i < len; i++)
    mprof_text_mem(t, s[i] == '/' ? "_" : s + i, 1);
}

// Appends the base name of the program's file, which the link /proc/self/exe
// names. If the file has been deleted or replaced, the kernel adds " (deleted)"
// to the link's target. This function removes these characters.
void mprof_path_program(struct mprof_text *t) {
  static const char deleted[] = " (deleted)";
  char link[MPROF_PATH_MAX];
  const char *path = link;
  long n = mprof_sys_readlink("/proc/self/exe", link, sizeof(link) - 1);
  size_t len = n < 0 ? 0 : (size_t)n;
  link[len] = '\0';
  if (len > sizeof(deleted) &&
      strcmp(link + len - (sizeof(deleted) - 1), deleted) == 0)
    link[len - (sizeof(deleted) - 1)] = '\0';
  if (len == 0) // no /proc, so use the path that execve received
    path = (const char *)getauxval(AT_EXECFN);
  if (path == NULL)
    path = "unknown";
  const char *slash = strrchr(path, '/');
  mprof_text_str(t, slash == NULL ? path : slash + 1);
}

static void put_program(struct mprof_text *t) {
  char name[NAME_SIZE];
  struct mprof_text program = MPROF_TEXT(name);
  name[0] = '\0';
  mprof_path_program(&program);
  put_name(t, name, program.len);
}

static void put_host(struct mprof_text *t) {
  char name[NAME_SIZE];
  long n =
      mprof_procfile_begin("/proc/sys/kernel/hostname", name, sizeof(name));
  if (n > 0 && name[n - 1] == '\n')
    n--;
  if (n > 0)
    put_name(t, name, (size_t)n);
  else
    mprof_text_str(t, "unknown");
}

static void report_unknown(char c, const char *option, const char *pattern) {
  char line[MPROF_PATH_MAX];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, "unknown ");
  mprof_text_str(&t, c == '\0' ? "% at the end" : "%");
  mprof_text_mem(&t, &c, c != '\0');
  mprof_text_str(&t, " in option ");
  mprof_text_str(&t, option);
  mprof_text_str(&t, " '");
  mprof_text_str(&t, pattern);
  mprof_text_str(
      &t, "' is not replaced; the known patterns are %p, %e, %h, %t and %%");
  mprof_message(line);
}

// Appends the expansion of % followed by c. Returns false if %c has no meaning.
static bool expand(struct mprof_text *t, char c) {
  switch (c) {
  case 'p':
    mprof_text_dec(t, (unsigned)mprof_sys_getpid());
    return true;
  case 'e':
    put_program(t);
    return true;
  case 'h':
    put_host(t);
    return true;
  case 't':
    mprof_text_utc(t, mprof_sys_realtime_ns(), true);
    return true;
  case '%':
    mprof_text_str(t, "%");
    return true;
  default:
    return false;
  }
}

int mprof_path_fill(char *buf, size_t cap, const char *option,
                    const char *pattern, bool *has_pid) {
  struct mprof_text t = {.buf = buf, .cap = cap};
  *has_pid = false;
  buf[0] = '\0';
  for (const char *p = pattern; *p != '\0'; p++) {
    if (*p != '%') {
      mprof_text_mem(&t, p, 1);
      continue;
    }
    if (expand(&t, p[1])) {
      *has_pid |= p[1] == 'p';
      p++;
      continue;
    }
    report_unknown(p[1], option, pattern);
    mprof_text_str(&t, "%");
  }
  if (mprof_flags_is_secure() && buf[0] != '/')
    return -EPERM;
  // If the buffer is full, the text may have been truncated, so this is an
  // error.
  return t.len + 1 < cap ? 0 : -ENAMETOOLONG;
}

int mprof_path_expand(char *buf, size_t cap, const char *pattern) {
  bool has_pid;
  struct mprof_text t = {.buf = buf, .cap = cap};
  const int error = mprof_path_fill(buf, cap, "log_path", pattern, &has_pid);
  if (error != 0)
    return error;
  t.len = strlen(buf);
  if (t.len == 0 || buf[t.len - 1] == '/') {
    // In a set-user-ID program, the result is -EPERM, because a name is not an
    // absolute path. But the directory was checked above.
    mprof_path_fill(buf + t.len, cap - t.len, "log_path", "mprof.%e.%p",
                    &has_pid);
    t.len = strlen(buf);
  }
  if (!has_pid) {
    mprof_text_str(&t, ".");
    mprof_text_dec(&t, (unsigned)mprof_sys_getpid());
  }
  // If the buffer is full, the name may have been truncated.
  return t.len + 1 < cap ? 0 : -ENAMETOOLONG;
}

bool mprof_path_discards_files(void) {
  return strcmp(mprof_flags.log_path, "/dev/null") == 0;
}

bool mprof_path_is_stderr(void) {
  return strcmp(mprof_flags.log_path, "stderr") == 0;
}

int mprof_path_base(char *buf, size_t cap) {
  if (mprof_path_discards_files())
    return -ENODEV;
  return mprof_path_expand(buf, cap,
                           mprof_path_is_stderr() ? "" : mprof_flags.log_path);
}

// --- the directory ---

// The user's umask removes rights from these. The user needs OWN_RIGHTS to make
// a file in the directory, so they stay, as with mkdir -p.
enum { ALL_RIGHTS = 0777, OWN_RIGHTS = S_IWUSR | S_IXUSR };

static long call(long number, const char *path, long a, long b) {
  return mprof_syscall(number, AT_FDCWD, (long)path, a, b, 0, 0);
}

static void make(const char *directory) {
  struct stat st;
  if (call(SYS_mkdirat, directory, ALL_RIGHTS, 0) == 0 &&
      call(SYS_newfstatat, directory, (long)&st, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(st.st_mode) && (st.st_mode & OWN_RIGHTS) != OWN_RIGHTS)
    call(SYS_fchmodat, directory, (st.st_mode & 07777) | OWN_RIGHTS, 0);
}

void mprof_path_make_directory(const char *path) {
  char directory[MPROF_PATH_MAX];
  const char *last = strrchr(path, '/');
  const size_t len = last == NULL ? 0 : (size_t)(last - path);
  if (len == 0 || len >= sizeof(directory) || mprof_flags_is_secure())
    return;
  memcpy(directory, path, len);
  directory[len] = '\0';
  if (mprof_sys_exists(directory))
    return;
  for (char *slash = directory; (slash = strchr(slash + 1, '/')) != NULL;) {
    *slash = '\0';
    make(directory);
    *slash = '/';
  }
  make(directory);
}
