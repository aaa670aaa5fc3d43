// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/debug_file.h"

#include "common/memory.h"
#include "files/archive.h"
#include "names/cut_name.h"
#include "names/function_name.h"
#include "names/limits.h"
#include "names/scopes.h"
#include "names/source_path.h"
#include "names/split.h"
#include "names/symbols.h"
#include "names/unpack.h"
#include "names/variable.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Returned if a value of an ELF file is not known.
static const uint64_t unknown = UINT64_MAX;

// At most this number of functions are shown for an address.
enum { MAX_FRAMES = 256 };

struct unit {
  Dwarf_Die die;
  bool is_skeleton;
};

struct unit_range {
  Dwarf_Addr low, high;
  uint32_t unit;
};

struct debug_file {
  const struct places *places;
  char *path, *build_id;
  char *debug_path, *alt_path; // other files that were found, or NULL
  char *search_path;
  Dwfl *dwfl;
  Dwfl_Module *module;
  Elf *elf;
  Dwarf *dwarf; // or NULL
  Dwarf_Addr elf_bias, dwarf_bias;
  bool has_dwarf;       // the ELF file itself
  bool has_debug_dwarf; // the separate debug file
  struct unit *units;
  struct unit_range *ranges; // sorted by low
  size_t unit_count, unit_capacity, range_count, range_capacity;
  struct symbols symbols, other_symbols;
  bool has_other_symbols;
  Dwfl_Callbacks callbacks;
  struct split_files *split_files;
  struct other_unit *others;
  // For one address.
  struct name_frame frames[MAX_FRAMES];
  // Texts of the frames that are to be freed, or NULL.
  char *names[MAX_FRAMES], *paths[MAX_FRAMES];
  size_t frame_count;
  const char *directory; // of the compilation, or ""
  struct used {
    char *path, *name;
  } *used; // files of split DWARF
  size_t used_count, used_capacity;
};

// --- opening ---

static bool has_debug_info(Elf *elf) {
  size_t names;
  GElf_Shdr header;
  if (elf_getshdrstrndx(elf, &names) != 0)
    return false;
  for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
    const char *name = gelf_getshdr(scn, &header)
                           ? elf_strptr(elf, names, header.sh_name)
                           : NULL;
    if (name && header.sh_type != SHT_NOBITS &&
        (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0))
      return true;
  }
  return false;
}

static bool has_debug_info_at(int fd) {
  Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
  const bool has = elf && has_debug_info(elf);
  elf_end(elf);
  return has;
}

// Finds the separate debug file, or the file of the alternate link (dwz).
// libdwfl calls this function for both.
static int find_debug_file(Dwfl_Module *m, void **userdata, const char *name,
                           Dwarf_Addr base, const char *file, const char *link,
                           GElf_Word crc, char **found) {
  struct debug_file *f = *userdata;
  const bool is_alt = f->has_dwarf || f->debug_path;
  char *member = text_of("files/%s.%s", f->build_id, is_alt ? "alt" : "debug");
  int fd = f->places->bundle ? archive_fd(f->places->bundle, member) : -1;
  free(member);
  if (fd >= 0)
    *found = strdup(f->path);
  else
    fd = dwfl_standard_find_debuginfo(m, userdata, name, base, file, link, crc,
                                      found);
  struct stat s;
  if (fd >= 0 && fstat(fd, &s) == 0)
    limits_allow((uint64_t)s.st_size);
  if (fd >= 0 && *found) {
    char **path = is_alt ? &f->alt_path : &f->debug_path;
    free(*path);
    *path = text_of("%s", *found);
  }
  fd = unpack(fd);
  if (!is_alt)
    f->has_debug_dwarf = has_debug_info_at(fd);
  return fd;
}

static int compare_ranges(const void *a, const void *b) {
  const struct unit_range *x = a, *y = b;
  if (x->low != y->low)
    return x->low < y->low ? -1 : 1;
  return (x->unit > y->unit) - (x->unit < y->unit);
}

static void add_range(struct debug_file *f, Dwarf_Addr low, Dwarf_Addr high,
                      uint32_t unit) {
  if (low < high)
    *APPEND(f->ranges, f->range_count, f->range_capacity) =
        (struct unit_range){low, high, unit};
}

// In DWARF 2, only .debug_aranges has all address ranges of a unit.
static void read_aranges(struct debug_file *f, Dwarf_Die *die, uint32_t unit) {
  Dwarf_Aranges *ranges;
  size_t count = 0;
  Dwarf_Addr low;
  Dwarf_Word length;
  Dwarf_Off offset;
  if (dwarf_getaranges(f->dwarf, &ranges, &count) != 0)
    return;
  for (size_t i = 0; i < count; i++)
    if (dwarf_getarangeinfo(dwarf_onearange(ranges, i), &low, &length,
                            &offset) == 0 &&
        offset == dwarf_dieoffset(die))
      add_range(f, low, low + length, unit);
}

