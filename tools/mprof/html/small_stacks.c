// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "html/small_stacks.h"

#include "common/intern.h"
#include "common/memory.h"
#include "common/saturate.h"
#include "html/page_data.h"
#include "html/stream.h"
#include "view/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The largest number of nodes and stacks of a page. A browser adds up so many
// in less than a tenth of a second. Fuzzers set fewer.
#ifndef MPROF_STACK_ITEMS
#define MPROF_STACK_ITEMS 250000
#endif
enum { MAX_ITEMS = MPROF_STACK_ITEMS };

// The values of one type that a function loses. _std: if the frames of the
// standard libraries are shown.
struct loss {
  int64_t flat, flat_std, cum;
  double variance, variance_std;
};

struct small_stacks {
  struct loss *losses[GRAINS]; // of each function and type
  uint32_t *lines[GRAINS]; // of each function: where it is in the largest stack
  int64_t *largest[GRAINS];
};

struct cutter {
  struct page *page;
  float *shares; // of each node: its largest share of the values of a type
  uint32_t *new; // of each node: its new number, or that of its nearest caller
  uint32_t *stamps[GRAINS]; // of each function: the stack in which it was seen
  uint32_t stamp;
  float limit; // nodes with smaller shares are cut off
};

static const struct page_frame *frame_of(const struct page *page,
                                         uint32_t node) {
  return &page->frames[page->nodes[node].frame];
}

static bool is_std(const struct page *page, uint32_t node) {
  return page->functions[0][frame_of(page, node)->functions[0]].is_std;
}

// --- the nodes that are cut off ---

static void add_shares(struct cutter *c, const struct page_set *set,
                       unsigned type, double *sums) {
  const struct page *page = c->page;
  const unsigned types = set->profile->type_count;
  double total = 0;
  memset(sums, 0, page->node_count * sizeof *sums);
  for (size_t i = 0; i < set->count; i++) {
    const double size = (double)size_of(set->values[i * types + type]);
    sums[set->nodes[i]] += size;
    total += size;
  }
  for (size_t n = page->node_count - 1; n > 0 && total > 0; n--) {
    const float share = (float)(sums[n] / total);
    sums[page->nodes[n].parent] += sums[n];
    if (share > c->shares[n])
      c->shares[n] = share;
  }
}

// Keeps the stacks that have only frames of the standard libraries, because
// these are shown where others are hidden.
static void keep_library_stacks(struct cutter *c, const struct page_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    uint32_t n = set->nodes[i];
    while (n && is_std(c->page, n))
      n = c->page->nodes[n].parent;
    for (uint32_t k = n ? 0 : set->nodes[i]; k; k = c->page->nodes[k].parent)
      c->shares[k] = 2;
  }
}

static bool is_cut(const struct cutter *c, uint32_t node) {
  return node && c->shares[node] < c->limit;
}

// Numbers the nodes that are kept. Returns their number.
static size_t number_kept(struct cutter *c) {
  uint32_t count = 1;
  for (uint32_t n = 1; n < c->page->node_count; n++)
    c->new[n] = is_cut(c, n) ? c->new[c->page->nodes[n].parent] : count++;
  return count;
}

// The key of the stacks that are added up. signs: a bit for each negative
// value, so that sizes are added up and no values cancel each other.
struct joined {
  uint32_t node, labels, signs;
};

struct joined_query {
  const struct joined *known;
  struct joined wanted;
};

static bool is_joined(const void *arg, uint32_t index) {
  const struct joined_query *q = arg;
  return memcmp(&q->known[index], &q->wanted, sizeof q->wanted) == 0;
}

static struct joined joined_of(const struct cutter *c,
                               const struct page_set *set, size_t i) {
  const unsigned types = set->profile->type_count;
  struct joined j = {c->new[set->nodes[i]], set->label_sets[i], 0};
  for (unsigned k = 0; k < types; k++)
    if (set->values[i * types + k] < 0)
      j.signs |= 1u << k % 32;
  return j;
}

// Adds up the stacks of a set that are cut off at one node and have equal
// labels. to: receives for each stack its new number. Returns the count of new
// stacks; ends early if it is larger than `most`.
static size_t join_stacks(const struct cutter *c, const struct page_set *set,
                          uint32_t *to, size_t most) {
  struct intern set_of = {0};
  struct joined *known = NULL;
  size_t capacity = 0, count = 0;
  for (size_t i = 0; i < set->count && count <= most; i++) {
    const uint32_t next = (uint32_t)count;
    const struct joined none = {UINT32_MAX, 0, 0};
    if (!is_cut(c, set->nodes[i])) {
      to[i] = next;
      *APPEND(known, count, capacity) = none;
      continue;
    }
    const struct joined_query q = {known, joined_of(c, set, i)};
    to[i] = intern_find(&set_of, intern_hash(0, &q.wanted, sizeof q.wanted),
                        next, is_joined, &q);
    if (to[i] == next)
      *APPEND(known, count, capacity) = q.wanted;
  }
  intern_free(&set_of);
  free(known);
  return count;
}

