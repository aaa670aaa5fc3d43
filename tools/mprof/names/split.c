// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/split.h"

#include "common/memory.h"
#include "files/archive.h"
#include "names/slice.h"
#include "names/unpack.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// An open .dwo or .dwp file.
struct split_file {
  char *path;
  int fd;
  Elf *elf;
  Dwarf *dwarf;
};

struct split_files {
  const struct places *places;
  const char *path, *debug_path, *build_id;
  struct split_file package; // the .dwp file
  bool was_searched, has_package;
};

struct split_unit {
  struct split_file file;
  bool owns_file;
  char *name; // in a bundle
  Dwarf_Die die;
  // Tables of the split unit.
  struct slice info, strings, string_offsets, range_lists;
  // Tables of the file with the skeleton, and where those of the unit begin.
  struct slice addresses, old_ranges;
  uint64_t address_base, old_range_base;
  Dwarf_Addr low; // of the skeleton
  unsigned version, address_size;
};

// Numbers of the columns in .debug_cu_index. (DWARF 5, table 7.1)
enum {
  COLUMN_INFO = 1,
  COLUMN_ABBREV = 3,
  COLUMN_STRING_OFFSETS = 6,
  COLUMN_RANGE_LISTS = 8
};

static void close_file(struct split_file *f) {
  dwarf_end(f->dwarf);
  elf_end(f->elf);
  if (f->fd >= 0)
    close(f->fd);
  free(f->path);
  *f = (struct split_file){.fd = -1};
}

// Renames the index sections of a package in memory. libdw of older versions
// ignores the sections of split units if there is any other section with
// debug information.
static void hide_indices(Elf *elf) {
  size_t names;
  GElf_Shdr header;
  if (elf_getshdrstrndx(elf, &names) != 0)
    return;
  const Elf_Data *data = elf_rawdata(elf_getscn(elf, names), NULL);
  for (Elf_Scn *scn = NULL; data && (scn = elf_nextscn(elf, scn));) {
    const char *name = gelf_getshdr(scn, &header)
                           ? elf_strptr(elf, names, header.sh_name)
                           : NULL;
    if (name && header.sh_name < data->d_size &&
        (strcmp(name, ".debug_cu_index") == 0 ||
         strcmp(name, ".debug_tu_index") == 0))
      ((char *)data->d_buf)[header.sh_name] = '_';
  }
}

