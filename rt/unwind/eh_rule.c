// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the unwind rule of a code address; see eh_rule.h. Runs the
// instructions of the CIE, and then those of the FDE up to the address.
//
// If struct mprof_cfa_rule cannot express the rule, its base becomes
// MPROF_CFA_UNKNOWN.
//
// The instructions may be corrupt; see eh_frame.c.

#include "unwind/eh_rule.h"

#include "sys/arch.h"
#include "unwind/eh_cursor.h"
#include "unwind/eh_frame.h"

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
  const struct mprof_eh_cie *cie;
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
static bool begins_with_bp(struct mprof_cursor *expression, int64_t *offset) {
  if (mprof_cursor_bytes(expression, 1) != DW_OP_breg0 + MPROF_DWARF_BP)
    return false;
  *offset = mprof_cursor_sleb(expression);
  return true;
}

// Runs an instruction that defines the CFA by the expression e. Struct
// mprof_cfa_rule can express e only if the CFA is the word at a fixed offset
// from the frame pointer register.
static void set_base_by_expression(struct machine *m, struct mprof_cursor e) {
  int64_t offset = 0;
  const bool is_at_bp =
      begins_with_bp(&e, &offset) && mprof_cursor_bytes(&e, 1) == DW_OP_deref;
  m->row.base = is_at_bp && e.at == e.end ? MPROF_CFA_AT_BP : MPROF_CFA_UNKNOWN;
  m->row.cfa = offset;
}

// Runs an instruction that restores register reg from the address that the
// expression e computes.
static void set_saved_by_expression(struct machine *m, uint64_t reg,
                                    struct mprof_cursor e) {
  int64_t offset;
  set_odd(m, reg);
  if (reg == MPROF_DWARF_BP && begins_with_bp(&e, &offset) && offset == 0 &&
      e.at == e.end)
    m->row.bp_place = BP_AT_BP;
}

// Runs instruction op if it defines the CFA (canonical frame address). Returns
// false for any other instruction. c: position of the operands.
static bool step_cfa(struct machine *m, uint8_t op, struct mprof_cursor *c) {
  switch (op) {
  case DW_CFA_def_cfa:
    set_base(m, mprof_cursor_uleb(c));
    m->row.cfa = (int64_t)mprof_cursor_uleb(c);
    return true;
  case DW_CFA_def_cfa_sf:
    set_base(m, mprof_cursor_uleb(c));
    m->row.cfa = scaled(m, (uint64_t)mprof_cursor_sleb(c));
    return true;
  case DW_CFA_def_cfa_register:
    set_base(m, mprof_cursor_uleb(c));
    return true;
  case DW_CFA_def_cfa_offset:
    m->row.cfa = (int64_t)mprof_cursor_uleb(c);
    return true;
  case DW_CFA_def_cfa_offset_sf:
    m->row.cfa = scaled(m, (uint64_t)mprof_cursor_sleb(c));
    return true;
  case DW_CFA_def_cfa_expression:
    set_base_by_expression(m, mprof_cursor_block(c));
    return true;
  default:
    return false;
  }
}

// Runs instruction op if it says how a register is restored. Returns false for
// any other instruction. c: position of the operands.
static bool step_register(struct machine *m, uint8_t op,
                          struct mprof_cursor *c) {
  uint64_t reg;
  switch (op) {
  case DW_CFA_offset_extended:
    reg = mprof_cursor_uleb(c);
    set_saved(m, reg, scaled(m, mprof_cursor_uleb(c)));
    return true;
  case DW_CFA_offset_extended_sf:
    reg = mprof_cursor_uleb(c);
    set_saved(m, reg, scaled(m, (uint64_t)mprof_cursor_sleb(c)));
    return true;
  case DW_CFA_restore_extended:
    set_restored(m, mprof_cursor_uleb(c));
    return true;
  case DW_CFA_undefined:
    reg = mprof_cursor_uleb(c);
    if (reg == MPROF_DWARF_RA)
      m->row.ra_place = RA_UNDEFINED;
    else
      set_odd(m, reg);
    return true;
  case DW_CFA_same_value:
    reg = mprof_cursor_uleb(c);
    if (reg == MPROF_DWARF_BP)
      m->row.bp_place = BP_SAME;
    else if (reg == MPROF_DWARF_RA)
      m->row.ra_place = RA_IN_REGISTER;
    return true;
  case DW_CFA_expression:
    reg = mprof_cursor_uleb(c);
    set_saved_by_expression(m, reg, mprof_cursor_block(c));
    return true;
  case DW_CFA_val_expression:
    set_odd(m, mprof_cursor_uleb(c));
    mprof_cursor_block(c);
    return true;
  case DW_CFA_register:
  case DW_CFA_val_offset:
  case DW_CFA_val_offset_sf:
    set_odd(m, mprof_cursor_uleb(c));
    mprof_cursor_uleb(c);
    return true;
  default:
    return false;
  }
}

// Runs instruction op, which must not be one that advances the code location.
// Returns false if the instruction is unknown, or if it is a restore_state
// without a matching remember_state. c: position of the operands.
static bool step(struct machine *m, uint8_t op, struct mprof_cursor *c) {
  switch (op) {
  case DW_CFA_nop:
    return true;
  case DW_CFA_GNU_args_size:
    mprof_cursor_uleb(c);
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
static bool run(struct machine *m, struct mprof_cursor c, uint64_t target) {
  uint64_t at = 0;
  while (c.at < c.end) {
    uint8_t op = *c.at++;
    uint64_t advance = 0;
    switch (op & ~DW_CFA_OPERAND) {
    case DW_CFA_advance_loc:
      advance = op & DW_CFA_OPERAND;
      break;
    case DW_CFA_offset:
      set_saved(m, op & DW_CFA_OPERAND, scaled(m, mprof_cursor_uleb(&c)));
      continue;
    case DW_CFA_restore:
      set_restored(m, op & DW_CFA_OPERAND);
      continue;
    default:
      if (op >= DW_CFA_advance_loc1 && op <= DW_CFA_advance_loc4) {
        advance =
            mprof_cursor_bytes(&c, (size_t)1 << (op - DW_CFA_advance_loc1));
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

struct mprof_cfa_rule mprof_eh_rule(uintptr_t pc) {
  const struct mprof_cfa_rule none = {.base = MPROF_CFA_UNKNOWN};
  const struct mprof_eh_found f = mprof_eh_find(pc);
  if (f.code.end == 0 || f.cie.is_of_signal)
    return none;
  struct machine m = {.cie = &f.cie};
  m.row.ra_place = MPROF_RA_IS_PUSHED ? RA_SAVED : RA_IN_REGISTER;
  m.row.ra = MPROF_RA_IS_PUSHED ? -8 : 0;
  if (!run(&m, f.cie.instructions, UINT64_MAX))
    return none;
  m.initial = m.row;
  if (!run(&m, f.instructions, pc - f.code.begin) || m.is_odd)
    return none;
  return rule_of(&m.row);
}