// Returns the number of nodes and stacks that the page has with this limit.
static size_t items_with(struct cutter *c) {
  size_t count = number_kept(c);
  for (size_t i = 0; i < c->page->set_count && count <= MAX_ITEMS; i++) {
    const struct page_set *set = &c->page->sets[i];
    uint32_t *to = zeroed(set->count, sizeof *to);
    count += join_stacks(c, set, to, MAX_ITEMS);
    free(to);
  }
  return count;
}

// --- the losses of the functions ---

static bool is_seen(struct cutter *c, unsigned grain, uint32_t function) {
  const bool seen = c->stamps[grain][function] == c->stamp;
  c->stamps[grain][function] = c->stamp;
  return seen;
}

static void add_loss(struct cutter *c, const struct page_set *set, size_t i) {
  const struct page *page = c->page;
  const struct profile *p = set->profile;
  const unsigned types = p->type_count;
  const uint32_t leaf = set->nodes[i];
  const int64_t *values = &set->values[i * types];
  uint32_t kept = leaf, own = leaf;
  while (is_cut(c, kept))
    kept = page->nodes[kept].parent;
  while (is_std(page, own))
    own = page->nodes[own].parent;
  c->stamp++;
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    struct small_stacks *small = set->small;
    for (uint32_t n = kept; n; n = page->nodes[n].parent)
      is_seen(c, grain, frame_of(page, n)->functions[grain]);
    for (uint32_t n = leaf; n != kept; n = page->nodes[n].parent) {
      const uint32_t f = frame_of(page, n)->functions[grain];
      struct loss *losses = &small->losses[grain][f * types];
      const bool seen = is_seen(c, grain, f);
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
        if (size <= small->largest[grain][f])
          continue;
        small->largest[grain][f] = size;
        small->lines[grain][f] = frame_of(page, n)->functions[GRAIN_LINES];
      }
    }
    // A kept frame of the program that called only library functions.
    if (!is_cut(c, own))
      for (unsigned k = 0; k < types; k++) {
        struct loss *l =
            &small->losses[grain]
                          [frame_of(page, own)->functions[grain] * types + k];
        add_to(&l->flat, values[k]);
        l->variance +=
            estimate_variance(p, &p->samples[set->samples[i]], k, values[k]);
      }
  }
}

// --- the new tree ---

// Returns the node for what is cut off below a node, which it adds if needed.
static uint32_t rest_of(struct page *page, uint32_t *rests, uint32_t node) {
  if (!rests[node])
    rests[node] = page_node_of(page, node, page->small_frame);
  return rests[node];
}

// Replaces the nodes by those that are kept.
static void replace_nodes(struct cutter *c) {
  struct page *page = c->page;
  struct page_node *old = page->nodes;
  const size_t count = page->node_count;
  intern_free(&page->node_set);
  page->node_set = (struct intern){0};
  page->nodes = NULL;
  page->node_count = page->node_capacity = 0;
  *APPEND(page->nodes, page->node_count, page->node_capacity) =
      (struct page_node){0};
  for (uint32_t n = 1; n < count; n++)
    if (!is_cut(c, n))
      page_node_of(page, c->new[old[n].parent], old[n].frame);
  free(old);
}

// Replaces the stacks by those that are left. The shares and the new numbers
// are still those of the old nodes.
static void replace_stacks(struct cutter *c, struct page_set *set) {
  const unsigned types = set->profile->type_count;
  uint32_t *to = zeroed(set->count, sizeof *to);
  const size_t count = join_stacks(c, set, to, SIZE_MAX);
  uint32_t *nodes = zeroed(count, sizeof *nodes),
           *labels = zeroed(count, sizeof *labels);
  int64_t *values = zeroed(count * types, sizeof *values);
  uint32_t *rests = zeroed(c->page->node_count, sizeof *rests);
  for (size_t i = 0; i < set->count; i++) {
    const uint32_t node = c->new[set->nodes[i]];
    nodes[to[i]] =
        is_cut(c, set->nodes[i]) ? rest_of(c->page, rests, node) : node;
    labels[to[i]] = set->label_sets[i];
    for (unsigned k = 0; k < types; k++)
      add_to(&values[to[i] * types + k], set->values[i * types + k]);
  }
  free(to);
  free(rests);
  free(set->nodes);
  free(set->label_sets);
  free(set->values);
  set->nodes = nodes;
  set->label_sets = labels;
  set->values = values;
  set->count = count;
}

