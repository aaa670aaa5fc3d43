// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds and reads the entries of .eh_frame, and computes the unwind rules; see
// rules.h.
//
//   pc -> module's .eh_frame_hdr (rules.h), or only a section .eh_frame
//      -> function's entry (FDE), by binary search
//      -> entry shared by many functions (CIE), named by the FDE
//
// The bytes of .eh_frame may be corrupt, for example if a faulty tool has
// written the file. Even with corrupt bytes, all reads stay inside the module's
// mapping and all loops end. test/fuzz/eh_frame_fuzz.c tests this.

#include "unwind/rules.h"

#include "sys/arch.h"
#include "sys/os.h"

#include <string.h>
#include <sys/auxv.h>

// --- numbers ---

// Reads the numbers of DWARF in a range of bytes. The range may be corrupt: all
// reads stay inside of it, and at its end all numbers are 0.

// The bytes from `at` to `end` have not been read yet. Each function moves
// `at`.
struct cursor {
  const uint8_t *at, *end;
};

static uint64_t read_bytes(struct cursor *c, size_t n) {
  uint64_t v = 0;
  if ((size_t)(c->end - c->at) < n) {
    c->at = c->end;
    return 0;
  }
  memcpy(&v, c->at, n);
  c->at += n;
  return v;
}

static uint64_t read_uleb(struct cursor *c) {
  uint64_t v = 0;
  for (unsigned shift = 0; c->at < c->end; shift += 7) {
    uint8_t byte = *c->at++;
    if (shift < 64)
      v |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      break;
  }
  return v;
}

static int64_t read_sleb(struct cursor *c) {
  uint64_t v = 0;
  unsigned shift = 0;
  while (c->at < c->end) {
    uint8_t byte = *c->at++;
    if (shift < 64)
      v |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
    if (!(byte & 0x80)) {
      if ((byte & 0x40) && shift < 64)
        v |= ~UINT64_C(0) << shift;
      break;
    }
  }
  return (int64_t)v;
}

// Returns a cursor for the bytes of the DWARF block (a length and that many
// bytes) at c, and moves c behind the block.
static struct cursor read_block(struct cursor *c) {
  const uint64_t length = read_uleb(c);
  const struct cursor rest = *c;
  c->at += length < (uint64_t)(rest.end - rest.at)
               ? length
               : (uint64_t)(rest.end - rest.at);
  return (struct cursor){rest.at, c->at};
}

// --- entries ---
// (DWARF 5, 6.4; LSB 5.0, 10.6)