// Opens a file with split units. Takes over the path and the descriptor.
static bool open_file(struct split_file *f, char *path, int fd) {
  *f = (struct split_file){.path = path, .fd = unpack(fd)};
  if (f->fd >= 0)
    // Private, because the package is changed in memory.
    f->elf = elf_begin(f->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
  if (f->elf)
    hide_indices(f->elf);
  if (f->elf)
    f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
  if (f->dwarf)
    return true;
  close_file(f);
  return false;
}

// --- packages ---

struct package_index {
  struct slice data;
  uint64_t columns, units, slots;
  uint64_t rows; // offset of the row of column numbers
};

static struct package_index read_index(const struct split_file *f) {
  struct package_index x = {.data =
                                slice_of_section(f->elf, "_debug_cu_index")};
  x.columns = slice_number(x.data, 4, 4);
  x.units = slice_number(x.data, 8, 4);
  x.slots = slice_number(x.data, 12, 4);
  x.rows = 16 + 12 * x.slots;
  // Offsets and sizes have a cell for each unit and column. Without columns,
  // any number of units would fit.
  if (x.columns == 0 || x.columns > 64 ||
      x.rows + 4 * x.columns * (1 + 2 * x.units) > x.data.length)
    x = (struct package_index){0};
  return x;
}

// Returns the part of a section that belongs to the unit in this row. Rows are
// numbered from 1.
static struct slice part_of(const struct package_index *x, uint64_t row,
                            unsigned column, struct slice section) {
  for (uint64_t i = 0; i < x->columns; i++)
    if (slice_number(x->data, x->rows + 4 * i, 4) == column) {
      const uint64_t cell = x->rows + 4 * (row * x->columns + i);
      return slice_part(
          section, slice_number(x->data, cell, 4),
          slice_number(x->data, cell + 4 * x->units * x->columns, 4));
    }
  return (struct slice){0};
}

// Adds the place of each unit's abbreviations to its header, as libdw does not
// know the index.
static void set_abbreviations(const struct split_file *f) {
  const struct package_index x = read_index(f);
  const struct slice info = slice_of_section(f->elf, ".debug_info.dwo"),
                     all = slice_of_section(f->elf, ".debug_abbrev.dwo");
  for (uint64_t row = 1; row <= x.units; row++) {
    const struct slice unit = part_of(&x, row, COLUMN_INFO, info),
                       abbrev = part_of(&x, row, COLUMN_ABBREV, all);
    const unsigned at = slice_number(unit, 4, 2) >= 5 ? 8 : 6;
    if (!abbrev.at || unit.length < at + 4)
      continue;
    const uint64_t offset =
        slice_number(unit, at, 4) + (uint64_t)(abbrev.at - all.at);
    for (unsigned i = 0; i < 4; i++)
      unit.at[at + i] = (uint8_t)(offset >> (8 * i));
  }
}

// Finds the .dwp file.
static bool find_package(struct split_files *s) {
  const struct places *p = s->places;
  char *member = text_of("files/%s.dwp", s->build_id);
  const int fd = p->bundle ? archive_fd(p->bundle, member) : -1;
  free(member);
  if (fd >= 0)
    return open_file(&s->package, text_of("%s.dwp", s->path), fd);
  char *path = NULL;
  for (size_t i = 0; i < p->debug_dirs.count + 2; i++) {
    if (i == 0)
      path = text_of("%s.dwp", s->path);
    else if (i == 1 && s->debug_path)
      path = text_of("%s.dwp", s->debug_path);
    else if (i > 1)
      path =
          text_of("%s/%s.dwp", p->debug_dirs.items[i - 2], basename(s->path));
    else
      continue;
    if (open_file(&s->package, path, places_open(path)))
      return true;
  }
  return false;
}

// Sets the tables and the DIE of the unit from the package.
static bool find_in_package(struct split_files *s, struct split_unit *u,
                            uint64_t id) {
  if (!s->was_searched) {
    s->has_package = find_package(s);
    if (s->has_package)
      set_abbreviations(&s->package);
  }
  s->was_searched = true;
  if (!s->has_package)
    return false;
  const struct package_index x = read_index(&s->package);
  uint64_t row = 0;
  for (uint64_t i = 0; i < x.slots && row == 0; i++)
    if (slice_number(x.data, 16 + 8 * i, 8) == id)
      row = slice_number(x.data, 16 + 8 * x.slots + 4 * i, 4);
  if (row == 0 || row > x.units)
    return false;
  Elf *elf = s->package.elf;
  const struct slice info = slice_of_section(elf, ".debug_info.dwo"),
                     unit = part_of(&x, row, COLUMN_INFO, info);
  const unsigned header = u->version >= 5 ? 20 : 11;
  u->string_offsets = part_of(&x, row, COLUMN_STRING_OFFSETS,
                              slice_of_section(elf, ".debug_str_offsets.dwo"));
  u->range_lists = part_of(&x, row, COLUMN_RANGE_LISTS,
                           slice_of_section(elf, ".debug_rnglists.dwo"));
  u->file = s->package;
  return unit.at &&
         dwarf_offdie(s->package.dwarf, (Dwarf_Off)(unit.at - info.at) + header,
                      &u->die);
}

// --- single files ---

// Sets the tables and the DIE of the unit from the file, if the file has the
// unit. Takes over the path and the descriptor.
static bool try_fd(struct split_unit *u, uint64_t id, char *path, int fd) {
  struct split_file f;
  if (!open_file(&f, path, fd))
    return false;
  Dwarf_CU *cu = NULL;
  Dwarf_Die die;
  uint64_t unit_id;
  while (dwarf_get_units(f.dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0) {
    if (dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &unit_id, NULL, NULL) != 0 ||
        unit_id != id)
      continue;
    u->file = f;
    u->owns_file = true;
    u->die = die;
    u->string_offsets = slice_of_section(f.elf, ".debug_str_offsets.dwo");
    u->range_lists = slice_of_section(f.elf, ".debug_rnglists.dwo");
    return true;
  }
  close_file(&f);
  return false;
}

static bool try(struct split_unit *u, uint64_t id, char *path) {
  return try_fd(u, id, path, places_open(path));
}

// Tries the file below a directory, which may be "".
static bool try_below(struct split_unit *u, uint64_t id, const char *root,
                      const char *directory, const char *name) {
  return *name == '/' ? try(u, id, text_of("%s%s", root, name))
                      : try(u, id, text_of("%s%s/%s", root, directory, name));
}

static bool find_file(const struct split_files *s, struct split_unit *u,
                      uint64_t id, const char *directory, const char *name) {
  const struct places *p = s->places;
  const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
  const int fd = p->bundle ? archive_fd(p->bundle, u->name) : -1;
  if (fd >= 0 && try_fd(u, id, text_of("%s", name), fd))
    return true;
  if (p->sysroot && try_below(u, id, p->sysroot, directory, name))
    return true;
  if (try_below(u, id, "", directory, name))
    return true;
  slash = strrchr(s->path, '/');
  const int length = slash ? (int)(slash - s->path) : 0;
  if (try(u, id, text_of("%.*s/%s", length, s->path, name)) ||
      try(u, id, text_of("%.*s/%s", length, s->path, base)))
    return true;
  for (size_t i = 0; i < p->debug_dirs.count; i++)
    if (try(u, id, text_of("%s/%s", p->debug_dirs.items[i], name)) ||
        try(u, id, text_of("%s/%s", p->debug_dirs.items[i], base)))
      return true;
  return false;
}

// --- units ---

struct split_files *split_files_new(const struct places *places,
                                    const char *path, const char *debug_path,
                                    const char *build_id) {
  struct split_files *s = zeroed(1, sizeof *s);
  *s = (struct split_files){.places = places,
                            .path = path,
                            .debug_path = debug_path,
                            .build_id = build_id,
                            .package.fd = -1};
  return s;
}

void split_files_free(struct split_files *s) {
  if (!s)
    return;
  close_file(&s->package);
  free(s);
}

static const char *text_attribute(Dwarf_Die *die, unsigned name,
                                  unsigned old_name) {
  Dwarf_Attribute a;
  const char *text = dwarf_formstring(dwarf_attr(die, name, &a));
  return text || !old_name ? text
                           : dwarf_formstring(dwarf_attr(die, old_name, &a));
}

static uint64_t offset_attribute(Dwarf_Die *die, unsigned name,
                                 unsigned old_name) {
  Dwarf_Attribute a;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(die, name, &a), &value) != 0)
    dwarf_formudata(dwarf_attr(die, old_name, &a), &value);
  return value;
}