// Reads the address ranges of all units. Returns false if the debug information
// cannot be read.
static bool read_units(struct debug_file *f) {
  f->dwarf = dwfl_module_getdwarf(f->module, &f->dwarf_bias);
  Dwarf_CU *unit = NULL;
  Dwarf_Die die;
  Dwarf_Half version;
  uint8_t type;
  Dwarf_Addr base, low, high;
  int result = 1;
  while (f->dwarf && (result = dwarf_get_units(f->dwarf, unit, &unit, &version,
                                               &type, &die, NULL)) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton)
      continue;
    const uint32_t number = (uint32_t)f->unit_count;
    for (ptrdiff_t at = 0;
         (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0;)
      add_range(f, low, high, number);
    if (version == 2)
      read_aranges(f, &die, number);
    *APPEND(f->units, f->unit_count, f->unit_capacity) =
        (struct unit){die, type == DW_UT_skeleton};
  }
  if (f->range_count)
    qsort(f->ranges, f->range_count, sizeof *f->ranges, compare_ranges);
  return result >= 0 && (f->dwarf || !(f->has_dwarf || f->has_debug_dwarf));
}

void debug_file_close(struct debug_file *f) {
  split_files_free(f->split_files);
  other_units_free(f->others);
  symbols_free(&f->symbols);
  symbols_free(&f->other_symbols);
  if (f->dwfl)
    dwfl_end(f->dwfl);
  free(f->path);
  free(f->build_id);
  free(f->debug_path);
  free(f->alt_path);
  free(f->search_path);
  free(f->units);
  free(f->ranges);
  for (size_t i = 0; i < f->used_count; i++) {
    free(f->used[i].path);
    free(f->used[i].name);
  }
  free(f->used);
  free(f);
}

static struct debug_file *close_bad(struct debug_file *f, char **problem) {
  *problem = text_of("%s cannot be read; its frames have no names", f->path);
  debug_file_close(f);
  return NULL;
}

struct debug_file *debug_file_open(const struct place *place,
                                   const struct places *places,
                                   char **problem) {
  struct debug_file *f = zeroed(1, sizeof *f);
  f->places = places;
  f->path = place->path;
  f->search_path = places_debug_path(places);
  f->callbacks = (Dwfl_Callbacks){.find_elf = dwfl_build_id_find_elf,
                                  .find_debuginfo = find_debug_file,
                                  .debuginfo_path = &f->search_path};
  f->dwfl = dwfl_begin(&f->callbacks);
  const int fd = unpack(place->fd);
  if (f->dwfl)
    f->module = dwfl_report_elf(f->dwfl, f->path, f->path, fd, 0, true);
  if (!f->module) {
    close(fd);
    return close_bad(f, problem);
  }
  dwfl_report_end(f->dwfl, NULL, NULL);
  void **userdata;
  dwfl_module_info(f->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
  *userdata = f;
  f->elf = dwfl_module_getelf(f->module, &f->elf_bias);
  if (!f->elf)
    return close_bad(f, problem);
  const void *id = NULL;
  const ssize_t size = dwelf_elf_gnu_build_id(f->elf, &id);
  f->build_id = hex_of(id, size > 0 ? (size_t)size : 0);
  f->has_dwarf = has_debug_info(f->elf);
  f->symbols = symbols_of_elf(f->elf);
  *problem = read_units(f)
                 ? NULL
                 : text_of("the debug information of %s cannot be read "
                           "completely; some of its frames may have only names "
                           "of symbols (it may be damaged or compressed in a "
                           "way that mprof does not know, or memory may have "
                           "run out)",
                           f->debug_path ? f->debug_path : f->path);
  return f;
}

// --- one address ---

// Returns the address of a byte of the file, or `unknown`.
static uint64_t address_of(const struct debug_file *f, uint64_t offset) {
  size_t count;
  GElf_Phdr p;
  if (elf_getphdrnum(f->elf, &count) != 0)
    return unknown;
  for (size_t i = 0; i < count; i++)
    if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_LOAD &&
        offset >= p.p_offset && offset - p.p_offset < p.p_filesz)
      return p.p_vaddr + (offset - p.p_offset);
  return unknown;
}

// libdw's paths are relative to the directory of the compilation, or begin with
// it.
static char *full_path(const struct debug_file *f, const char *file) {
  const char *directory = f->directory;
  const size_t length = strlen(directory);
  const bool is_full = *file == '/' || length == 0 ||
                       (strncmp(file, directory, length) == 0 &&
                        (file[length] == '/' || directory[length - 1] == '/'));
  return is_full ? text_of("%s", file) : text_of("%s/%s", directory, file);
}

