// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds and reads the entries of .eh_frame; see eh_frame.h.
//
//   pc -> module's .eh_frame_hdr (_dl_find_object)
//      -> function's entry (FDE), by binary search
//      -> entry shared by many functions (CIE), named by the FDE
//
// The bytes of .eh_frame may be corrupt, for example if a faulty tool has
// written the file. Even with corrupt bytes, all reads stay inside the module's
// mapping and all loops end. test/fuzz/eh_frame_fuzz.c tests this.

#include "unwind/eh_frame.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

// --- reading .eh_frame ---
// (DWARF 5, 6.4; LSB 5.0, 10.6)

// Encodings of pointers. The lower 4 bits are the format of the pointer. The
// upper 4 bits tell to which address the pointer is relative. (LSB 5.0, 10.5.1)
enum {
  DW_EH_PE_absptr = 0x00,
  DW_EH_PE_udata4 = 0x03,
  DW_EH_PE_udata8 = 0x04,
  DW_EH_PE_sdata4 = 0x0b,
  DW_EH_PE_sdata8 = 0x0c,
  DW_EH_PE_datarel = 0x30,
  DW_EH_PE_FORMAT = 0x0f // mask
};

// Returns the size in bytes of a pointer with encoding e. Returns 0 if linkers
// do not write this encoding.
static size_t encoded_size(uint8_t e) {
  switch (e & DW_EH_PE_FORMAT) {
  case DW_EH_PE_absptr:
  case DW_EH_PE_udata8:
  case DW_EH_PE_sdata8:
    return 8;
  case DW_EH_PE_udata4:
  case DW_EH_PE_sdata4:
    return 4;
  default:
    return 0;
  }
}

// A module that the loader has mapped at the addresses [start, limit).
struct module {
  uintptr_t start, limit;
  const struct header *header; // section .eh_frame_hdr
};

// Returns whether [at, at + length) lies in the mapping of module m.
static bool holds(const struct module *m, uintptr_t at, uint64_t length) {
  return at >= m->start && at <= m->limit && length <= m->limit - at;
}

// Reads the entry of .eh_frame at address `at`. Sets *body to the entry's bytes
// after the length field. Returns false for the terminator (length 0), for an
// entry in the 64-bit format, and for an entry that does not lie in the module.
static bool open_entry(const struct module *m, uintptr_t at,
                       struct mprof_cursor *body) {
  uint32_t length;
  if (!holds(m, at, sizeof(length)))
    return false;
  const uint8_t *p = (const uint8_t *)at;
  memcpy(&length, p, sizeof(length));
  if (length == 0 || length == UINT32_MAX ||
      !holds(m, at + sizeof(length), length))
    return false;
  *body =
      (struct mprof_cursor){p + sizeof(length), p + sizeof(length) + length};
  return true;
}

static bool read_cie(const struct module *m, uintptr_t at,
                     struct mprof_eh_cie *cie) {
  struct mprof_cursor c;
  if (!open_entry(m, at, &c) || mprof_cursor_bytes(&c, 4) != 0)
    return false;
  uint8_t version = (uint8_t)mprof_cursor_bytes(&c, 1);
  const char *augmentation = (const char *)c.at;
  const uint8_t *null = memchr(c.at, 0, (size_t)(c.end - c.at));
  if (!null) // the augmentation string does not end inside the entry
    return false;
  c.at = null + 1;
  *cie = (struct mprof_eh_cie){.code_align = mprof_cursor_uleb(&c),
                               .data_align = mprof_cursor_sleb(&c),
                               .has_augmentation = augmentation[0] == 'z'};
  if (version == 1)
    mprof_cursor_bytes(&c, 1);
  else
    mprof_cursor_uleb(
        &c); // skips the return address's register, which is not needed
  if (augmentation[0] != '\0' && !cie->has_augmentation)
    return false;
  if (cie->has_augmentation) {
    uint64_t length = mprof_cursor_uleb(&c);
    // A corrupt length could make the address c.at + length wrap around.
    if (length > (uint64_t)(c.end - c.at))
      return false;
    const uint8_t *end = c.at + length;
    for (const char *a = augmentation + 1; *a; a++) {
      if (*a == 'R')
        cie->encoding = (uint8_t)mprof_cursor_bytes(&c, 1);
      else if (*a == 'P')
        mprof_cursor_bytes(&c,
                           encoded_size((uint8_t)mprof_cursor_bytes(&c, 1)));
      else if (*a == 'L')
        mprof_cursor_bytes(&c, 1);
      else if (*a == 'S')
        cie->is_of_signal = true;
      else if (*a == 'B' || *a == 'G')
        continue; // the CIE has no data for these letters
      else
        break;
    }
    c.at = end;
  }
  cie->instructions = c;
  return encoded_size(cie->encoding) != 0;
}

// --- finding the entry of a code address ---

