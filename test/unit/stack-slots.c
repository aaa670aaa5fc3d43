// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a stack of code without frame pointers is recognized by the return
// addresses in its slots. A stack differs if any return address differs, also
// in the frames of the root. If a function has a frame of variable size, the
// slots above are found through the frame pointer, wherever it was saved. A
// wrong frame pointer causes no fault. An event gets the bucket of a known
// stack only if the stack is the same, and if none of its code was unloaded.
// The slots also tell the stack of an event with another size.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "bucket/bucket.h"
#include "thread/threads.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

#include <sys/mman.h>

// Functions with the call frame information below. Only the information is
// used; the code never runs. The label NAME_ret is the return address of a call
// in the function.
#ifdef __x86_64__
#define CALL "call abort@PLT\n"
#define BP "%rbp"
#define RA "%rip"
#define SAVES_RA // calls save the return address in the word below the CFA
#else
#define CALL "bl abort\n"
#define BP "x29"
#define RA "x30"
#define SAVES_RA ".cfi_offset x30, -8\n"
#endif
#define FUNCTION(name, cfi)                                                    \
  __asm__(".text\n.type " #name ", @function\n" #name                          \
          ":\n.cfi_startproc\n" SAVES_RA cfi CALL #name                        \
          "_ret:\nnop\n.cfi_endproc\n.size " #name ", . - " #name "\n");       \
  extern const char name##_ret[] __attribute__((visibility("hidden")))

// Has a frame of 3 words. `other` is a second function like it.
FUNCTION(small, ".cfi_def_cfa_offset 24\n");
FUNCTION(other, ".cfi_def_cfa_offset 24\n");
// Has a frame of 5 words, and saves the frame pointer register in the second
// word below the CFA.
FUNCTION(saver, ".cfi_def_cfa_offset 40\n.cfi_offset " BP ", -16\n");
// Keep a frame pointer, and their frames have a variable size.
FUNCTION(variable, ".cfi_def_cfa " BP ", 16\n.cfi_offset " BP ", -16\n");
FUNCTION(shifted, ".cfi_def_cfa " BP ", 32\n.cfi_offset " BP ", -24\n");
FUNCTION(root, ".cfi_undefined " RA "\n");

enum { WORDS = 512, DEPTH = 32 };
static uintptr_t *words; // the stack; the page after it is not readable
static struct mprof_thread thread;

// The stack of a test, from the entry on:
//   words[2] small, variable, small, variable, saver, shifted, small, root
// The functions variable and shifted have `more` words more than they need.
enum {
  SMALL,
  VARIABLE,
  SMALL2,
  VARIABLE2,
  SAVER,
  SHIFTED,
  SMALL3,
  ROOT,
  SLOTS
};
static uintptr_t *slot[SLOTS];
// The saved frame pointers, and one that no function uses.
static uintptr_t *by_entry, *by_variable, *by_saver, *unused;

static uintptr_t of(const char *label) { return (uintptr_t)label; }

static uintptr_t make(size_t more) {
  uintptr_t *fp = &words[1];
  memset(words, 0, WORDS * sizeof(words[0]));
  slot[SMALL] = fp + 1;
  slot[VARIABLE] = slot[SMALL] + 3;
  slot[SMALL2] = slot[VARIABLE] + 4 + more;
  slot[VARIABLE2] = slot[SMALL2] + 3;
  slot[SAVER] = slot[VARIABLE2] + 2 + more / 2;
  slot[SHIFTED] = slot[SAVER] + 5;
  slot[SMALL3] = slot[SHIFTED] + 6 + more;
  slot[ROOT] = slot[SMALL3] + 3;
  by_entry = fp;
  by_variable = slot[SMALL2] - 1;
  unused = slot[SAVER] - 1;
  by_saver = slot[SHIFTED] - 1;
  *by_entry = (uintptr_t)by_variable;
  *by_variable = (uintptr_t)unused;
  *unused = 0x1234;
  *by_saver = (uintptr_t)(slot[SMALL3] - 3);
  *slot[SMALL] = *slot[SMALL2] = *slot[SMALL3] = of(small_ret);
  *slot[VARIABLE] = *slot[VARIABLE2] = of(variable_ret);
  *slot[SAVER] = of(saver_ret);
  *slot[SHIFTED] = of(shifted_ret);
  *slot[ROOT] = of(root_ret);
  return (uintptr_t)fp;
}

static mprof_pc pcs[DEPTH];
static uint16_t codes[2 * DEPTH];
static size_t proof_len;

static bool matches(uintptr_t fp) {
  return mprof_slots_match(&thread.range, fp, pcs, proof_len, codes);
}

static void check_slots(void) {
  struct mprof_unwound facts;
  uintptr_t fp = make(0);
  CHECK_EQ(mprof_unwind_checked(&thread.range, fp, pcs, DEPTH, &facts), SLOTS);
  CHECK_EQ(facts.end, MPROF_STACK_COMPLETE);
  proof_len = facts.proof_len;
  CHECK_EQ(proof_len, SLOTS);
  CHECK_EQ(
      mprof_slots_record(&thread.range, fp, pcs, proof_len, codes, 2 * DEPTH),
      10);
  CHECK_EQ(mprof_slots_record(&thread.range, fp, pcs, proof_len, codes, 9), 0);
  CHECK(matches(fp));
  for (int i = 0; i < SLOTS; i++) {
    const uintptr_t was = *slot[i];
    *slot[i] = of(other_ret);
    CHECK(!matches(fp));
    *slot[i] = was;
    CHECK(matches(fp));
  }
  // Frames of another size: the frame pointers lead to the other slots.
  for (size_t more = 1; more < 20; more++) {
    fp = make(more);
    CHECK(matches(fp));
    CHECK_EQ(mprof_unwind_checked(&thread.range, fp, pcs, DEPTH, &facts),
             SLOTS);
  }
}

// The stack matches only with the right frame pointers, and no frame pointer
// makes the comparison read outside of the stack.
static void check_frame_pointers(void) {
  const uintptr_t fp = make(2);
  uintptr_t *const saved[] = {by_entry, by_variable, by_saver};
  for (size_t i = 0; i < 3; i++) {
    const uintptr_t right = *saved[i];
    const uintptr_t wrong[] = {0,
                               right - 8,
                               right + 8,
                               right + 1,
                               fp,
                               (uintptr_t)words - 4096,
                               (uintptr_t)(words + WORDS) - 8,
                               (uintptr_t)(words + WORDS),
                               (uintptr_t)(words + WORDS) + 4096,
                               UINTPTR_MAX - 15,
                               UINTPTR_MAX};
    for (size_t j = 0; j < sizeof(wrong) / sizeof(wrong[0]); j++) {
      *saved[i] = wrong[j];
      CHECK(!matches(fp));
    }
    *saved[i] = right;
    CHECK(matches(fp));
  }
  *unused = 0x5678;
  CHECK(matches(fp));
  // Codes of another stack may lead below the stack.
  const uint16_t below[] = {MPROF_SLOT_BY_BP + WORDS, 1};
  CHECK(!mprof_slots_match(&thread.range, fp, pcs, 2, below));
  // A copy of the stack at the end of the readable memory has its last slots
  // behind the end, where they must not be read.
  for (size_t from = WORDS - 40; from < WORDS - 3; from++) {
    memcpy(words + from, (void *)fp, (WORDS - from) * sizeof(words[0]));
    words[from] = (uintptr_t)(words + WORDS) - 16;
    (void)matches((uintptr_t)(words + from));
  }
}

static struct mprof_bucket *at(uintptr_t fp) {
  struct mprof_bucket_key key = {.type = MPROF_BUCKET_TRACE};
  return mprof_bucket_at(&thread, &key, 0, fp);
}

// An event with another size gets a bucket with the stack of b and its slots,
// if its stack is the same.
static void check_other_size(uintptr_t fp, const struct mprof_bucket *b) {
  struct mprof_bucket_key key = {.type = MPROF_BUCKET_TRACE, .size = 5};
  struct mprof_bucket *sized = mprof_bucket_at(&thread, &key, 0, fp);
  CHECK(sized != b);
  CHECK_EQ(key.stack, b->stack); // the stack was not unwound
  CHECK_EQ(sized->stack_len, b->stack_len);
  CHECK_EQ(sized->end, b->end);
  CHECK(mprof_bucket_has_slots(sized));
  CHECK_EQ(mprof_bucket_at(&thread, &key, 0, fp), sized);
  key.size = 6;
  const uintptr_t was = *slot[1];
  *slot[1] = of(other_ret);
  struct mprof_bucket *different = mprof_bucket_at(&thread, &key, 0, fp);
  CHECK_EQ(different->stack[1], of(other_ret));
  *slot[1] = was;
}

static void check_buckets(void) {
  uintptr_t fp = make(0);
  // The frame of the root belongs to libc and is left out.
  mprof_stack_roots.libc[0].start = of(root_ret) - 1;
  mprof_stack_roots.libc[0].end = of(root_ret) + 1;
  struct mprof_bucket *b = at(fp);
  CHECK_EQ(b->stack_len, SLOTS - 1);
  CHECK(mprof_bucket_has_slots(b));
  CHECK_EQ(at(fp), b);
  check_other_size(fp, b);
  for (int i = 0; i < SLOTS; i++) {
    const uintptr_t was = *slot[i];
    *slot[i] = i == ROOT ? of(small_ret) : of(other_ret);
    struct mprof_bucket *different = at(fp);
    CHECK(different != b);
    CHECK_EQ(at(fp), different);
    *slot[i] = was;
    CHECK_EQ(at(fp), b);
  }
  fp = make(7);
  CHECK_EQ(at(fp), b);
  CHECK_EQ(at(fp), b);
  // Other code may now lie at the addresses.
  atomic_store(&b->gone, 1);
  mprof_unwind_forget();
  struct mprof_bucket *later = at(fp);
  CHECK(later != b);
  CHECK_EQ(at(fp), later);
}

int main(void) {
  const size_t bytes = WORDS * sizeof(words[0]);
  char *pages =
      mmap(NULL, bytes + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  NEED(pages != MAP_FAILED);
  NEED(mprotect(pages + 4096, bytes, PROT_READ | PROT_WRITE) == 0);
  words = (uintptr_t *)(pages + 4096);
  _Alignas(struct mprof_scratch) static char
      scratch[sizeof(struct mprof_scratch) + 2 * DEPTH * sizeof(mprof_pc)];
  thread.scratch = (struct mprof_scratch *)scratch;
  thread.sized = thread.scratch->few;
  thread.sized_mask = MPROF_SIZED_MIN - 1;
  thread.scratch->depth = DEPTH;
  thread.range = (struct mprof_stack_range){(uintptr_t)words,
                                            (uintptr_t)(words + WORDS), false};
  mprof_guard_enter();
  check_slots();
  check_frame_pointers();
  check_buckets();
  mprof_guard_leave();
  return 0;
}