struct split_unit *split_open(struct split_files *files, Dwarf_Die *skeleton) {
  Dwarf_Half version;
  uint8_t address_size;
  uint64_t id;
  const char *name =
      text_attribute(skeleton, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
  const char *directory = text_attribute(skeleton, DW_AT_comp_dir, 0);
  if (!name || dwarf_cu_info(skeleton->cu, &version, NULL, NULL, NULL, &id,
                             &address_size, NULL) != 0)
    return NULL;
  struct split_unit *u = zeroed(1, sizeof *u);
  u->version = version;
  u->address_size = address_size;
  u->name =
      text_of("files/%s.%016llx.dwo", files->build_id, (unsigned long long)id);
  const bool is_packed = find_in_package(files, u, id);
  if (!is_packed &&
      !find_file(files, u, id, directory ? directory : "", name)) {
    split_close(u);
    return NULL;
  }
  if (is_packed) {
    free(u->name);
    u->name = text_of("files/%s.dwp", files->build_id);
  }
  u->info = slice_of_section(u->file.elf, ".debug_info.dwo");
  u->strings = slice_of_section(u->file.elf, ".debug_str.dwo");
  Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(skeleton->cu));
  u->addresses = slice_of_section(elf, ".debug_addr");
  u->old_ranges = slice_of_section(elf, ".debug_ranges");
  u->address_base =
      offset_attribute(skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base);
  u->old_range_base =
      offset_attribute(skeleton, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base);
  if (dwarf_lowpc(skeleton, &u->low) != 0)
    u->low = 0;
  return u;
}

void split_close(struct split_unit *s) {
  if (!s)
    return;
  if (s->owns_file)
    close_file(&s->file);
  free(s->name);
  free(s);
}

const char *split_path(const struct split_unit *s) { return s->file.path; }
const char *split_name(const struct split_unit *s) { return s->name; }
Dwarf_Die split_die(const struct split_unit *s) { return s->die; }

// --- attributes ---

// Reads the index that an attribute has. Returns false if the form is another
// one.
static bool read_index_form(const struct split_unit *s,
                            const Dwarf_Attribute *a, uint64_t *index) {
  if (a->valp < s->info.at || a->valp >= s->info.at + s->info.length)
    return false;
  uint64_t at = (uint64_t)(a->valp - s->info.at);
  switch (a->form) {
  case DW_FORM_strx:
  case DW_FORM_addrx:
  case DW_FORM_rnglistx:
  case DW_FORM_GNU_str_index:
  case DW_FORM_GNU_addr_index:
    *index = slice_uleb(s->info, &at);
    return true;
  case DW_FORM_strx1:
  case DW_FORM_addrx1:
    *index = slice_number(s->info, at, 1);
    return true;
  case DW_FORM_strx2:
  case DW_FORM_addrx2:
    *index = slice_number(s->info, at, 2);
    return true;
  case DW_FORM_strx3:
  case DW_FORM_addrx3:
    *index = slice_number(s->info, at, 3);
    return true;
  case DW_FORM_strx4:
  case DW_FORM_addrx4:
    *index = slice_number(s->info, at, 4);
    return true;
  default:
    return false;
  }
}

