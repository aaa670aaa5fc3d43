// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwinding by call frame information (.eh_frame), for stacks that begin in
// code which was not rewritten: such code keeps no frame pointers, but says for
// each of its instructions where its caller's frame is. Of that only three
// registers matter, the stack and the frame pointer and the return address, so
// what holds at one address fits a word, which is remembered: a step is then a
// look at a table. Code that says nothing is taken to keep frame pointers.
//
// The information is found without the loader's lock (_dl_find_object, glibc
// 2.35); without that function all code is taken to keep frame pointers.

#include "unwind.h"

#include "fastpath.h"
#include "threads.h"

#include <dlfcn.h>
#include <string.h>

// --- what holds at an address ---

// Where the caller's frame is. cfa: the stack pointer after the return.
enum base { NONE, FROM_SP, FROM_BP, ROOT };
struct rule {
  enum base base;    // NONE: unknown; ROOT: nobody called
  int32_t cfa_words; // the cfa, from the base
  bool bp_is_saved;
  int32_t bp_words; // where the caller's frame pointer is, from the cfa
};

// --- reading .eh_frame ---
// (DWARF 5, 6.4; LSB 5.0, 10.6; the numbers are DWARF's of x86-64.)

enum { REG_BP_NUMBER = 6, REG_SP_NUMBER = 7, REG_RA_NUMBER = 16 };

struct cursor {
  const uint8_t *at, *end;
};

static uint64_t get_bytes(struct cursor *c, size_t n) {
  uint64_t v = 0;
  if ((size_t)(c->end - c->at) < n) {
    c->at = c->end;
    return 0;
  }
  memcpy(&v, c->at, n);
  c->at += n;
  return v;
}

