// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/unpack.h"

#ifndef MPROF_HAS_ZSTD
int unpack(int fd) { return fd; }
#else

#include "common/memory.h"
#include "files/bytes.h"
#include "names/limits.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

struct image {
  uint8_t *at; // a private copy of the file
  uint64_t size;
  struct new_file out; // the copy, with the decompressed sections at its end
  uint64_t out_size;
};

// Returns the header of a section, or NULL.
static Elf64_Shdr *section(const struct image *m, unsigned index) {
  const Elf64_Ehdr *e = (const Elf64_Ehdr *)m->at;
  const uint64_t at = e->e_shoff + (uint64_t)index * sizeof(Elf64_Shdr);
  if (index >= e->e_shnum || e->e_shentsize != sizeof(Elf64_Shdr) || at % 8 ||
      e->e_shoff > m->size || at + sizeof(Elf64_Shdr) > m->size)
    return NULL;
  return (Elf64_Shdr *)(m->at + at);
}

static bool is_packed(const struct image *m, const Elf64_Shdr *s,
                      Elf64_Chdr *head) {
  if (!(s->sh_flags & SHF_COMPRESSED) || s->sh_size < sizeof *head ||
      s->sh_offset > m->size || s->sh_size > m->size - s->sh_offset)
    return false;
  memcpy(head, m->at + s->sh_offset, sizeof *head);
  return head->ch_type == ELFCOMPRESS_ZSTD;
}

// Appends the decompressed section to the copy, and changes its header.
static bool unpack_section(struct image *m, Elf64_Shdr *s,
                           const Elf64_Chdr *head) {
  // Memory is bounded by the size of the file; see limits.h.
  void *plain = malloc(head->ch_size ? head->ch_size : 1);
  const size_t n = plain ? ZSTD_decompress(plain, head->ch_size,
                                           m->at + s->sh_offset + sizeof *head,
                                           s->sh_size - sizeof *head)
                         : 0;
  const bool works = plain && !ZSTD_isError(n) && n == head->ch_size &&
                     new_file_put(&m->out, plain, n) == NULL;
  free(plain);
  if (!works)
    return false;
  s->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
  s->sh_offset = m->out_size;
  s->sh_size = n;
  s->sh_addralign = 1;
  m->out_size += n;
  return true;
}

static bool has_packed(const struct image *m) {
  Elf64_Chdr head;
  const Elf64_Ehdr *e = (const Elf64_Ehdr *)m->at;
  if (m->size < sizeof *e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
      e->e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  for (unsigned i = 0; i < e->e_shnum; i++) {
    const Elf64_Shdr *s = section(m, i);
    if (s && is_packed(m, s, &head))
      return true;
  }
  return false;
}

// Writes the copy. Returns whether all sections could be decompressed.
static bool copy(struct image *m) {
  Elf64_Chdr head;
  bool works = new_file_put(&m->out, m->at, m->size) == NULL;
  m->out_size = m->size;
  const unsigned count = ((const Elf64_Ehdr *)m->at)->e_shnum;
  for (unsigned i = 0; i < count && works; i++) {
    Elf64_Shdr *s = section(m, i);
    if (s && is_packed(m, s, &head))
      works = unpack_section(m, s, &head);
  }
  // The headers of the sections have changed.
  return works && lseek(m->out.fd, 0, SEEK_SET) == 0 &&
         new_file_put(&m->out, m->at, m->size) == NULL &&
         lseek(m->out.fd, 0, SEEK_SET) == 0;
}

int unpack(int fd) {
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0)
    return fd;
  void *at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
                  fd, 0);
  if (at == MAP_FAILED)
    return fd;
  struct image m = {.at = at, .size = (uint64_t)st.st_size, .out.fd = -1};
  if (has_packed(&m)) {
    m.out.fd = memfd_create("mprof", MFD_CLOEXEC);
    if (m.out.fd >= 0 && copy(&m)) {
      limits_allow(m.out_size);
      close(fd);
      fd = m.out.fd;
    } else if (m.out.fd >= 0) {
      close(m.out.fd);
    }
  }
  munmap(at, (size_t)st.st_size);
  return fd;
}
#endif
