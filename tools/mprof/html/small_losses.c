// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "html/small_losses.h"

#include "common/memory.h"
#include "common/saturate.h"
#include "html/page_data.h"
#include "html/stream.h"
#include "view/estimate.h"

#include <math.h>
#include <stdlib.h>

// The values of one type that a function loses. _std: if the frames of the
// standard libraries are shown.
struct loss {
  int64_t flat, flat_std, cum;
  double variance, variance_std;
};

struct small_losses {
  unsigned types;
  struct losses {
    size_t count;      // of functions, without that of small stacks
    struct loss *of;   // of each function and type
    uint32_t *lines;   // of each function: where it is in the largest stack
    int64_t *largest;  // of each function: the value of this stack
    uint32_t *stamps;  // of each function: the stack in which it was seen
    uint8_t *is_named; // of each function: whether its own losses are written
    // The sums of the functions whose own losses are not written.
    size_t rest_count;
    struct loss *rest;
  } grains[GRAINS];
  uint32_t stamp;
};

struct small_losses *small_losses_new(const struct page *page, unsigned types) {
  struct small_losses *small = zeroed(1, sizeof *small);
  small->types = types;
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    struct losses *l = &small->grains[grain];
    const size_t count = page->function_count[grain];
    l->count = count;
    l->of = zeroed(count * types, sizeof *l->of);
    l->lines = zeroed(count, sizeof *l->lines);
    l->largest = zeroed(count, sizeof *l->largest);
    l->stamps = zeroed(count, sizeof *l->stamps);
    l->is_named = zeroed(count, sizeof *l->is_named);
    l->rest = zeroed(types, sizeof *l->rest);
  }
  return small;
}

void small_losses_free(struct small_losses *small) {
  if (!small)
    return;
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    struct losses *l = &small->grains[grain];
    free(l->of);
    free(l->lines);
    free(l->largest);
    free(l->stamps);
    free(l->is_named);
    free(l->rest);
  }
  free(small);
}

static const struct page_frame *frame_of(const struct page *page,
                                         uint32_t node) {
  return &page->frames[page->nodes[node].frame];
}

static bool is_seen(const struct small_losses *small, unsigned grain,
                    uint32_t function) {
  uint32_t *stamp = &small->grains[grain].stamps[function];
  const bool seen = *stamp == small->stamp;
  *stamp = small->stamp;
  return seen;
}

// The innermost frame that is shown where the frames of the standard libraries
// are hidden. Stacks that have only such frames are shown whole.
static uint32_t own_node(const struct page *page, uint32_t leaf) {
  uint32_t own = leaf;
  while (own && page->functions[0][frame_of(page, own)->functions[0]].is_std)
    own = page->nodes[own].parent;
  return own ? own : leaf;
}

void small_losses_add(struct small_losses *small, const struct page *page,
                      const struct page_set *set, size_t i, uint32_t kept) {
  const struct profile *p = set->profile;
  const unsigned types = small->types;
  const uint32_t leaf = set->nodes[i], own = own_node(page, leaf);
  const int64_t *values = &set->values[i * types];
  bool is_own_cut = false;
  small->stamp++;
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    struct losses *l = &small->grains[grain];
    for (uint32_t n = kept; n; n = page->nodes[n].parent)
      is_seen(small, grain, frame_of(page, n)->functions[grain]);
    for (uint32_t n = leaf; n != kept; n = page->nodes[n].parent) {
      const uint32_t f = frame_of(page, n)->functions[grain];
      struct loss *losses = &l->of[f * types];
      const bool seen = is_seen(small, grain, f);
      is_own_cut |= n == own;
      for (unsigned k = 0; k < types; k++) {
        const double variance =
            n == own || n == leaf
                ? estimate_variance(p, &p->samples[set->samples[i]], k,
                                    values[k])
                : 0;
        add_to(&losses[k].cum, seen ? 0 : values[k]);
        add_to(&losses[k].flat, n == own ? values[k] : 0);
        add_to(&losses[k].flat_std, n == leaf ? values[k] : 0);
        losses[k].variance += n == own ? variance : 0;
        losses[k].variance_std += n == leaf ? variance : 0;
        const int64_t size = size_of(values[k]);
        if (size <= l->largest[f])
          continue;
        l->largest[f] = size;
        l->lines[f] = frame_of(page, n)->functions[GRAIN_LINES];
      }
    }
    // A kept frame of the program that called only library functions.
    for (unsigned k = 0; k < types && !is_own_cut; k++) {
      struct loss *loss =
          &l->of[frame_of(page, own)->functions[grain] * types + k];
      add_to(&loss->flat, values[k]);
      loss->variance +=
          estimate_variance(p, &p->samples[set->samples[i]], k, values[k]);
    }
  }
}