static void add_losses(struct cutter *c, struct page_set *set) {
  const unsigned types = set->profile->type_count;
  set->small = zeroed(1, sizeof *set->small);
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    const size_t count = c->page->function_count[grain];
    set->small->losses[grain] = zeroed(count * types, sizeof(struct loss));
    set->small->lines[grain] = zeroed(count, sizeof(uint32_t));
    set->small->largest[grain] = zeroed(count, sizeof(int64_t));
  }
  for (size_t i = 0; i < set->count; i++)
    if (is_cut(c, set->nodes[i]))
      add_loss(c, set, i);
}

static void cut(struct cutter *c) {
  struct page *page = c->page;
  for (size_t i = 0; i < page->set_count; i++)
    add_losses(c, &page->sets[i]);
  replace_nodes(c);
  const uint32_t text = page_text(page, "(small stacks)");
  struct page_frame frame;
  for (unsigned grain = 0; grain < GRAINS; grain++)
    frame.functions[grain] =
        page_function_of(page, grain, (struct page_function){.name = text});
  page->small_frame = page_frame_of(page, &frame);
  page->small_limit = c->limit;
  for (size_t i = 0; i < page->set_count; i++)
    replace_stacks(c, &page->sets[i]);
}

void small_stacks_cut(struct page *page) {
  size_t count = page->node_count;
  for (size_t i = 0; i < page->set_count; i++)
    count += page->sets[i].count;
  if (count <= MAX_ITEMS)
    return;
  struct cutter c = {.page = page, .limit = 1e-7f};
  c.shares = zeroed(page->node_count, sizeof *c.shares);
  c.new = zeroed(page->node_count, sizeof *c.new);
  for (unsigned grain = 0; grain < GRAINS; grain++)
    c.stamps[grain] = zeroed(page->function_count[grain], sizeof(uint32_t));
  double *sums = zeroed(page->node_count, sizeof *sums);
  for (size_t i = 0; i < page->set_count; i++) {
    for (unsigned k = 0; k < page->sets[i].profile->type_count; k++)
      add_shares(&c, &page->sets[i], k, sums);
    keep_library_stacks(&c, &page->sets[i]);
  }
  free(sums);
  // At the last limit, each stack is cut off at the root.
  while (items_with(&c) > MAX_ITEMS && c.limit < 1)
    c.limit *= 2;
  cut(&c);
  free(c.shares);
  free(c.new);
  for (unsigned grain = 0; grain < GRAINS; grain++)
    free(c.stamps[grain]);
}

// --- writing ---

static bool is_lost(const struct loss *losses, unsigned types) {
  for (unsigned k = 0; k < types; k++)
    if (losses[k].flat || losses[k].flat_std || losses[k].cum)
      return true;
  return false;
}

void small_stacks_write(const struct page *page, const struct page_set *set,
                        FILE *out) {
  static const char *const names[] = {[GRAIN_FUNCTIONS] = "functions",
                                      [GRAIN_LINES] = "lines",
                                      [GRAIN_FILES] = "files"};
  const unsigned types = set->profile->type_count;
  if (!set->small)
    return;
  fprintf(out, ",\n\"small\":{\"limit\":%g", (double)page->small_limit);
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    struct stream s = {0};
    size_t count = 0;
    // The last function is that of the cut stacks, which lose nothing.
    for (size_t f = 0; f + 1 < page->function_count[grain]; f++) {
      const struct loss *losses = &set->small->losses[grain][f * types];
      if (!is_lost(losses, types))
        continue;
      count++;
      stream_put(&s, f);
      stream_put(&s, set->small->lines[grain][f]);
      for (unsigned k = 0; k < types; k++) {
        stream_put_signed(&s, losses[k].flat);
        stream_put_signed(&s, losses[k].flat_std);
        stream_put_signed(&s, losses[k].cum);
        stream_put(&s, (uint64_t)fmin(losses[k].variance, 1e18));
        stream_put(&s, (uint64_t)fmin(losses[k].variance_std, 1e18));
      }
    }
    stream_write(&s, names[grain], count, out);
  }
  fputs("}", out);
}

void small_stacks_free(struct small_stacks *small) {
  if (!small)
    return;
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    free(small->losses[grain]);
    free(small->lines[grain]);
    free(small->largest[grain]);
  }
  free(small);
}
