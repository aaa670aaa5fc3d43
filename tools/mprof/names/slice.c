// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/slice.h"

#include <gelf.h>
#include <string.h>

struct slice slice_of_section(Elf *elf, const char *name) {
  size_t names;
  GElf_Shdr header;
  if (!elf || elf_getshdrstrndx(elf, &names) != 0)
    return (struct slice){0};
  for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
    const char *of = gelf_getshdr(scn, &header)
                         ? elf_strptr(elf, names, header.sh_name)
                         : NULL;
    if (!of || strcmp(of, name) != 0 || header.sh_type == SHT_NOBITS)
      continue;
    if (header.sh_flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) < 0)
      return (struct slice){0};
    // The raw data are those that libdw uses, too.
    const Elf_Data *data = elf_rawdata(scn, NULL);
    if (data && data->d_buf)
      return (struct slice){data->d_buf, data->d_size};
  }
  return (struct slice){0};
}

struct slice slice_part(struct slice s, uint64_t offset, uint64_t length) {
  if (offset > s.length || length > s.length - offset)
    return (struct slice){0};
  return (struct slice){s.at + offset, length};
}

uint64_t slice_number(struct slice s, uint64_t offset, unsigned size) {
  uint64_t value = 0;
  const struct slice part = slice_part(s, offset, size);
  for (unsigned i = 0; part.at && i < size && i < sizeof value; i++)
    value |= (uint64_t)part.at[i] << (8 * i);
  return value;
}

uint64_t slice_uleb(struct slice s, uint64_t *offset) {
  uint64_t value = 0;
  for (unsigned shift = 0; *offset < s.length; shift += 7) {
    const uint8_t byte = s.at[(*offset)++];
    if (shift < 64)
      value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80)
      break;
  }
  return value;
}

const char *slice_string(struct slice s, uint64_t offset) {
  if (offset >= s.length || !memchr(s.at + offset, 0, s.length - offset))
    return NULL;
  return (const char *)s.at + offset;
}