// --- choosing ---

// The bytes of the losses of a function: its numbers, its own table's entry and
// name, and five values of each type.
static size_t row_bytes(unsigned types) { return 60 + 16 * (size_t)types; }

size_t small_losses_bytes(const struct page *page, unsigned types) {
  size_t sum = 0;
  for (unsigned grain = 0; grain < GRAINS; grain++)
    sum += page->function_count[grain] * row_bytes(types);
  return sum;
}

static bool is_lost(const struct loss *losses, unsigned types) {
  for (unsigned k = 0; k < types; k++)
    if (losses[k].flat || losses[k].flat_std || losses[k].cum)
      return true;
  return false;
}

struct rank {
  double share;
  uint32_t function;
};

static int by_share(const void *x, const void *y) {
  const struct rank *a = x, *b = y;
  if (a->share != b->share)
    return a->share > b->share ? -1 : 1;
  return (a->function > b->function) - (a->function < b->function);
}

// Names at most so many functions. Returns how many.
static size_t choose(struct losses *l, size_t count, unsigned types,
                     size_t most) {
  struct rank *ranks = zeroed(count, sizeof *ranks);
  double *totals = zeroed(types, sizeof *totals);
  size_t used = 0;
  for (size_t i = 0; i < count * types; i++)
    totals[i % types] += fabs((double)l->of[i].cum);
  for (size_t f = 0; f < count; f++) {
    if (!is_lost(&l->of[f * types], types))
      continue;
    struct rank r = {0, (uint32_t)f};
    for (unsigned k = 0; k < types; k++) {
      const struct loss *loss = &l->of[f * types + k];
      const double size =
          fmax(fabs((double)loss->cum),
               fmax(fabs((double)loss->flat), fabs((double)loss->flat_std)));
      r.share = fmax(r.share, size / fmax(totals[k], 1));
    }
    ranks[used++] = r;
  }
  if (used)
    qsort(ranks, used, sizeof *ranks, by_share);
  for (size_t i = 0; i < used; i++) {
    const uint32_t f = ranks[i].function;
    l->is_named[f] = i < most;
    for (unsigned k = 0; k < types && i >= most; k++) {
      const struct loss *loss = &l->of[f * types + k];
      add_to(&l->rest[k].flat, loss->flat);
      add_to(&l->rest[k].flat_std, loss->flat_std);
    }
  }
  l->rest_count = used > most ? used - most : 0;
  free(ranks);
  free(totals);
  return used - l->rest_count;
}

void small_losses_choose(struct small_losses *small, const struct page *page,
                         size_t most) {
  static const unsigned order[] = {GRAIN_FUNCTIONS, GRAIN_FILES, GRAIN_LINES};
  size_t left = most / row_bytes(small->types);
  for (unsigned i = 0; i < GRAINS; i++)
    left -= choose(&small->grains[order[i]], page->function_count[order[i]],
                   small->types, left);
}

void small_losses_mark(const struct small_losses *small, uint8_t *const *used) {
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    const struct losses *l = &small->grains[grain];
    for (size_t f = 0; f < l->count; f++)
      if (l->is_named[f]) {
        used[grain][f] = 1;
        used[GRAIN_LINES][l->lines[f]] = 1;
      }
  }
}

// --- writing ---

static void write_rest(const char *name, const struct losses *l, unsigned types,
                       FILE *out) {
  struct stream s = {0};
  char rest[32];
  snprintf(rest, sizeof rest, "%s_rest", name);
  for (unsigned k = 0; k < types; k++) {
    stream_put_signed(&s, l->rest[k].flat);
    stream_put_signed(&s, l->rest[k].flat_std);
  }
  stream_write(&s, rest, l->rest_count, out);
}

void small_losses_write(const struct small_losses *small,
                        const struct page *page, FILE *out) {
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    const struct losses *l = &small->grains[grain];
    struct stream s = {0};
    size_t count = 0;
    for (size_t f = 0; f < l->count; f++) {
      if (!l->is_named[f])
        continue;
      count++;
      stream_put(&s, page->numbers.functions[grain][f]);
      stream_put(&s, page->numbers.functions[GRAIN_LINES][l->lines[f]]);
      for (unsigned k = 0; k < small->types; k++) {
        const struct loss *loss = &l->of[f * small->types + k];
        stream_put_signed(&s, loss->flat);
        stream_put_signed(&s, loss->flat_std);
        stream_put_signed(&s, loss->cum);
        stream_put(&s, (uint64_t)fmin(loss->variance, 1e18));
        stream_put(&s, (uint64_t)fmin(loss->variance_std, 1e18));
      }
    }
    stream_write(&s, page_grain_names[grain], count, out);
    write_rest(page_grain_names[grain], l, small->types, out);
  }
}