static struct name_frame *add_frame(struct debug_file *f, const char *function,
                                    const char *file, int64_t line,
                                    int64_t start_line) {
  struct name_frame *n = &f->frames[f->frame_count];
  *n = (struct name_frame){function, "", line, start_line};
  if (file) {
    f->paths[f->frame_count] = full_path(f, file);
    mprof_source_path(f->paths[f->frame_count]);
    n->file = f->paths[f->frame_count];
  }
  f->frame_count++;
  return n;
}

// Adds the frames that the debug information has. unit has the line table.
static void add_frames(struct debug_file *f, Dwarf_Die *unit,
                       const struct split_unit *split,
                       const struct scopes *scopes, uint32_t scope,
                       Dwarf_Addr address) {
  Dwarf_Line *row = dwarf_getsrc_die(unit, address);
  const char *file = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
  int line = 0;
  // The line of an address is unknown if its file is.
  if (file)
    dwarf_lineno(row, &line);
  int64_t number = line;
  if (scope == NO_SCOPE && file)
    add_frame(f, "", file, number, 0);
  while (scope != NO_SCOPE && f->frame_count < MAX_FRAMES) {
    Dwarf_Die *die = &scopes->items[scope].die;
    const struct name_source source = {unit, split, scopes, &f->others};
    char *name = call_operator_name(&source, die);
    f->names[f->frame_count] = name;
    add_frame(f, name ? name : function_name(&source, die), file, number,
              (int64_t)die_number(die, DW_AT_decl_line, false));
    file = die_file(unit, die_number(die, DW_AT_call_file, true));
    number = (int64_t)die_number(die, DW_AT_call_line, true);
    scope = scopes->items[scope].parent;
  }
  // add_symbol names the last frame.
  if (scope != NO_SCOPE)
    f->frames[MAX_FRAMES - 2].function = MPROF_CUT_MARK;
}

// Names the outermost function as the symbol table does.
static void add_symbol(struct debug_file *f, uint64_t address) {
  const struct symbol *s = symbols_find(&f->symbols, address - f->elf_bias);
  if (!s && (f->frame_count == 0 || !*f->frames[f->frame_count - 1].function)) {
    const bool is_separate = f->debug_path && f->dwarf;
    if (!f->has_other_symbols)
      f->other_symbols = is_separate ? symbols_of_elf(dwarf_getelf(f->dwarf))
                                     : symbols_of_module(f->module);
    f->has_other_symbols = true;
    s = symbols_find(&f->other_symbols,
                     is_separate ? address - f->dwarf_bias : address);
  }
  if (!s)
    return;
  if (f->frame_count == 0)
    add_frame(f, "", NULL, 0, 0);
  struct name_frame *outermost = &f->frames[f->frame_count - 1];
  outermost->function = s->name;
  if (!*outermost->file)
    outermost->file = s->file;
}

// --- many addresses ---

struct query {
  Dwarf_Addr address; // in the module
  uint32_t unit;      // or NO_UNIT
  uint32_t index;     // of the offset
};
enum { NO_UNIT = UINT32_MAX };

struct request {
  struct debug_file *f;
  frames_fn *found;
  void *arg;
};

static void finish(const struct request *r, const struct query *q) {
  struct debug_file *f = r->f;
  add_symbol(f, q->address);
  // A frame without function says nothing.
  if (f->frame_count && *f->frames[0].function)
    r->found(r->arg, q->index, f->frames, f->frame_count);
  for (size_t i = 0; i < f->frame_count; i++) {
    free(f->names[i]);
    free(f->paths[i]);
    f->names[i] = f->paths[i] = NULL;
  }
  f->frame_count = 0;
}

// Answers the queries, which are about addresses of one unit.
static void answer_unit(const struct request *r, const struct query *queries,
                        size_t count) {
  struct debug_file *f = r->f;
  struct unit *unit = &f->units[queries->unit];
  Dwarf_Addr *addresses = zeroed(count, sizeof *addresses);
  for (size_t i = 0; i < count; i++)
    addresses[i] = queries[i].address - f->dwarf_bias;
  struct split_unit *split = NULL;
  if (unit->is_skeleton && !f->split_files)
    f->split_files =
        split_files_new(f->places, f->path, f->debug_path, f->build_id);
  if (unit->is_skeleton)
    split = split_open(f->split_files, &unit->die);
  Dwarf_Die die = split ? split_die(split) : unit->die;
  Dwarf_Attribute a;
  const char *directory =
      dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &a));
  f->directory = directory ? directory : "";
  struct scopes scopes = scopes_of(&die, split, addresses, count);
  for (size_t i = 0; i < count; i++) {
    add_frames(f, &unit->die, split, &scopes, scopes.innermost[i],
               addresses[i]);
    finish(r, &queries[i]);
  }
  if (split)
    *APPEND(f->used, f->used_count, f->used_capacity) = (struct used){
        text_of("%s", split_path(split)), text_of("%s", split_name(split))};
  scopes_free(&scopes);
  split_close(split);
  free(addresses);
}

