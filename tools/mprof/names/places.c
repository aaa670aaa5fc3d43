// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/places.h"

#include "common/memory.h"
#include "files/archive.h"
#include "names/limits.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The runtime keeps at most this number of digits of a build id.
enum { RUNTIME_DIGITS = 40 };
static const char debug_root[] = "/usr/lib/debug";

char *hex_of(const void *bytes, size_t length) {
  char *text = zeroed(2 * length + 1, 1);
  for (size_t i = 0; i < length; i++)
    snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
  return text;
}

int places_open(const char *path) {
  struct stat s;
  // O_NONBLOCK: a pipe must not stop the tool.
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  // The files of /proc have the size 0.
  if (fd >= 0 &&
      (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size == 0)) {
    close(fd);
    return -1;
  }
  if (fd >= 0)
    limits_allow((uint64_t)s.st_size);
  return fd;
}

// --- build ids ---

// Returns the build id of the ELF file, "" if it has none, or NULL if it is no
// ELF file.
static char *build_id_of(int fd) {
  const void *id = NULL;
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
  char *text = NULL;
  if (elf && elf_kind(elf) == ELF_K_ELF) {
    const ssize_t n = dwelf_elf_gnu_build_id(elf, &id);
    text = hex_of(id, n > 0 ? (size_t)n : 0);
  }
  elf_end(elf);
  return text;
}

static bool is_same_id(const char *of_file, const char *wanted) {
  const size_t length = strlen(wanted);
  return strcmp(of_file, wanted) == 0 ||
         (length == RUNTIME_DIGITS && strncmp(of_file, wanted, length) == 0);
}

// --- the search ---

struct search {
  const struct places *places;
  const char *path, *build_id;
  struct place found;
  bool is_found;
  // The first file with another build id.
  char *other_path, *other_id;
};

// Takes the file if it has the right build id. Takes over the path.
static bool take(struct search *s, char *path, int fd) {
  char *id = fd >= 0 ? build_id_of(fd) : NULL;
  if (id && is_same_id(id, s->build_id)) {
    s->found = (struct place){path, fd};
    s->is_found = true;
  } else {
    if (fd >= 0)
      close(fd);
    if (id && !s->other_path) {
      s->other_path = path;
      s->other_id = id;
      return false;
    }
    free(path);
  }
  free(id);
  return s->is_found;
}

static bool try(struct search *s, char *path) {
  return take(s, path, places_open(path));
}

// Tries the file as binaries of the options, whose build ids are usually those
// of other files.
static bool try_binaries(struct search *s) {
  struct search one = *s;
  for (size_t i = 0; i < s->places->binaries.count && *s->build_id; i++)
    if (try(&one, text_of("%s", s->places->binaries.items[i]))) {
      *s = one;
      return true;
    }
  return false;
}

static bool try_build_id(struct search *s, const char *directory) {
  if (strlen(s->build_id) < 3)
    return false;
  const char *rest = s->build_id + 2;
  return try(s,
             text_of("%s/.build-id/%.2s/%s", directory, s->build_id, rest)) ||
         try(s, text_of("%s/.build-id/%.2s/%s.debug", directory, s->build_id,
                        rest));
}

static bool try_directory(struct search *s, const char *directory) {
  const char *name = basename(s->path);
  return try_build_id(s, directory) ||
         try(s, text_of("%s/%s", directory, s->path)) ||
         try(s, text_of("%s/%s", directory, name)) ||
         try(s, text_of("%s/%s.debug", directory, name));
}

// Keeps the path of the file that a server has sent, because libdwfl does not
// use a file at another address.
static int keep_path(Dwfl_Module *m, void **path, const char *name,
                     Dwarf_Addr base, char **file, Elf **elf) {
  const int fd = dwfl_build_id_find_elf(m, path, name, base, file, elf);
  if (fd >= 0) {
    // libdwfl does not tell the path in its cache of files.
    char *link = text_of("/proc/self/fd/%d", fd);
    *path = realpath(link, NULL);
    free(link);
  }
  return fd;
}

