// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Charges the free bytes of each page to the blocks in it; see owners.h.

#include "memory/owners.h"

#include "bucket/bucket.h"
#include "sys/os.h"
#include "sys/scale.h"

// Returns the keeper of a stack; NULL: there is no memory.
static struct mprof_keeper *keeper_of(struct mprof_holes *h,
                                      const struct mprof_bucket *stack) {
  struct mprof_pc_slot *s =
      mprof_pc_table_get(&h->by_stack, (mprof_pc)(uintptr_t)stack);
  if (s == NULL)
    return NULL;
  if (s->value == 0) {
    if (!mprof_process_grow((void **)&h->keepers, &h->keepers_bytes,
                            h->len * sizeof(h->keepers[0]),
                            sizeof(h->keepers[0])))
      return NULL;
    h->keepers[h->len++] = (struct mprof_keeper){
        .stack = stack, .factor = mprof_scale_factor(stack->size, stack->rate)};
    s->value = h->len;
  }
  return &h->keepers[s->value - 1];
}

// Charges a block, of which the present page has `bytes` bytes, with its share
// of the page's free bytes.
static void charge(struct mprof_holes *h, const struct mprof_page_block *b) {
  const struct mprof_bucket *stack = h->stack_of(b->block);
  struct mprof_keeper *k = stack != NULL ? keeper_of(h, stack) : NULL;
  if (k == NULL)
    return;
  // A page has 2^12 bytes, so no product is above 2^34.
  const uint64_t bytes = b->bytes << MPROF_KEEPER_SHIFT;
  k->used += mprof_mul_div(bytes, k->factor, MPROF_SCALE_ONE, 0);
  k->kept +=
      mprof_mul_div(h->free * bytes / h->used, k->factor, MPROF_SCALE_ONE, 0);
}

void mprof_holes_end(struct mprof_holes *h) {
  const uintptr_t limit = h->page + MPROF_PAGE;
  if (h->used > 0 && h->free > 0 &&
      mprof_process_pages(h->process, h->page, limit).rss > 0)
    for (size_t i = 0; i < h->blocks_len; i++)
      charge(h, &h->blocks[i]);
  h->used = h->free = 0;
  h->blocks_len = 0;
}

// Adds the part [start, limit) of a chunk, which lies in one page.
static void add_part(struct mprof_holes *h, uintptr_t start, uintptr_t limit,
                     uintptr_t block) {
  const uintptr_t page = start & -(uintptr_t)MPROF_PAGE;
  if (page != h->page)
    mprof_holes_end(h);
  h->page = page;
  if (block == 0) {
    h->free += limit - start;
    return;
  }
  h->used += limit - start;
  if (h->blocks_len < MPROF_PAGE_BLOCKS)
    h->blocks[h->blocks_len++] =
        (struct mprof_page_block){block, limit - start};
}

// Of a chunk in several pages, only the first and the last page have other
// chunks.
void mprof_holes_add(struct mprof_holes *h, uintptr_t start, uintptr_t limit,
                     uintptr_t block) {
  const uintptr_t first_end = (start & -(uintptr_t)MPROF_PAGE) + MPROF_PAGE,
                  last = (limit - 1) & -(uintptr_t)MPROF_PAGE;
  if (block != 0 && mprof_pc_table_has(&h->cached, (mprof_pc)start))
    return;
  add_part(h, start, limit < first_end ? limit : first_end, block);
  if (limit > first_end)
    add_part(h, last, limit, block);
}

void mprof_holes_free(struct mprof_holes *h) {
  if (h->keepers_bytes > 0)
    mprof_os_unmap(h->keepers, h->keepers_bytes);
  mprof_pc_table_free(&h->by_stack);
  mprof_pc_table_free(&h->cached);
}
