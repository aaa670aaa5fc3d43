// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where small stacks are cut off, most frames and functions of a large profile
// are in none of the stacks that are left.

#include "html/page_numbers.h"

#include "common/memory.h"
#include "html/page_data.h"
#include "html/small_losses.h"

#include <stdlib.h>

struct use {
  size_t count;
  uint32_t frame;
};

static int by_count(const void *x, const void *y) {
  const struct use *a = x, *b = y;
  if (a->count != b->count)
    return a->count > b->count ? -1 : 1;
  return (a->frame > b->frame) - (a->frame < b->frame);
}

// Gives frequent frames small numbers, which are short in the table of nodes.
static void number_frames(struct page *page) {
  struct page_numbers *numbers = &page->numbers;
  const size_t count = page->frame_count;
  struct use *uses = zeroed(count, sizeof *uses);
  for (uint32_t f = 0; f < count; f++)
    uses[f].frame = f;
  for (size_t n = 1; n < page->node_count; n++)
    uses[page->nodes[n].frame].count++;
  if (page->has_small_frame)
    uses[page->small_frame].count++;
  if (count)
    qsort(uses, count, sizeof *uses, by_count);
  numbers->frames = zeroed(count, sizeof *numbers->frames);
  numbers->frame_order = zeroed(count, sizeof *numbers->frame_order);
  for (uint32_t i = 0; i < count; i++) {
    const bool is_used = uses[i].count > 0;
    numbers->frames[uses[i].frame] = is_used ? i : NOT_WRITTEN;
    numbers->frame_order[i] = uses[i].frame;
    numbers->frame_count += is_used;
  }
  free(uses);
}

// Returns the numbers of what has a flag.
static uint32_t *number(const uint8_t *used, size_t count) {
  uint32_t *numbers = zeroed(count, sizeof *numbers), next = 0;
  for (size_t i = 0; i < count; i++)
    numbers[i] = used[i] ? next++ : NOT_WRITTEN;
  return numbers;
}

static void number_functions(struct page *page, uint8_t *texts) {
  uint8_t *used[GRAINS];
  for (unsigned grain = 0; grain < GRAINS; grain++)
    used[grain] = zeroed(page->function_count[grain], 1);
  for (size_t i = 0; i < page->numbers.frame_count; i++)
    for (unsigned grain = 0; grain < GRAINS; grain++)
      used[grain][page->frames[page->numbers.frame_order[i]].functions[grain]] =
          1;
  for (size_t i = 0; i < page->set_count; i++)
    if (page->sets[i].small)
      small_losses_mark(page->sets[i].small, used);
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    const size_t count = page->function_count[grain];
    page->numbers.functions[grain] = number(used[grain], count);
    for (size_t i = 0; i < count; i++) {
      const struct page_function *f = &page->functions[grain][i];
      if (used[grain][i])
        texts[f->name] = texts[f->file] = texts[f->module] = 1;
    }
    free(used[grain]);
  }
}

static void number_labels(struct page *page, uint8_t *texts) {
  const size_t count = page->label_set_count;
  uint8_t *used = zeroed(count, 1);
  for (size_t i = 0; i < page->set_count; i++)
    for (size_t k = 0; k < page->sets[i].count; k++)
      used[page->sets[i].label_sets[k]] = 1;
  page->numbers.label_sets = number(used, count);
  for (size_t i = 0; i < count; i++)
    for (uint32_t k = 0; used[i] && k < page->label_sets[i].count; k++) {
      const struct page_label *l = &page->labels[page->label_sets[i].first + k];
      texts[l->key] = texts[l->value] = 1;
    }
  free(used);
}

// Drops the whole names whose short names are not used, and marks the pieces of
// the others.
static void choose_whole_names(struct page *page, uint8_t *texts) {
  enum { PIECE = 2 }; // a text that may be no short name
  struct stream kept = {0};
  size_t at = 0, count = 0;
  for (size_t i = 0; i < page->whole_name_count; i++) {
    const uint64_t shown = stream_get(&page->whole_names, &at);
    const bool is_used = texts[shown] % PIECE;
    if (is_used)
      stream_put(&kept, shown);
    for (uint64_t piece; (piece = stream_get(&page->whole_names, &at));)
      if (is_used) {
        stream_put(&kept, piece);
        texts[piece] |= PIECE;
      }
    if (is_used)
      stream_put(&kept, 0);
    count += is_used;
  }
  free(page->whole_names.bytes);
  page->whole_names = kept;
  page->whole_name_count = count;
}

void page_number(struct page *page) {
  const size_t count = page->texts->string_count;
  uint8_t *texts = zeroed(count, 1);
  number_frames(page);
  number_functions(page, texts);
  number_labels(page, texts);
  choose_whole_names(page, texts);
  texts[0] = 1; // ""
  page->numbers.texts = number(texts, count);
  free(texts);
}

void page_free_numbers(struct page *page) {
  free(page->numbers.texts);
  free(page->numbers.frames);
  free(page->numbers.frame_order);
  free(page->numbers.label_sets);
  for (unsigned grain = 0; grain < GRAINS; grain++)
    free(page->numbers.functions[grain]);
}