static uint32_t unit_at(const struct debug_file *f, Dwarf_Addr address) {
  enum { MAX_OVERLAPS = 16 };
  size_t low = 0, high = f->range_count; // the first range after the address
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (f->ranges[middle].low <= address)
      low = middle + 1;
    else
      high = middle;
  }
  for (size_t i = low; i > 0 && low - i < MAX_OVERLAPS; i--)
    if (address < f->ranges[i - 1].high)
      return f->ranges[i - 1].unit;
  return NO_UNIT;
}

static int compare_queries(const void *a, const void *b) {
  const struct query *x = a, *y = b;
  if (x->unit != y->unit)
    return x->unit < y->unit ? -1 : 1;
  return (x->address > y->address) - (x->address < y->address);
}

void debug_file_frames(struct debug_file *f, const uint64_t *offsets,
                       size_t count, bool has_addresses, frames_fn *found,
                       void *arg) {
  const struct request r = {f, found, arg};
  struct query *queries = zeroed(count, sizeof *queries);
  size_t known = 0;
  for (size_t i = 0; i < count; i++) {
    const uint64_t address =
        has_addresses ? offsets[i] : address_of(f, offsets[i]);
    if (address != unknown) {
      const Dwarf_Addr at = address + f->elf_bias;
      queries[known++] =
          (struct query){at, unit_at(f, at - f->dwarf_bias), (uint32_t)i};
    }
  }
  qsort(queries, known, sizeof *queries, compare_queries);
  for (size_t first = 0, end; first < known; first = end) {
    for (end = first; end < known && queries[end].unit == queries[first].unit;)
      end++;
    if (queries[first].unit != NO_UNIT)
      answer_unit(&r, &queries[first], end - first);
    for (size_t i = first; i < end && queries[i].unit == NO_UNIT; i++)
      finish(&r, &queries[i]);
  }
  free(queries);
}

char *debug_file_variable(const struct debug_file *f, uint64_t address) {
  return variable_name(&f->symbols, address);
}

void debug_file_used(const struct debug_file *f, used_fn *found, void *arg) {
  char *name = text_of("files/%s", f->build_id);
  found(arg, f->path, name);
  free(name);
  if (f->debug_path) {
    name = text_of("files/%s.debug", f->build_id);
    found(arg, f->debug_path, name);
    free(name);
  }
  if (f->alt_path) {
    name = text_of("files/%s.alt", f->build_id);
    found(arg, f->alt_path, name);
    free(name);
  }
  for (size_t i = 0; i < f->used_count; i++)
    found(arg, f->used[i].path, f->used[i].name);
}

// Calls found for the paths at which dwfl_standard_find_debuginfo looks for the
// separate file.
static void find_places(const struct debug_file *f, path_fn *found, void *arg) {
  static const char root[] = "/usr/lib/debug";
  const char *base = basename(f->path);
  const int directory = (int)(base - f->path);
  GElf_Word crc;
  const char *link = dwelf_elf_gnu_debuglink(f->elf, &crc);
  char *name = link ? text_of("%s", link) : text_of("%s.debug", base);
  char *paths[] = {
      text_of("%s/.build-id/%.2s/%s.debug", root, f->build_id,
              strlen(f->build_id) > 2 ? f->build_id + 2 : ""),
      text_of("%.*s%s", directory, f->path, name),
      text_of("%.*s.debug/%s", directory, f->path, name),
      text_of("%s%.*s%s", root, directory, f->path, name),
  };
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    found(arg, paths[i]);
    free(paths[i]);
  }
  free(name);
}

void debug_file_places(const struct debug_file *f, path_fn *found, void *arg) {
  if (!f->has_dwarf)
    find_places(f, found, arg);
  if (f->debug_path)
    found(arg, f->debug_path);
  if (f->alt_path)
    found(arg, f->alt_path);
}

bool debug_file_is_complete(const struct debug_file *f) {
  const char *name;
  const void *id;
  const bool needs_alt =
      f->dwarf && dwelf_dwarf_gnu_debugaltlink(f->dwarf, &name, &id) > 0;
  return !f->split_files && (f->alt_path || !needs_alt);
}