const char *split_string(const struct split_unit *s, Dwarf_Attribute *a) {
  uint64_t index;
  if (!a)
    return NULL;
  if (!read_index_form(s, a, &index))
    return dwarf_formstring(a);
  if (index >= s->string_offsets.length)
    return NULL;
  // In DWARF 5, the table has a header.
  const uint64_t at = (s->version >= 5 ? 8 : 0) + 4 * index;
  if (at + 4 > s->string_offsets.length)
    return NULL;
  return slice_string(s->strings, slice_number(s->string_offsets, at, 4));
}

static uint64_t address_at(const struct split_unit *s, uint64_t index) {
  if (index >= s->addresses.length)
    return 0;
  return slice_number(s->addresses, s->address_base + index * s->address_size,
                      s->address_size);
}

static bool address_of(const struct split_unit *s, Dwarf_Attribute *a,
                       Dwarf_Addr *address) {
  uint64_t index;
  if (!a)
    return false;
  if (!read_index_form(s, a, &index))
    return dwarf_formaddr(a, address) == 0;
  *address = address_at(s, index);
  return true;
}

typedef void range_fn(void *arg, Dwarf_Addr low, Dwarf_Addr high);

// Reads a list of .debug_rnglists.dwo.
static void read_list(const struct split_unit *s, uint64_t at, range_fn *found,
                      void *arg) {
  const struct slice lists = s->range_lists;
  Dwarf_Addr base = s->low, low, high;
  while (at < lists.length) {
    switch (lists.at[at++]) {
    case DW_RLE_base_addressx:
      base = address_at(s, slice_uleb(lists, &at));
      continue;
    case DW_RLE_startx_endx:
      low = address_at(s, slice_uleb(lists, &at));
      high = address_at(s, slice_uleb(lists, &at));
      break;
    case DW_RLE_startx_length:
      low = address_at(s, slice_uleb(lists, &at));
      high = low + slice_uleb(lists, &at);
      break;
    case DW_RLE_offset_pair:
      low = base + slice_uleb(lists, &at);
      high = base + slice_uleb(lists, &at);
      break;
    case DW_RLE_base_address:
      base = slice_number(lists, at, s->address_size);
      at += s->address_size;
      continue;
    case DW_RLE_start_end:
      low = slice_number(lists, at, s->address_size);
      high = slice_number(lists, at + s->address_size, s->address_size);
      at += 2u * s->address_size;
      break;
    case DW_RLE_start_length:
      low = slice_number(lists, at, s->address_size);
      at += s->address_size;
      high = low + slice_uleb(lists, &at);
      break;
    default: // DW_RLE_end_of_list, or a damaged list
      return;
    }
    found(arg, low, high);
  }
}

// Reads a list of .debug_ranges, which is in the file with the skeleton.
static void read_old_list(const struct split_unit *s, uint64_t at,
                          range_fn *found, void *arg) {
  const unsigned size = s->address_size;
  Dwarf_Addr base = s->low;
  for (; size && at < s->old_ranges.length; at += 2u * size) {
    const Dwarf_Addr low = slice_number(s->old_ranges, at, size),
                     high = slice_number(s->old_ranges, at + size, size);
    if (low == 0 && high == 0)
      return;
    if (low == (size == 8 ? UINT64_MAX : UINT32_MAX))
      base = high;
    else
      found(arg, base + low, base + high);
  }
}

void split_ranges(const struct split_unit *s, Dwarf_Die *die, range_fn *found,
                  void *arg) {
  Dwarf_Attribute a;
  Dwarf_Addr low, high;
  Dwarf_Word value;
  uint64_t index;
  if (address_of(s, dwarf_attr(die, DW_AT_low_pc, &a), &low)) {
    // DW_AT_high_pc is an address or the distance from DW_AT_low_pc.
    if (!dwarf_attr(die, DW_AT_high_pc, &a))
      return;
    if (dwarf_formudata(&a, &value) == 0)
      found(arg, low, low + value);
    else if (address_of(s, &a, &high))
      found(arg, low, high);
    return;
  }
  if (!dwarf_attr(die, DW_AT_ranges, &a))
    return;
  enum { HEADER = 12 }; // of .debug_rnglists
  if (read_index_form(s, &a, &index)) {
    if (index < s->range_lists.length)
      read_list(s, HEADER + slice_number(s->range_lists, HEADER + 4 * index, 4),
                found, arg);
  } else if (a.form == DW_FORM_sec_offset) {
    // dwarf_formudata would look for the list in the split file.
    const uint64_t at = slice_number(s->info, (uint64_t)(a.valp - s->info.at),
                                     sizeof(uint32_t));
    if (s->version >= 5)
      read_list(s, at, found, arg);
    else
      read_old_list(s, s->old_range_base + at, found, arg);
  }
}