static uint64_t get_uleb(struct cursor *c) {
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

static int64_t get_sleb(struct cursor *c) {
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

// Bytes of a pointer in encoding e, 0 if it is not one that linkers write.
static size_t encoded_size(uint8_t e) {
  switch (e & 0x0f) {
  case 0x00: // absptr
  case 0x04: // udata8
  case 0x0c: // sdata8
    return 8;
  case 0x03: // udata4
  case 0x0b: // sdata4
    return 4;
  default:
    return 0;
  }
}

// An entry of .eh_frame: its body without the length.
static bool open_entry(const uint8_t *p, struct cursor *body) {
  uint32_t length;
  memcpy(&length, p, sizeof(length));
  if (length == 0 || length == UINT32_MAX) // the end; the 64-bit format
    return false;
  *body = (struct cursor){p + 4, p + 4 + length};
  return true;
}

// What the entries of a family share.
struct cie {
  uint64_t code_align;
  int64_t data_align;
  uint8_t encoding; // of addresses
  bool has_augmentation;
  struct cursor instructions;
};

static bool read_cie(const uint8_t *p, struct cie *cie) {
  struct cursor c;
  if (!open_entry(p, &c) || get_bytes(&c, 4) != 0)
    return false;
  uint8_t version = (uint8_t)get_bytes(&c, 1);
  const char *augmentation = (const char *)c.at;
  while (get_bytes(&c, 1) != 0)
    ;
  *cie = (struct cie){.code_align = get_uleb(&c),
                      .data_align = get_sleb(&c),
                      .has_augmentation = augmentation[0] == 'z'};
  if (version == 1)
    get_bytes(&c, 1);
  else
    get_uleb(&c); // the return address's register
  if (augmentation[0] != '\0' && !cie->has_augmentation)
    return false;
  if (cie->has_augmentation) {
    uint64_t length = get_uleb(&c);
    const uint8_t *end = c.at + length;
    for (const char *a = augmentation + 1; *a; a++) {
      if (*a == 'R')
        cie->encoding = (uint8_t)get_bytes(&c, 1);
      else if (*a == 'P')
        get_bytes(&c, encoded_size((uint8_t)get_bytes(&c, 1)));
      else if (*a == 'L')
        get_bytes(&c, 1);
      else if (*a == 'S' || *a == 'B')
        continue; // a signal's frame; has no data
      else
        break;
    }
    c.at = end;
  }
  cie->instructions = c;
  return c.at <= c.end && encoded_size(cie->encoding) != 0;
}

// --- running the instructions up to an address ---

#define REMEMBERED 4

struct row {
  enum base base;
  int64_t cfa;
  int64_t bp; // from the cfa, if saved
  bool bp_is_saved, bp_is_odd, ra_is_undefined;
};

struct machine {
  const struct cie *cie;
  struct row row, initial;
  struct row stack[REMEMBERED];
  unsigned depth;
  bool is_odd; // something that a rule cannot say
};

static void set_base(struct machine *m, uint64_t reg) {
  m->row.base = reg == REG_SP_NUMBER   ? FROM_SP
                : reg == REG_BP_NUMBER ? FROM_BP
                                       : NONE;
}

static void set_saved(struct machine *m, uint64_t reg, int64_t offset) {
  if (reg == REG_BP_NUMBER) {
    m->row.bp_is_saved = true;
    m->row.bp_is_odd = false;
    m->row.bp = offset;
  } else if (reg == REG_RA_NUMBER && offset != -8) {
    m->is_odd = true;
  }
}

static void set_restored(struct machine *m, uint64_t reg) {
  if (reg == REG_BP_NUMBER) {
    m->row.bp_is_saved = m->initial.bp_is_saved;
    m->row.bp_is_odd = m->initial.bp_is_odd;
    m->row.bp = m->initial.bp;
  }
}

// Of a register that is not where set_saved could say.
static void set_odd(struct machine *m, uint64_t reg) {
  if (reg == REG_BP_NUMBER)
    m->row.bp_is_odd = true;
  else if (reg == REG_RA_NUMBER)
    m->is_odd = true;
}

static void skip_block(struct cursor *c) {
  uint64_t length = get_uleb(c);
  c->at +=
      length < (uint64_t)(c->end - c->at) ? length : (uint64_t)(c->end - c->at);
}

// One instruction without the location's; false for an unknown one.
static bool step(struct machine *m, uint8_t op, struct cursor *c) {
  const int64_t scale = m->cie->data_align;
  uint64_t reg;
  switch (op) {
  case 0x00: // nop
    return true;
  case 0x05: // offset_extended
    reg = get_uleb(c);
    set_saved(m, reg, (int64_t)get_uleb(c) * scale);
    return true;
  case 0x11: // offset_extended_sf
    reg = get_uleb(c);
    set_saved(m, reg, get_sleb(c) * scale);
    return true;
  case 0x06: // restore_extended
    set_restored(m, get_uleb(c));
    return true;
  case 0x07: // undefined
    reg = get_uleb(c);
    if (reg == REG_RA_NUMBER)
      m->row.ra_is_undefined = true;
    else
      set_odd(m, reg);
    return true;
  case 0x08: // same_value
    reg = get_uleb(c);
    if (reg == REG_BP_NUMBER)
      m->row.bp_is_saved = m->row.bp_is_odd = false;
    return true;
  case 0x09: // register
    set_odd(m, get_uleb(c));
    get_uleb(c);
    return true;
  case 0x0a: // remember_state
    if (m->depth < REMEMBERED)
      m->stack[m->depth] = m->row;
    else
      m->is_odd = true;
    m->depth++;
    return true;
  case 0x0b: // restore_state
    if (m->depth == 0)
      return false;
    if (--m->depth < REMEMBERED)
      m->row = m->stack[m->depth];
    return true;
  case 0x0c: // def_cfa
    set_base(m, get_uleb(c));
    m->row.cfa = (int64_t)get_uleb(c);
    return true;
  case 0x12: // def_cfa_sf
    set_base(m, get_uleb(c));
    m->row.cfa = get_sleb(c) * scale;
    return true;
  case 0x0d: // def_cfa_register
    set_base(m, get_uleb(c));
    return true;
  case 0x0e: // def_cfa_offset
    m->row.cfa = (int64_t)get_uleb(c);
    return true;
  case 0x13: // def_cfa_offset_sf
    m->row.cfa = get_sleb(c) * scale;
    return true;
  case 0x0f: // def_cfa_expression
    m->row.base = NONE;
    skip_block(c);
    return true;
  case 0x10: // expression
  case 0x16: // val_expression
    set_odd(m, get_uleb(c));
    skip_block(c);
    return true;
  case 0x14: // val_offset
  case 0x15: // val_offset_sf
    set_odd(m, get_uleb(c));
    get_uleb(c);
    return true;
  case 0x2e: // GNU_args_size
    get_uleb(c);
    return true;
  default:
    return false;
  }
}

// Runs the instructions at c that hold up to target; both count from the
// function's begin.
static bool run(struct machine *m, struct cursor c, uint64_t target) {
  uint64_t at = 0;
  while (c.at < c.end) {
    uint8_t op = *c.at++;
    uint64_t advance = 0;
    switch (op >> 6) {
    case 1: // advance_loc
      advance = op & 0x3f;
      break;
    case 2: // offset
      set_saved(m, op & 0x3f, (int64_t)get_uleb(&c) * m->cie->data_align);
      continue;
    case 3: // restore
      set_restored(m, op & 0x3f);
      continue;
    default:
      if (op >= 0x02 && op <= 0x04) { // advance_loc1, 2, 4
        advance = get_bytes(&c, (size_t)1 << (op - 0x02));
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

static struct rule rule_of(const struct row *row) {
  struct rule none = {.base = NONE};
  if (row->ra_is_undefined)
    return (struct rule){.base = ROOT};
  if (row->base == NONE || row->bp_is_odd || row->cfa % 8 != 0 ||
      row->bp % 8 != 0)
    return none;
  return (struct rule){.base = row->base,
                       .cfa_words = (int32_t)(row->cfa / 8),
                       .bp_is_saved = row->bp_is_saved,
                       .bp_words = (int32_t)(row->bp / 8)};
}

// --- finding the entry of an address ---

// .eh_frame_hdr, in the one form that linkers write: the entries sorted by
// their begin, both as 32-bit distances from the header.
struct header {
  uint8_t version, frame_encoding, count_encoding, table_encoding;
  int32_t frame;
  uint32_t count;
  struct {
    int32_t begin, entry;
  } table[];
};

// The entry that begins last at or before pc; *begin gets where.
static const uint8_t *find_entry(const struct header *h, uintptr_t pc,
                                 uintptr_t *begin) {
  if (h->version != 1 || (h->frame_encoding & 0x0f) != 0x0b ||
      h->count_encoding != 0x03 || h->table_encoding != 0x3b)
    return NULL;
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
    return NULL;
  *begin = (uintptr_t)h + (uintptr_t)(intptr_t)h->table[lo - 1].begin;
  return (const uint8_t *)h + h->table[lo - 1].entry;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
#pragma weak _dl_find_object
static const struct header *header_of(uintptr_t pc) {
  struct dl_find_object found;
  if (!_dl_find_object || _dl_find_object((void *)pc, &found) != 0)
    return NULL;
  return found.dlfo_eh_frame;
}
#else
static const struct header *header_of(uintptr_t pc) { return pc ? NULL : NULL; }
#endif

static struct rule read_rule(uintptr_t pc) {
  struct rule none = {.base = NONE};
  uintptr_t begin;
  const struct header *h = header_of(pc);
  const uint8_t *entry = h ? find_entry(h, pc, &begin) : NULL;
  struct cursor c;
  if (!entry || !open_entry(entry, &c))
    return none;
  const uint8_t *family = c.at;
  family -= (uint32_t)get_bytes(&c, 4);
  struct cie cie;
  if (!read_cie(family, &cie))
    return none;
  size_t width = encoded_size(cie.encoding);
  get_bytes(&c, width);
  if (pc - begin >= get_bytes(&c, width))
    return none;
  if (cie.has_augmentation)
    skip_block(&c);
  struct machine m = {.cie = &cie};
  if (!run(&m, cie.instructions, UINT64_MAX))
    return none;
  m.initial = m.row;
  if (!run(&m, c, pc - begin) || m.is_odd)
    return none;
  return rule_of(&m.row);
}

// --- remembered rules ---

// Two words an address, written without a lock: the second has some bits of the
// address again, so that halves of two writers are not taken for a rule.
#define LG_REMEMBERED 12
static struct {
  _Atomic uintptr_t pc;
  _Atomic uint64_t packed;
} remembered[1u << LG_REMEMBERED];

// packed: base 2 bits, is saved 1, bp 20, cfa 25, of the address 16.
#define BP_BITS 20
#define CFA_BITS 25

static uint64_t hash_of(uintptr_t pc) { return pc * 0x9e3779b97f4a7c15u; }

static int32_t signed_bits(uint64_t v, unsigned bits) {
  return (int32_t)((uint32_t)v << (32 - bits)) >> (32 - bits);
}

static uint64_t pack(const struct rule *r, uint64_t hash) {
  return (uint64_t)r->base | (uint64_t)r->bp_is_saved << 2 |
         ((uint64_t)(uint32_t)r->bp_words & ((1u << BP_BITS) - 1)) << 3 |
         ((uint64_t)(uint32_t)r->cfa_words & ((1u << CFA_BITS) - 1))
             << (3 + BP_BITS) |
         (hash & 0xffff) << 48;
}

static struct rule unpack(uint64_t p) {
  return (struct rule){.base = (enum base)(p & 3),
                       .bp_is_saved = p >> 2 & 1,
                       .bp_words = signed_bits(p >> 3, BP_BITS),
                       .cfa_words = signed_bits(p >> (3 + BP_BITS), CFA_BITS)};
}

static bool fits(const struct rule *r) {
  return signed_bits((uint32_t)r->bp_words, BP_BITS) == r->bp_words &&
         signed_bits((uint32_t)r->cfa_words, CFA_BITS) == r->cfa_words;
}

static struct rule find_rule(uintptr_t pc) {
  uint64_t hash = hash_of(pc);
  size_t i = hash >> (64 - LG_REMEMBERED);
  uint64_t packed =
      atomic_load_explicit(&remembered[i].packed, memory_order_relaxed);
  if (mprof_likely(
          atomic_load_explicit(&remembered[i].pc, memory_order_relaxed) == pc &&
          packed >> 48 == (hash & 0xffff)))
    return unpack(packed);
  struct rule r = read_rule(pc);
  if (!fits(&r))
    r = (struct rule){.base = NONE};
  atomic_store_explicit(&remembered[i].pc, pc, memory_order_relaxed);
  atomic_store_explicit(&remembered[i].packed, pack(&r, hash),
                        memory_order_relaxed);
  return r;
}

void mprof_unwind_forget(void) {
  for (size_t i = 0; i < sizeof(remembered) / sizeof(remembered[0]); i++)
    atomic_store_explicit(&remembered[i].pc, 0, memory_order_relaxed);
}

// --- following a stack ---

// What linkers name a section's ends.
#define SECTION_END __attribute__((weak, visibility("hidden")))
extern const char __start_mprof_text[] SECTION_END;
extern const char __stop_mprof_text[] SECTION_END;

// Whether the function is an entry: it stands for the one that it calls, as
// where libc's pthread_create, called by its entry, allocates.
static bool is_entry(uintptr_t pc) {
  return pc - (uintptr_t)__start_mprof_text <
         (uintptr_t)(__stop_mprof_text - __start_mprof_text);
}

// The state of the caller that is looked at.
struct frame {
  uintptr_t pc, sp, bp;
};

// The sanitizers must not check what is read here: other frames' words.
__attribute__((no_sanitize("address", "thread", "memory"))) static uintptr_t
word_at(uintptr_t addr) {
  return *(const uintptr_t *)addr;
}

// From a frame to its caller's; false if there is none to be found.
static bool ascend(struct mprof_stack_range *range, bool is_foreign,
                   const struct rule *r, struct frame *f) {
  bool by_bp = r->base != FROM_SP;
  uintptr_t cfa =
      (by_bp ? f->bp : f->sp) +
      (r->base == NONE ? 16 : (uintptr_t)(intptr_t)r->cfa_words * 8);
  // One comparison for both ends: one below wraps to a huge distance.
  if (cfa - f->sp - 8 > MPROF_MAX_FRAME_BYTES || (cfa & 7) != 0 ||
      !mprof_stack_reaches(range, is_foreign, cfa - 16))
    return false;
  uintptr_t bp = f->bp;
  if (r->base == NONE) {
    bp = word_at(cfa - 16);
  } else if (r->bp_is_saved) {
    uintptr_t saved = cfa + (uintptr_t)(intptr_t)r->bp_words * 8;
    if (saved < range->lo || saved + 8 > range->hi)
      return false;
    bp = word_at(saved);
  }
  *f = (struct frame){.pc = word_at(cfa - 8), .sp = cfa, .bp = bp};
  return true;
}

// libc's frames below a thread's function are several where they can all be
// followed, and the first thread has one of the program's below them.
static size_t without_roots(const mprof_pc *pcs, size_t n) {
  if (n > 2 && mprof_without_root(pcs, n) == n &&
      mprof_without_root(pcs, n - 1) < n - 1)
    n--;
  for (size_t kept; (kept = mprof_without_root(pcs, n)) < n;)
    n = kept;
  return n;
}

size_t mprof_unwind_cfi(struct mprof_stack_range *range, uintptr_t fp,
                        mprof_pc *pcs, size_t depth,
                        enum mprof_stack_end *end) {
  *end = MPROF_STACK_CUT_DEPTH;
  if (depth == 0)
    return 0;
  struct mprof_stack_range foreign;
  range = mprof_stack_enter(range, &foreign, fp);
  if (!range)
    return 0;
  struct frame f = {.pc = word_at(fp + 8), .sp = fp + 16, .bp = word_at(fp)};
  const uintptr_t main_frame = (uintptr_t)__mprof_main_frame;
  size_t n = 0;
  // Whether f.pc is where the thread will return to: then its module is not
  // unloaded meanwhile. Behind code that says nothing it is only supposed, and
  // what it says of itself is not read.
  bool is_sure = true;
  while (n < depth) {
    if (f.pc < 4096 || f.pc >> 47) {
      *end = f.pc == 0 ? MPROF_STACK_COMPLETE : MPROF_STACK_CUT_CHAIN;
      break;
    }
    if (!is_entry(f.pc - 1))
      pcs[n++] = f.pc;
    // Returning to an address one past the call's, which may be another
    // function's.
    struct rule r = {.base = NONE};
    if (is_sure)
      r = find_rule(f.pc - 1);
    bool is_main = main_frame != 0 && f.bp == main_frame &&
                   (r.base == FROM_BP || !is_sure);
    is_sure = r.base != NONE;
    if (is_main) {
      *end = MPROF_STACK_COMPLETE;
      return n;
    }
    if (r.base == ROOT || mprof_is_context_root(f.pc)) {
      *end = MPROF_STACK_COMPLETE;
      break;
    }
    if (!ascend(range, range == &foreign, &r, &f)) {
      *end = r.base == NONE && f.bp == 0 ? MPROF_STACK_COMPLETE
                                         : MPROF_STACK_CUT_CHAIN;
      break;
    }
  }
  return *end == MPROF_STACK_COMPLETE ? without_roots(pcs, n) : n;
}

// By frame pointers up to frame or as far as they go. False: they went
// elsewhere, or past it.
static bool has_in_chain(struct mprof_stack_range *range, bool is_foreign,
                         uintptr_t fp, uintptr_t frame) {
  while (fp < frame) {
    uintptr_t next = word_at(fp);
    if (next - fp - 16 > MPROF_MAX_FRAME_BYTES || (next & 15) != 0 ||
        !mprof_stack_reaches(range, is_foreign, next))
      return false;
    fp = next;
  }
  return fp == frame;
}

// Code without frame pointers keeps its caller's value in the register or saves
// it, so the value at some step is frame.
bool mprof_stack_has_frame(struct mprof_stack_range *range, uintptr_t fp,
                           uintptr_t frame, mprof_pc pc) {
  struct mprof_stack_range foreign;
  range = mprof_stack_enter(range, &foreign, fp);
  if (!range)
    return false;
  bool is_foreign = range == &foreign;
  if (has_in_chain(range, is_foreign, fp, frame))
    return word_at(frame + 8) == pc;
  struct frame f = {.pc = word_at(fp + 8), .sp = fp + 16, .bp = word_at(fp)};
  while (f.sp <= frame) {
    if (f.bp == frame)
      return mprof_stack_reaches(range, is_foreign, frame) &&
             word_at(frame + 8) == pc;
    struct rule r = find_rule(f.pc - 1);
    if (r.base == ROOT || r.base == NONE || !ascend(range, is_foreign, &r, &f))
      return false;
  }
  return false;
}