// Encodings of pointers. The lower 4 bits are the format of the pointer. The
// upper 4 bits tell to which address the pointer is relative. (LSB 5.0, 10.5.1)
enum {
  DW_EH_PE_absptr = 0x00,
  DW_EH_PE_udata4 = 0x03,
  DW_EH_PE_udata8 = 0x04,
  DW_EH_PE_sdata4 = 0x0b,
  DW_EH_PE_sdata8 = 0x0c,
  DW_EH_PE_pcrel = 0x10,
  DW_EH_PE_textrel = 0x20,
  DW_EH_PE_datarel = 0x30,
  DW_EH_PE_FORMAT = 0x0f, // mask
  DW_EH_PE_BASE = 0x70    // mask
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

// A common information entry (CIE). It has the data that the entries (FDEs) of
// many functions share.
struct cie {
  uint64_t code_align;
  int64_t data_align;
  uint8_t encoding; // encoding of code addresses in the FDEs
  bool has_augmentation;
  bool is_of_signal; // the functions return from signal handlers
  struct cursor instructions;
};

// The entry of .eh_frame that was found for a code address. `instructions` is
// the part of the entry with the instructions.
struct found {
  struct mprof_code_range code; // function's range; empty: no entry found
  struct cie cie;
  struct cursor instructions;
};

// A module that the loader has mapped at the addresses [start, limit).
struct module {
  uintptr_t start, limit;
  const struct header *header; // section .eh_frame_hdr
  // The module may be unloaded at any time, so the kernel copies what is read.
  bool may_go;
  struct mprof_window *window; // NULL: each part is copied for itself
};

// Room for a copy of an entry of .eh_frame. Longer entries cannot be copied.
enum { COPY_MAX = 1024 };

// Returns whether [at, at + length) lies in the mapping of module m.
static bool holds(const struct module *m, uintptr_t at, uint64_t length) {
  return at >= m->start && at <= m->limit && length <= m->limit - at;
}

bool mprof_window_copy(struct mprof_window *w, void *to, uintptr_t from,
                       size_t size, uintptr_t limit) {
  if (from < w->at || from - w->at > w->len || size > w->len - (from - w->at)) {
    const size_t room = limit - from;
    w->at = from;
    w->len = room < sizeof(w->bytes) ? room : sizeof(w->bytes);
    if (size > w->len || !mprof_os_copy(w->bytes, from, w->len)) {
      w->len = 0;
      return mprof_os_copy(to, from, size);
    }
  }
  memcpy(to, w->bytes + (from - w->at), size);
  return true;
}

// Copies bytes of the module. Returns false if they are not readable.
static bool peek(const struct module *m, uintptr_t at, void *to, size_t size) {
  if (!holds(m, at, size))
    return false;
  if (m->window)
    return mprof_window_copy(m->window, to, at, size, m->limit);
  if (m->may_go)
    return mprof_os_copy(to, at, size);
  memcpy(to, (const void *)at, size);
  return true;
}

// Reads the entry of .eh_frame at address `at`. Sets *body to the entry's bytes
// after the length field. Returns false for the terminator (length 0), for an
// entry in the 64-bit format, and for an entry that does not lie in the module.
// copy: room for COPY_MAX bytes, used if the module may go.
static bool open_entry(const struct module *m, uintptr_t at, uint8_t *copy,
                       struct cursor *body) {
  uint32_t length;
  if (!peek(m, at, &length, sizeof(length)) || length == 0 ||
      length == UINT32_MAX || !holds(m, at + sizeof(length), length))
    return false;
  const uint8_t *p = (const uint8_t *)at + sizeof(length);
  if (m->may_go) {
    if (length > COPY_MAX || !peek(m, at + sizeof(length), copy, length))
      return false;
    p = copy;
  }
  *body = (struct cursor){p, p + length};
  return true;
}

static bool read_cie(const struct module *m, uintptr_t at, uint8_t *copy,
                     struct cie *cie) {
  struct cursor c;
  if (!open_entry(m, at, copy, &c) || read_bytes(&c, 4) != 0)
    return false;
  uint8_t version = (uint8_t)read_bytes(&c, 1);
  const char *augmentation = (const char *)c.at;
  const uint8_t *null = memchr(c.at, 0, (size_t)(c.end - c.at));
  if (!null) // the augmentation string does not end inside the entry
    return false;
  c.at = null + 1;
  *cie = (struct cie){.code_align = read_uleb(&c),
                      .data_align = read_sleb(&c),
                      .has_augmentation = augmentation[0] == 'z'};
  if (version == 1)
    read_bytes(&c, 1);
  else
    read_uleb(&c); // skips the return address's register, which is not needed
  if (augmentation[0] != '\0' && !cie->has_augmentation)
    return false;
  if (cie->has_augmentation) {
    uint64_t length = read_uleb(&c);
    // A corrupt length could make the address c.at + length wrap around.
    if (length > (uint64_t)(c.end - c.at))
      return false;
    const uint8_t *end = c.at + length;
    for (const char *a = augmentation + 1; *a; a++) {
      if (*a == 'R')
        cie->encoding = (uint8_t)read_bytes(&c, 1);
      else if (*a == 'P')
        read_bytes(&c, encoded_size((uint8_t)read_bytes(&c, 1)));
      else if (*a == 'L')
        read_bytes(&c, 1);
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

// The section .eh_frame_hdr, in the only form that linkers write. The table
// behind the header has one row for each function and is sorted by `begin`.
// `begin` is the function's first address, and `entry` is the function's entry
// in .eh_frame. Both are 32-bit offsets from the start of the header.
struct header {
  uint8_t version, frame_encoding, count_encoding, table_encoding;
  int32_t frame;
  uint32_t count;
};
struct row_of_header {
  int32_t begin, entry;
};

// Finds the last function that begins at or before pc. Returns the address of
// this function's entry in .eh_frame, and stores the function's first address
// in *begin. Returns 0 if there is no such function. In a corrupt file, the
// returned address may lie outside the module.
static uintptr_t find_entry(const struct module *m, uintptr_t pc,
                            uintptr_t *begin) {
  const uintptr_t start = (uintptr_t)m->header;
  struct header h;
  struct row_of_header row;
  if (!peek(m, start, &h, sizeof(h)) || h.version != 1 ||
      (h.frame_encoding & DW_EH_PE_FORMAT) != DW_EH_PE_sdata4 ||
      h.count_encoding != DW_EH_PE_udata4 ||
      h.table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
      !holds(m, start + sizeof(h), h.count * (uint64_t)sizeof(row)))
    return 0;
  int64_t at = (int64_t)(pc - start);
  size_t lo = 0, hi = h.count;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (!peek(m, start + sizeof(h) + mid * sizeof(row), &row, sizeof(row)))
      return 0;
    if (row.begin <= at)
      lo = mid + 1;
    else
      hi = mid;
  }
  if (lo == 0 ||
      !peek(m, start + sizeof(h) + (lo - 1) * sizeof(row), &row, sizeof(row)))
    return 0;
  *begin = start + (uintptr_t)(intptr_t)row.begin;
  return start + (uintptr_t)(intptr_t)row.entry;
}

// Finds the module that contains pc and stores the module in *m. Returns false
// if there is no such module, or if the module has no .eh_frame_hdr.
static bool find_module(uintptr_t pc, struct module *m) {
  struct mprof_code_module found;
  if (!mprof_find_module(pc, &found))
    return false;
  *m = (struct module){
      .start = found.start, .limit = found.limit, .header = found.eh_frame_hdr};
  return true;
}

// Copies of the two entries of an address.
struct copies {
  uint8_t entry[COPY_MAX], family[COPY_MAX];
};

// Returns the entry at address `entry`, which is that of the function that
// begins at `begin`. The result is empty if pc is not in this function. copies:
// NULL if the module cannot go.
static struct found read_entry(const struct module *m, uintptr_t entry,
                               uintptr_t begin, uintptr_t pc,
                               struct copies *copies) {
  struct found none = {.code = {0, 0}}, f = {.code = {begin, 0}};
  struct cursor c;
  if (entry == 0 || !open_entry(m, entry, copies ? copies->entry : NULL, &c))
    return none;
  const uintptr_t family =
      entry + sizeof(uint32_t) - (uint32_t)read_bytes(&c, 4);
  if (!read_cie(m, family, copies ? copies->family : NULL, &f.cie))
    return none;
  size_t width = encoded_size(f.cie.encoding);
  read_bytes(&c, width);
  f.code.end = f.code.begin + read_bytes(&c, width);
  if (pc >= f.code.end)
    return none;
  if (f.cie.has_augmentation)
    read_block(&c);
  f.instructions = c;
  return f;
}

// Returns the entry for the code address pc, which is in the module m. copies:
// NULL if the module cannot go.
static struct found find_in(const struct module *m, uintptr_t pc,
                            struct copies *copies) {
  uintptr_t begin = 0;
  const uintptr_t entry = find_entry(m, pc, &begin);
  return read_entry(m, entry, begin, pc, copies);
}

static struct found find(uintptr_t pc) {
  struct module m;
  return find_module(pc, &m) ? find_in(&m, pc, NULL)
                             : (struct found){.code = {0, 0}};
}

struct mprof_code_range mprof_eh_function(uintptr_t pc) {
  return find(pc).code;
}

struct mprof_code_range mprof_eh_module(uintptr_t pc) {
  struct module m;
  return find_module(pc, &m) ? (struct mprof_code_range){m.start, m.limit}
                             : (struct mprof_code_range){0, 0};
}

// --- a section without a table ---

// Stores in *code the range of the function whose entry is at address `entry`.
// Returns false if the encoding of its address is not known.
static bool read_range(const struct module *m, uintptr_t entry,
                       const struct cie *cie, uintptr_t text,
                       struct mprof_code_range *code) {
  const uintptr_t at = entry + 2 * sizeof(uint32_t);
  const size_t width = encoded_size(cie->encoding);
  const unsigned base = cie->encoding & DW_EH_PE_BASE;
  uint64_t begin = 0, size = 0;
  if (!peek(m, at, &begin, width) || !peek(m, at + width, &size, width))
    return false;
  if ((cie->encoding & DW_EH_PE_FORMAT) == DW_EH_PE_sdata4)
    begin = (uint64_t)(int64_t)(int32_t)(uint32_t)begin;
  if (base == DW_EH_PE_pcrel)
    begin += at;
  else if (base == DW_EH_PE_textrel)
    begin += text;
  else if (base != DW_EH_PE_absptr)
    return false;
  *code = (struct mprof_code_range){begin, begin + size};
  return true;
}

// Finds the entry of the function with pc, as find_entry does. Stops at an
// entry that is not valid.
static uintptr_t scan(const struct module *m, uintptr_t text, uintptr_t pc,
                      struct copies *copies, uintptr_t *begin) {
  enum { ENTRIES_MAX = 1 << 16 };
  struct {
    uint32_t length, family;
  } head;
  struct cie cie;
  uintptr_t known = 0; // address of `cie`
  uintptr_t at = m->start;
  for (int i = 0; i < ENTRIES_MAX; i++) {
    struct mprof_code_range code;
    if (!peek(m, at, &head, sizeof(head)) || head.length == 0 ||
        head.length == UINT32_MAX)
      return 0;
    const uintptr_t family = at + sizeof(uint32_t) - head.family;
    if (head.family != 0 && family != known) {
      if (!read_cie(m, family, copies->family, &cie))
        return 0;
      known = family;
    }
    if (head.family != 0 && read_range(m, at, &cie, text, &code) &&
        pc - code.begin < code.end - code.begin) {
      *begin = code.begin;
      return at;
    }
    at += sizeof(uint32_t) + (uintptr_t)head.length;
  }
  return 0;
}

// --- rules ---

// Runs the instructions of the CIE, and then those of the FDE up to the
// address. If struct mprof_cfa_rule cannot express the rule, its base becomes
// MPROF_CFA_UNKNOWN.

// Instructions of call frame information. The first three use only the upper 2
// bits; their lower 6 bits are an operand. (DWARF 5, 7.24; LSB 5.0, 10.5.2)
enum {
  DW_CFA_advance_loc = 0x40,
  DW_CFA_offset = 0x80,
  DW_CFA_restore = 0xc0,
  DW_CFA_OPERAND = 0x3f, // mask
  DW_CFA_nop = 0x00,
  DW_CFA_advance_loc1 = 0x02, // an operand of 1 byte follows
  DW_CFA_advance_loc4 = 0x04, // an operand of 4 bytes; 0x03: 2 bytes
  DW_CFA_offset_extended = 0x05,
  DW_CFA_restore_extended = 0x06,
  DW_CFA_undefined = 0x07,
  DW_CFA_same_value = 0x08,
  DW_CFA_register = 0x09,
  DW_CFA_remember_state = 0x0a,
  DW_CFA_restore_state = 0x0b,
  DW_CFA_def_cfa = 0x0c,
  DW_CFA_def_cfa_register = 0x0d,
  DW_CFA_def_cfa_offset = 0x0e,
  DW_CFA_def_cfa_expression = 0x0f,
  DW_CFA_expression = 0x10,
  DW_CFA_offset_extended_sf = 0x11,
  DW_CFA_def_cfa_sf = 0x12,
  DW_CFA_def_cfa_offset_sf = 0x13,
  DW_CFA_val_offset = 0x14,
  DW_CFA_val_offset_sf = 0x15,
  DW_CFA_val_expression = 0x16,
  DW_CFA_GNU_args_size = 0x2e
};

// Operations of expressions. (DWARF 5, 7.7.1)
enum { DW_OP_deref = 0x06, DW_OP_breg0 = 0x70 };

// --- running the instructions up to an address ---

#define REMEMBERED 4

struct row {
  enum mprof_cfa_base base;
  int64_t cfa;
  // Where the caller's frame pointer is.
  enum {
    BP_SAME,  // in the frame pointer register
    BP_SAVED, // at the offset bp from the CFA
    BP_AT_BP, // at the address in the frame pointer register
    BP_ODD    // in a place that no rule can express
  } bp_place;
  int64_t bp;
  // Where the return address is.
  enum {
    RA_SAVED,       // at the offset ra from the CFA
    RA_IN_REGISTER, // in its register
    RA_UNDEFINED,   // nowhere: the function has no caller
    RA_ODD          // in a place that no rule can express
  } ra_place;
  int64_t ra;
};

struct machine {
  const struct cie *cie;
  struct row row, initial;
  struct row stack[REMEMBERED];
  unsigned depth;
  bool is_odd; // a rule cannot express one of the instructions
};

static void set_base(struct machine *m, uint64_t reg) {
  m->row.base = reg == MPROF_DWARF_SP   ? MPROF_CFA_FROM_SP
                : reg == MPROF_DWARF_BP ? MPROF_CFA_FROM_BP
                                        : MPROF_CFA_UNKNOWN;
}

static void set_saved(struct machine *m, uint64_t reg, int64_t offset) {
  if (reg == MPROF_DWARF_BP) {
    m->row.bp_place = BP_SAVED;
    m->row.bp = offset;
  } else if (reg == MPROF_DWARF_RA) {
    m->row.ra_place = RA_SAVED;
    m->row.ra = offset;
  }
}

static void set_restored(struct machine *m, uint64_t reg) {
  if (reg == MPROF_DWARF_BP) {
    m->row.bp_place = m->initial.bp_place;
    m->row.bp = m->initial.bp;
  } else if (reg == MPROF_DWARF_RA) {
    m->row.ra_place = m->initial.ra_place;
    m->row.ra = m->initial.ra;
  }
}

// Records that register reg is restored in a way that struct mprof_cfa_rule
// cannot express.
static void set_odd(struct machine *m, uint64_t reg) {
  if (reg == MPROF_DWARF_BP) {
    m->row.bp_place = BP_ODD;
  } else if (reg == MPROF_DWARF_RA) {
    m->row.ra_place = RA_ODD;
  }
}

// Multiplies an operand by the CIE's data alignment factor. The multiplication
// is unsigned, because a corrupt operand could cause an overflow, and signed
// overflow is undefined behaviour.
static int64_t scaled(const struct machine *m, uint64_t operand) {
  return (int64_t)(operand * (uint64_t)m->cie->data_align);
}

// Reads the first operation of an expression. Returns whether this operation
// adds a constant to the frame pointer register, and stores the constant in
// *offset.
static bool begins_with_bp(struct cursor *expression, int64_t *offset) {
  if (read_bytes(expression, 1) != DW_OP_breg0 + MPROF_DWARF_BP)
    return false;
  *offset = read_sleb(expression);
  return true;
}

// Runs an instruction that defines the CFA by the expression e. Struct
// mprof_cfa_rule can express e only if the CFA is the word at a fixed offset
// from the frame pointer register.
static void set_base_by_expression(struct machine *m, struct cursor e) {
  int64_t offset = 0;
  const bool is_at_bp =
      begins_with_bp(&e, &offset) && read_bytes(&e, 1) == DW_OP_deref;
  m->row.base = is_at_bp && e.at == e.end ? MPROF_CFA_AT_BP : MPROF_CFA_UNKNOWN;
  m->row.cfa = offset;
}

// Runs an instruction that restores register reg from the address that the
// expression e computes.
static void set_saved_by_expression(struct machine *m, uint64_t reg,
                                    struct cursor e) {
  int64_t offset;
  set_odd(m, reg);
  if (reg == MPROF_DWARF_BP && begins_with_bp(&e, &offset) && offset == 0 &&
      e.at == e.end)
    m->row.bp_place = BP_AT_BP;
}

// Runs instruction op if it defines the CFA (canonical frame address). Returns
// false for any other instruction. c: position of the operands.
static bool step_cfa(struct machine *m, uint8_t op, struct cursor *c) {
  switch (op) {
  case DW_CFA_def_cfa:
    set_base(m, read_uleb(c));
    m->row.cfa = (int64_t)read_uleb(c);
    return true;
  case DW_CFA_def_cfa_sf:
    set_base(m, read_uleb(c));
    m->row.cfa = scaled(m, (uint64_t)read_sleb(c));
    return true;
  case DW_CFA_def_cfa_register:
    set_base(m, read_uleb(c));
    return true;
  case DW_CFA_def_cfa_offset:
    m->row.cfa = (int64_t)read_uleb(c);
    return true;
  case DW_CFA_def_cfa_offset_sf:
    m->row.cfa = scaled(m, (uint64_t)read_sleb(c));
    return true;
  case DW_CFA_def_cfa_expression:
    set_base_by_expression(m, read_block(c));
    return true;
  default:
    return false;
  }
}

// Runs instruction op if it says how a register is restored. Returns false for
// any other instruction. c: position of the operands.
static bool step_register(struct machine *m, uint8_t op, struct cursor *c) {
  uint64_t reg;
  switch (op) {
  case DW_CFA_offset_extended:
    reg = read_uleb(c);
    set_saved(m, reg, scaled(m, read_uleb(c)));
    return true;
  case DW_CFA_offset_extended_sf:
    reg = read_uleb(c);
    set_saved(m, reg, scaled(m, (uint64_t)read_sleb(c)));
    return true;
  case DW_CFA_restore_extended:
    set_restored(m, read_uleb(c));
    return true;
  case DW_CFA_undefined:
    reg = read_uleb(c);
    if (reg == MPROF_DWARF_RA)
      m->row.ra_place = RA_UNDEFINED;
    else
      set_odd(m, reg);
    return true;
  case DW_CFA_same_value:
    reg = read_uleb(c);
    if (reg == MPROF_DWARF_BP)
      m->row.bp_place = BP_SAME;
    else if (reg == MPROF_DWARF_RA)
      m->row.ra_place = RA_IN_REGISTER;
    return true;
  case DW_CFA_expression:
    reg = read_uleb(c);
    set_saved_by_expression(m, reg, read_block(c));
    return true;
  case DW_CFA_val_expression:
    set_odd(m, read_uleb(c));
    read_block(c);
    return true;
  case DW_CFA_register:
  case DW_CFA_val_offset:
  case DW_CFA_val_offset_sf:
    set_odd(m, read_uleb(c));
    read_uleb(c);
    return true;
  default:
    return false;
  }
}

// Runs instruction op, which must not be one that advances the code location.
// Returns false if the instruction is unknown, or if it is a restore_state
// without a matching remember_state. c: position of the operands.
static bool step(struct machine *m, uint8_t op, struct cursor *c) {
  switch (op) {
  case DW_CFA_nop:
    return true;
  case DW_CFA_GNU_args_size:
    read_uleb(c);
    return true;
  case DW_CFA_remember_state:
    if (m->depth < REMEMBERED)
      m->stack[m->depth] = m->row;
    else
      m->is_odd = true;
    m->depth++;
    return true;
  case DW_CFA_restore_state:
    if (m->depth == 0)
      return false;
    if (--m->depth < REMEMBERED)
      m->row = m->stack[m->depth];
    return true;
  default:
    return mprof_skips_cfa(op) || step_cfa(m, op, c) || step_register(m, op, c);
  }
}

// Runs the instructions at c that apply to the code location `target`, an
// offset from the function's first address. Returns false at an unknown
// instruction.
static bool run(struct machine *m, struct cursor c, uint64_t target) {
  uint64_t at = 0;
  while (c.at < c.end) {
    uint8_t op = *c.at++;
    uint64_t advance = 0;
    switch (op & ~DW_CFA_OPERAND) {
    case DW_CFA_advance_loc:
      advance = op & DW_CFA_OPERAND;
      break;
    case DW_CFA_offset:
      set_saved(m, op & DW_CFA_OPERAND, scaled(m, read_uleb(&c)));
      continue;
    case DW_CFA_restore:
      set_restored(m, op & DW_CFA_OPERAND);
      continue;
    default:
      if (op >= DW_CFA_advance_loc1 && op <= DW_CFA_advance_loc4) {
        advance = read_bytes(&c, (size_t)1 << (op - DW_CFA_advance_loc1));
        break;
      }
      if (!step(m, op, &c))
        return false;
      continue;
    }
    at += advance * m->cie->code_align;
    if (at > target)
      break;
  }
  return true;
}

static struct mprof_cfa_rule rule_of(const struct row *row) {
  struct mprof_cfa_rule none = {.base = MPROF_CFA_UNKNOWN};
  if (row->ra_place == RA_UNDEFINED)
    return (struct mprof_cfa_rule){.base = MPROF_CFA_ROOT};
  const bool is_pushed = row->ra_place == RA_SAVED && row->ra == -8;
  if (row->ra_place == RA_ODD || row->ra % 8 != 0 ||
      (MPROF_RA_IS_PUSHED && !is_pushed))
    return none;
  if (row->base == MPROF_CFA_AT_BP)
    return row->bp_place == BP_AT_BP && row->cfa % 8 == 0 && is_pushed
               ? (struct mprof_cfa_rule){.base = MPROF_CFA_AT_BP,
                                         .cfa_words = (int32_t)(row->cfa / 8),
                                         .ra_is_saved = true,
                                         .ra_words = -1}
               : none;
  if (row->base == MPROF_CFA_UNKNOWN || row->bp_place == BP_AT_BP ||
      row->bp_place == BP_ODD || row->cfa % 8 != 0 || row->bp % 8 != 0)
    return none;
  return (struct mprof_cfa_rule){.base = row->base,
                                 .cfa_words = (int32_t)(row->cfa / 8),
                                 .bp_is_saved = row->bp_place == BP_SAVED,
                                 .bp_words = (int32_t)(row->bp / 8),
                                 .ra_is_saved = row->ra_place == RA_SAVED,
                                 .ra_words = (int32_t)(row->ra / 8)};
}

// --- the rule of an address ---

// Returns the rule for pc, whose entry is *f.
static struct mprof_cfa_rule run_for(uintptr_t pc, const struct found *f) {
  const struct mprof_cfa_rule none = {.base = MPROF_CFA_UNKNOWN};
  if (f->code.end == 0 || f->cie.is_of_signal)
    return none;
  struct machine m = {.cie = &f->cie};
  m.row.ra_place = MPROF_RA_IS_PUSHED ? RA_SAVED : RA_IN_REGISTER;
  m.row.ra = MPROF_RA_IS_PUSHED ? -8 : 0;
  if (!run(&m, f->cie.instructions, UINT64_MAX))
    return none;
  m.initial = m.row;
  if (!run(&m, f->instructions, pc - f->code.begin) || m.is_odd)
    return none;
  return rule_of(&m.row);
}

struct mprof_cfa_rule mprof_eh_rule(uintptr_t pc) {
  const struct found f = find(pc);
  return run_for(pc, &f);
}

struct mprof_cfa_rule mprof_eh_rule_of_guess(uintptr_t pc, bool *is_in_module) {
  struct copies copies;
  struct module m;
  *is_in_module = find_module(pc, &m);
  if (!*is_in_module)
    return (struct mprof_cfa_rule){.base = MPROF_CFA_UNKNOWN};
  // The program itself is never unloaded.
  const uintptr_t program = getauxval(AT_PHDR);
  m.may_go = program < m.start || program >= m.limit;
  const struct found f = find_in(&m, pc, &copies);
  return run_for(pc, &f);
}

struct mprof_cfa_rule mprof_eh_rule_in(const struct mprof_eh_section *s,
                                       uintptr_t pc, struct mprof_window *w) {
  const struct module m = {
      .start = s->start, .limit = s->limit, .may_go = true, .window = w};
  struct copies copies;
  uintptr_t begin = 0;
  const uintptr_t entry = scan(&m, s->text, pc, &copies, &begin);
  const struct found f = read_entry(&m, entry, begin, pc, &copies);
  return run_for(pc, &f);
}