// The section .eh_frame_hdr, in the only form that linkers write. Its table has
// one element for each function and is sorted by `begin`. `begin` is the
// function's first address, and `entry` is the function's entry in .eh_frame.
// Both are 32-bit offsets from the start of the header.
struct header {
  uint8_t version, frame_encoding, count_encoding, table_encoding;
  int32_t frame;
  uint32_t count;
  struct {
    int32_t begin, entry;
  } table[];
};

// Finds the last function that begins at or before pc. Returns the address of
// this function's entry in .eh_frame, and stores the function's first address
// in *begin. Returns 0 if there is no such function. In a corrupt file, the
// returned address may lie outside the module.
static uintptr_t find_entry(const struct module *m, uintptr_t pc,
                            uintptr_t *begin) {
  const struct header *h = m->header;
  if (!holds(m, (uintptr_t)h, sizeof(*h)) || h->version != 1 ||
      (h->frame_encoding & DW_EH_PE_FORMAT) != DW_EH_PE_sdata4 ||
      h->count_encoding != DW_EH_PE_udata4 ||
      h->table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
      !holds(m, (uintptr_t)h->table, h->count * (uint64_t)sizeof(*h->table)))
    return 0;
  int64_t at = (int64_t)(pc - (uintptr_t)h);
  size_t lo = 0, hi = h->count;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (h->table[mid].begin <= at)
      lo = mid + 1;
    else
      hi = mid;
  }
  if (lo == 0)
    return 0;
  *begin = (uintptr_t)h + (uintptr_t)(intptr_t)h->table[lo - 1].begin;
  return (uintptr_t)h + (uintptr_t)(intptr_t)h->table[lo - 1].entry;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
#pragma weak _dl_find_object

// Extends the range *m of a static program to all of the program's segments.
// For a static program, glibc reports only the range of the code, which does
// not contain .eh_frame. bias: load address of the program. (glibc:
// _dl_main_map)
static void widen_static_program(struct module *m, uintptr_t bias) {
  const ElfW(Phdr) *p = (const ElfW(Phdr) *)getauxval(AT_PHDR);
  const size_t count = getauxval(AT_PHNUM);
  struct module program = {.start = UINTPTR_MAX};
  for (size_t i = 0; p && i < count; i++) {
    const uintptr_t start = bias + p[i].p_vaddr;
    const uintptr_t limit = start + p[i].p_memsz;
    if (p[i].p_type == PT_GNU_EH_FRAME)
      program.header = (const struct header *)start;
    if (p[i].p_type == PT_LOAD && start < program.start)
      program.start = start;
    if (p[i].p_type == PT_LOAD && limit > program.limit)
      program.limit = limit;
  }
  if (program.header == m->header)
    *m = program;
}

// Finds the module that contains pc and stores the module in *m. Returns false
// if there is no such module, or if the module has no .eh_frame_hdr.
static bool find_module(uintptr_t pc, struct module *m) {
  struct dl_find_object found;
  if (!_dl_find_object || _dl_find_object((void *)pc, &found) != 0)
    return false;
  *m = (struct module){.start = (uintptr_t)found.dlfo_map_start,
                       .limit = (uintptr_t)found.dlfo_map_end,
                       .header = found.dlfo_eh_frame};
  if (m->header && !holds(m, (uintptr_t)m->header, sizeof(*m->header)))
    widen_static_program(m, found.dlfo_link_map->l_addr);
  return m->header != NULL;
}
#else
static bool find_module(uintptr_t pc, struct module *m) {
  (void)pc, (void)m;
  return false;
}
#endif

struct mprof_eh_found mprof_eh_find(uintptr_t pc) {
  struct mprof_eh_found none = {.code = {0, 0}}, f = none;
  struct module m;
  struct mprof_cursor c;
  uintptr_t entry = find_module(pc, &m) ? find_entry(&m, pc, &f.code.begin) : 0;
  if (entry == 0 || !open_entry(&m, entry, &c))
    return none;
  uintptr_t family = (uintptr_t)c.at;
  family -= (uint32_t)mprof_cursor_bytes(&c, 4);
  if (!read_cie(&m, family, &f.cie))
    return none;
  size_t width = encoded_size(f.cie.encoding);
  mprof_cursor_bytes(&c, width);
  f.code.end = f.code.begin + mprof_cursor_bytes(&c, width);
  if (pc >= f.code.end)
    return none;
  if (f.cie.has_augmentation)
    mprof_cursor_block(&c);
  f.instructions = c;
  return f;
}

struct mprof_code_range mprof_eh_function(uintptr_t pc) {
  return mprof_eh_find(pc).code;
}

struct mprof_code_range mprof_eh_module(uintptr_t pc) {
  struct module m;
  return find_module(pc, &m) ? (struct mprof_code_range){m.start, m.limit}
                             : (struct mprof_code_range){0, 0};
}
