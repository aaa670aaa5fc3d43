// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/symbols.h"

#include "common/memory.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>

static bool is_named(const GElf_Sym *s) {
  const unsigned type = GELF_ST_TYPE(s->st_info);
  return type == STT_NOTYPE || type == STT_FUNC || type == STT_OBJECT ||
         type == STT_GNU_IFUNC;
}

// Symbols with the same address are ordered by size, then as in the table. The
// last one is the name of the address.
static int compare(const void *a, const void *b) {
  const struct symbol *x = a, *y = b;
  if (x->value != y->value)
    return x->value < y->value ? -1 : 1;
  if (x->size != y->size)
    return x->size < y->size ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static void sort(struct symbols *s) {
  if (s->count)
    qsort(s->items, s->count, sizeof *s->items, compare);
}

static bool is_allocated(Elf *elf, unsigned section) {
  GElf_Shdr header;
  if (section == SHN_XINDEX)
    return true;
  Elf_Scn *scn = section == SHN_UNDEF || section >= SHN_LORESERVE
                     ? NULL
                     : elf_getscn(elf, section);
  return scn && gelf_getshdr(scn, &header) && header.sh_flags & SHF_ALLOC;
}

// Returns whether the symbol with this name only tells where the code or the
// data of arm64 begins. As in LLVM, a symbol without a name is one, too.
static bool is_mapping(Elf *elf, const char *name) {
  GElf_Ehdr head;
  return (!*name || (name[0] == '$' && (name[1] == 'x' || name[1] == 'd'))) &&
         gelf_getehdr(elf, &head) && head.e_machine == EM_AARCH64;
}

static void read_table(struct symbols *s, Elf *elf, Elf_Scn *section,
                       const GElf_Shdr *header) {
  Elf_Data *data = elf_getdata(section, NULL);
  if (!data || header->sh_entsize == 0)
    return;
  size_t file = 0; // name of the last file symbol; its local symbols follow
  GElf_Sym symbol;
  for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
    if (GELF_ST_TYPE(symbol.st_info) == STT_FILE)
      file = symbol.st_name;
    if (!is_named(&symbol) || !is_allocated(elf, symbol.st_shndx))
      continue;
    const bool is_local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
    const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
    const char *source =
        is_local && file ? elf_strptr(elf, header->sh_link, file) : NULL;
    if (name && !is_mapping(elf, name))
      *APPEND(s->items, s->count, s->capacity) =
          (struct symbol){.value = symbol.st_value,
                          .size = symbol.st_size,
                          .name = name,
                          .file = source ? source : "",
                          .index = (size_t)i};
  }
}

static bool read_tables(struct symbols *s, Elf *elf, GElf_Word type) {
  GElf_Shdr header;
  for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));)
    if (gelf_getshdr(scn, &header) && header.sh_type == type)
      read_table(s, elf, scn, &header);
  return s->count != 0;
}

struct symbols symbols_of_elf(Elf *elf) {
  struct symbols s = {0};
  if (!read_tables(&s, elf, SHT_SYMTAB))
    read_tables(&s, elf, SHT_DYNSYM);
  sort(&s);
  return s;
}

struct symbols symbols_of_module(Dwfl_Module *m) {
  struct symbols s = {0};
  const int count = dwfl_module_getsymtab(m);
  GElf_Addr bias;
  Elf *elf = dwfl_module_getelf(m, &bias);
  for (int i = 0; i < count; i++) {
    GElf_Sym symbol;
    GElf_Addr address;
    GElf_Word section;
    const char *name =
        dwfl_module_getsym_info(m, i, &symbol, &address, &section, NULL, NULL);
    if (name && *name && is_named(&symbol) && section != SHN_UNDEF &&
        section != SHN_ABS && !is_mapping(elf, name))
      *APPEND(s.items, s.count, s.capacity) =
          (struct symbol){address, symbol.st_size, name, "", (size_t)i};
  }
  sort(&s);
  return s;
}

void symbols_free(struct symbols *s) {
  free(s->items);
  *s = (struct symbols){0};
}

const struct symbol *symbols_find(const struct symbols *s, uint64_t address) {
  size_t low = 0, high = s->count; // the first symbol after the address
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (s->items[middle].value <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return NULL;
  const struct symbol *found = &s->items[low - 1];
  return found->size == 0 || address - found->value < found->size ? found
                                                                  : NULL;
}
