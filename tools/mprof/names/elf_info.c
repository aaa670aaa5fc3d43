// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/elf_info.h"

#include "common/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool begins_with(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool changes_user(const char *function) {
  static const char *const names[] = {"setuid", "seteuid", "setreuid",
                                      "setresuid"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(function, names[i]) == 0)
      return true;
  return false;
}

// Returns whether a sanitizer's runtime that replaces malloc defines the
// function. Instrumented code refers to it.
static bool is_of_sanitizer(const char *function) {
  static const char *const names[] = {"__asan_init", "__hwasan_init",
                                      "__lsan_init", "__msan_init",
                                      "__tsan_init"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(function, names[i]) == 0)
      return true;
  return false;
}

static void read_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                         struct elf_info *info) {
  static const char abi[] = "__mprof_abi_v";
  Elf_Data *data = elf_getdata(section, NULL);
  const size_t count =
      data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
  for (size_t i = 0; i < count; i++) {
    GElf_Sym symbol;
    if (!gelf_getsym(data, (int)i, &symbol))
      return;
    const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
    if (!name)
      continue;
    const bool is_defined = symbol.st_shndx != SHN_UNDEF;
    if (header->sh_type == SHT_DYNSYM && !is_defined)
      info->changes_user |= changes_user(name);
    if (header->sh_type == SHT_DYNSYM && is_defined)
      info->has_allocator |= strcmp(name, "malloc") == 0;
    info->has_sanitizer |= is_of_sanitizer(name);
    if (!begins_with(name, abi))
      continue;
    info->abi = (unsigned)strtoul(name + sizeof abi - 1, NULL, 10);
    info->needs_runtime |= symbol.st_shndx == SHN_UNDEF;
  }
}

static void read_dynamic(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                         struct elf_info *info) {
  enum { MAX_NEEDED = 1000 };
  size_t capacity = 0;
  Elf_Data *data = elf_getdata(section, NULL);
  const size_t count =
      data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
  for (size_t i = 0; i < count && info->needed_count < MAX_NEEDED; i++) {
    GElf_Dyn entry;
    if (!gelf_getdyn(data, (int)i, &entry))
      return;
    const char *name = entry.d_tag == DT_NEEDED
                           ? elf_strptr(elf, header->sh_link, entry.d_un.d_val)
                           : NULL;
    if (name)
      *APPEND(info->needed, info->needed_count, capacity) = strdup(name);
  }
}

static void read_sections(Elf *elf, struct elf_info *info) {
  size_t names;
  if (elf_getshdrstrndx(elf, &names) != 0)
    return;
  for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s)) != NULL;) {
    GElf_Shdr header;
    if (!gelf_getshdr(s, &header))
      continue;
    const char *name = elf_strptr(elf, names, header.sh_name);
    if (name && strcmp(name, "mprof_text") == 0)
      info->has_runtime = true;
    if (name && strcmp(name, ".debug_info") == 0)
      info->has_debug_info = true;
    if (name && strcmp(name, ".note.gnu.build-id") == 0)
      info->has_build_id = true;
    if (name && strcmp(name, ".go.buildinfo") == 0)
      info->is_go = true;
    info->has_symbols |= header.sh_type == SHT_SYMTAB;
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
      read_symbols(elf, s, &header, info);
    else if (header.sh_type == SHT_DYNAMIC)
      read_dynamic(elf, s, &header, info);
  }
}

static void read_interpreter(Elf *elf, const GElf_Phdr *header,
                             struct elf_info *info) {
  size_t size;
  const char *file = elf_rawfile(elf, &size);
  if (file && !info->interpreter && header->p_offset < size &&
      header->p_filesz <= size - header->p_offset)
    info->interpreter =
        strndup(file + header->p_offset, (size_t)header->p_filesz);
}

static void read_segments(Elf *elf, struct elf_info *info) {
  size_t count;
  info->is_static = true;
  if (elf_getphdrnum(elf, &count) != 0)
    return;
  for (size_t i = 0; i < count; i++) {
    GElf_Phdr header;
    if (!gelf_getphdr(elf, (int)i, &header) ||
        (header.p_type != PT_INTERP && header.p_type != PT_DYNAMIC))
      continue;
    info->is_static = false;
    if (header.p_type == PT_INTERP)
      read_interpreter(elf, &header, info);
  }
}

static void read_machine(Elf *elf, struct elf_info *info) {
  GElf_Ehdr header;
#if defined(__x86_64__)
  enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
  enum { MACHINE = EM_AARCH64 };
#endif
  info->is_of_this_processor = gelf_getclass(elf) == ELFCLASS64 &&
                               gelf_getehdr(elf, &header) &&
                               header.e_machine == MACHINE;
}

const char *elf_info_read(const char *path, struct elf_info *info) {
  *info = (struct elf_info){0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return strerror(errno);
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
  if (elf && elf_kind(elf) == ELF_K_ELF) {
    info->is_elf = true;
    read_machine(elf, info);
    read_sections(elf, info);
    read_segments(elf, info);
    info->needs_runtime &= !info->has_runtime;
  }
  elf_end(elf);
  close(fd);
  return NULL;
}

void elf_info_free(struct elf_info *info) {
  for (size_t i = 0; i < info->needed_count; i++)
    free(info->needed[i]);
  free(info->needed);
  free(info->interpreter);
  *info = (struct elf_info){0};
}

bool elf_is_stripped(const char *path) {
  struct elf_info info;
  if (elf_info_read(path, &info) != NULL)
    return false;
  const bool is_so = info.is_elf && !info.has_symbols && !info.has_debug_info;
  elf_info_free(&info);
  return is_so;
}

char *elf_find_program(const char *name) {
  if (strchr(name, '/'))
    return strdup(name);
  const char *path = getenv("PATH");
  for (path = path ? path : "/usr/local/bin:/usr/bin:/bin"; *path;) {
    const size_t length = strcspn(path, ":");
    char *file;
    if (asprintf(&file, "%.*s%s%s", (int)length, path, length ? "/" : "",
                 name) < 0)
      return NULL;
    if (access(file, X_OK) == 0)
      return file;
    free(file);
    path += length + (path[length] == ':');
  }
  return NULL;
}