// Asks the servers of debuginfod, which libdwfl does.
static bool try_servers(struct search *s) {
  static const Dwfl_Callbacks callbacks = {
      .find_elf = keep_path, .find_debuginfo = dwfl_standard_find_debuginfo};
  unsigned char id[RUNTIME_DIGITS / 2];
  size_t n = 0;
  for (const char *c = s->build_id; n < sizeof id && c[0] && c[1]; c += 2)
    // NOLINTNEXTLINE(cert-err34-c): %2hhx reads two digits or fails
    if (sscanf(c, "%2hhx", &id[n++]) != 1)
      return false;
  Dwfl *dwfl = n ? dwfl_begin(&callbacks) : NULL;
  if (!dwfl)
    return false;
  Dwfl_Module *m = dwfl_report_module(dwfl, s->path, 0, UINT64_MAX);
  GElf_Addr bias;
  void **path = NULL;
  if (m && dwfl_module_report_build_id(m, id, n, 0) == 0 &&
      dwfl_report_end(dwfl, NULL, NULL) == 0) {
    dwfl_module_getelf(m, &bias);
    dwfl_module_info(m, &path, NULL, NULL, NULL, NULL, NULL, NULL);
  }
  if (path && *path)
    try(s, *path);
  dwfl_end(dwfl);
  return s->is_found;
}

static bool try_bundle(struct search *s) {
  char *name = text_of("files/%s", s->build_id);
  const int fd = *s->build_id && s->places->bundle
                     ? archive_fd(s->places->bundle, name)
                     : -1;
  free(name);
  return fd >= 0 && take(s, text_of("%s", s->path), fd);
}

static void search(struct search *s) {
  const struct places *p = s->places;
  if (try_bundle(s) || try_binaries(s) ||
      try(s, text_of("%s%s", p->sysroot ? p->sysroot : "", s->path)))
    return;
  for (size_t i = 0; i < p->debug_dirs.count; i++)
    if (try_directory(s, p->debug_dirs.items[i]))
      return;
  if (p->sysroot) {
    char *root = text_of("%s%s", p->sysroot, debug_root);
    const bool is_found = try_build_id(s, root);
    free(root);
    if (is_found)
      return;
  }
  if (!try_build_id(s, debug_root) && p->asks_servers)
    try_servers(s);
}

// Returns whether the open file is surely no ELF file.
static bool has_other_format(int fd) {
  char magic[SELFMAG];
  return pread(fd, magic, SELFMAG, 0) == SELFMAG &&
         memcmp(magic, ELFMAG, SELFMAG) != 0;
}

// Returns why there is no file, as places_find does.
static char *problem_of(const struct search *s) {
  const char *id = s->build_id;
  if (s->other_path)
    return text_of("%s is not the file that was loaded; its frames have no "
                   "names (needed is the file with build id %s, not %s)",
                   s->other_path, *id ? id : "-",
                   *s->other_id ? s->other_id : "-");
  char *path =
      text_of("%s%s", s->places->sysroot ? s->places->sysroot : "", s->path);
  struct stat st;
  const char *what = "is missing", *error = "";
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == EACCES) {
    what = "cannot be opened, because permission is denied";
  } else if (fd < 0 && errno != ENOENT && errno != ENOTDIR) {
    what = "cannot be opened: ";
    error = strerror(errno);
  } else if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
    if (!*id && has_other_format(fd)) {
      close(fd);
      free(path);
      return text_of("%s", "");
    }
    what = "cannot be read, because it is damaged or no ELF file";
  }
  if (fd >= 0)
    close(fd);
  free(path);
  return text_of("%s %s%s; its frames have no names%s%s%s", s->path, what,
                 error, *id ? " (needed is the file with build id " : "", id,
                 *id ? ")" : "");
}

char *places_find(const struct places *p, const char *path,
                  const char *build_id, struct place *found) {
  struct search s = {.places = p, .path = path, .build_id = build_id};
  search(&s);
  *found = s.found;
  char *problem = s.is_found ? NULL : problem_of(&s);
  free(s.other_path);
  free(s.other_id);
  return problem;
}

// Adds a directory to the path, which it frees. libdwfl looks for build ids
// only in absolute directories.
static char *add_directory(char *path, const char *root,
                           const char *directory) {
  char *joined = text_of("%s%s", root, directory);
  char *absolute = realpath(joined, NULL);
  char *longer = text_of("%s:%s", path, absolute ? absolute : joined);
  free(absolute);
  free(joined);
  free(path);
  return longer;
}

char *places_debug_path(const struct places *p) {
  char *path = text_of("+:.debug");
  for (size_t i = 0; i < p->debug_dirs.count; i++)
    path = add_directory(path, "", p->debug_dirs.items[i]);
  if (p->sysroot)
    path = add_directory(path, p->sysroot, debug_root);
  return add_directory(path, "", debug_root);
}
