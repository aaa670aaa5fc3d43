// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "html/small_stacks.h"

#include "common/intern.h"
#include "common/memory.h"
#include "common/saturate.h"
#include "html/page_data.h"
#include "html/small_losses.h"
#include "html/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The largest number of nodes of a page. A browser adds up so many in less than
// a tenth of a second. A function, line or file needs as much time as
// FUNCTION_NODES nodes. Fuzzers set fewer.
#ifndef MPROF_STACK_NODES
#define MPROF_STACK_NODES 3500000
#endif
enum { MAX_NODES = MPROF_STACK_NODES, FUNCTION_NODES = 16 };

// Nodes are ranked by their largest share of the values of a type. The nodes
// with the first ranks are kept. No callee is ranked before its caller.
struct cutter {
  struct page *page;
  float *shares;
  uint32_t *order; // the nodes by rank
  uint32_t *ranks; // of each node
  size_t kept;     // the number of nodes that are kept
  uint32_t *new; // of each node: its new number, or that of its nearest caller
};

// The number of base64 for so many bytes.
static size_t encoded(size_t bytes) { return bytes / 3 * 4 + 4; }

static const struct page_frame *frame_of(const struct page *page,
                                         uint32_t node) {
  return &page->frames[page->nodes[node].frame];
}

static bool is_std(const struct page *page, uint32_t node) {
  return page->functions[0][frame_of(page, node)->functions[0]].is_std;
}

// --- ranks ---

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

// Ranks the stacks that have only frames of the standard libraries before all
// others, because these are shown where others are hidden.
static void prefer_library_stacks(struct cutter *c,
                                  const struct page_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    uint32_t n = set->nodes[i];
    while (n && is_std(c->page, n))
      n = c->page->nodes[n].parent;
    for (uint32_t k = n ? 0 : set->nodes[i]; k; k = c->page->nodes[k].parent)
      c->shares[k] = 2;
  }
}

// Sorts by 16 bits of the shares, the largest first. Equal ones keep their
// order.
static void sort_by_bits(const struct cutter *c, const uint32_t *from,
                         uint32_t *to, unsigned shift) {
  enum { VALUES = 1 << 16 };
  const size_t count = c->page->node_count;
  size_t *places = zeroed(VALUES + 1, sizeof *places);
  uint32_t bits;
  for (size_t i = 0; i < count; i++) {
    memcpy(&bits, &c->shares[from[i]], sizeof bits);
    places[VALUES - (bits >> shift) % VALUES]++;
  }
  for (size_t v = 1; v <= VALUES; v++)
    places[v] += places[v - 1];
  for (size_t i = 0; i < count; i++) {
    memcpy(&bits, &c->shares[from[i]], sizeof bits);
    to[places[VALUES - 1 - (bits >> shift) % VALUES]++] = from[i];
  }
  free(places);
}

// Orders the nodes by their shares: the bits of floats that are not negative
// have the order of their numbers. Among equal ones, the nodes of the first
// stack come first, so that whole stacks are kept. The root is the first.
static void rank_nodes(struct cutter *c) {
  const size_t count = c->page->node_count;
  uint32_t *half = zeroed(count, sizeof *half);
  c->shares[0] = 3;
  sort_by_bits(c, c->order, half, 0);
  sort_by_bits(c, half, c->order, 16);
  free(half);
  for (uint32_t i = 0; i < count; i++)
    c->ranks[c->order[i]] = i;
}

static bool is_cut(const struct cutter *c, uint32_t node) {
  return c->ranks[node] >= c->kept;
}

static void number_kept(struct cutter *c) {
  uint32_t count = 1;
  for (uint32_t n = 1; n < c->page->node_count; n++)
    c->new[n] = is_cut(c, n) ? c->new[c->page->nodes[n].parent] : count++;
}

// --- the size of the tables ---

// The nodes of a page are read in parts, so that their sizes are added once.
struct sizes {
  uint8_t *frames, *functions[GRAINS], *texts, *label_sets;
  size_t stream_bytes; // before they are encoded
  size_t text_bytes;
  size_t function_count;
};

static void add_text(const struct page *page, struct sizes *s, uint32_t text) {
  enum { QUOTES = 4 };
  if (!s->texts[text])
    s->text_bytes += strlen(page->texts->strings[text]) + QUOTES;
  s->texts[text] = 1;
}

static void add_frame(const struct page *page, struct sizes *s,
                      uint32_t frame) {
  if (s->frames[frame])
    return;
  s->frames[frame] = 1;
  for (unsigned grain = 0; grain < GRAINS; grain++) {
    const uint32_t f = page->frames[frame].functions[grain];
    const struct page_function *function = &page->functions[grain][f];
    s->stream_bytes += stream_size(f);
    if (s->functions[grain][f])
      continue;
    s->functions[grain][f] = 1;
    s->function_count++;
    s->stream_bytes += stream_size(function->name) +
                       stream_size(function->file) +
                       stream_size(function->module) +
                       stream_size((uint64_t)function->line << 1) + 1;
    add_text(page, s, function->name);
    add_text(page, s, function->file);
    add_text(page, s, function->module);
  }
}

static void add_labels(const struct page *page, struct sizes *s, uint32_t set) {
  if (s->label_sets[set])
    return;
  s->label_sets[set] = 1;
  for (uint32_t k = 0; k < page->label_sets[set].count; k++) {
    const struct page_label *l = &page->labels[page->label_sets[set].first + k];
    s->stream_bytes += stream_size(l->key) + stream_size(l->value) + 1;
    add_text(page, s, l->key);
    add_text(page, s, l->value);
  }
}

// The bytes of the numbers of a stack: its node is one of many, and the run of
// nodes to which it belongs has two numbers of its own.
static size_t stack_bytes(const struct page_set *set, size_t i) {
  enum { NODE = 3, RUN = 2 };
  const unsigned types = set->profile->type_count;
  size_t bytes = NODE + RUN + stream_size(set->label_sets[i]);
  for (unsigned k = 0; k < types; k++)
    bytes += stream_size((uint64_t)size_of(set->values[i * types + k]) << 1);
  return bytes;
}

static struct sizes *sizes_new(const struct page *page) {
  struct sizes *s = zeroed(1, sizeof *s);
  s->frames = zeroed(page->frame_count, 1);
  for (unsigned grain = 0; grain < GRAINS; grain++)
    s->functions[grain] = zeroed(page->function_count[grain], 1);
  s->texts = zeroed(page->texts->string_count, 1);
  s->label_sets = zeroed(page->label_set_count, 1);
  return s;
}

// Frees them and returns the size in the page.
static size_t sizes_sum(struct sizes *s) {
  const size_t sum = encoded(s->stream_bytes) + s->text_bytes;
  free(s->frames);
  for (unsigned grain = 0; grain < GRAINS; grain++)
    free(s->functions[grain]);
  free(s->texts);
  free(s->label_sets);
  free(s);
  return sum;
}

// --- the stacks that are joined ---

// The key of the stacks that are added up. signs: a bit for each negative
// value, so that sizes are added up and no values cancel each other.
struct joined {
  uint32_t node, labels, signs, is_cut;
};

struct joined_query {
  const struct joined *known;
  struct joined wanted;
};

static bool is_joined(const void *arg, uint32_t index) {
  const struct joined_query *q = arg;
  return memcmp(&q->known[index], &q->wanted, sizeof q->wanted) == 0;
}

static bool is_alone(const struct cutter *c, const struct page_set *set,
                     size_t i) {
  return !is_cut(c, set->nodes[i]) && !(set->unlabelled && set->unlabelled[i]);
}

static uint32_t labels_of(const struct cutter *c, const struct page_set *set,
                          size_t i) {
  return set->unlabelled && set->unlabelled[i] ? c->page->no_labels
                                               : set->label_sets[i];
}

static struct joined joined_of(const struct cutter *c,
                               const struct page_set *set, size_t i) {
  const unsigned types = set->profile->type_count;
  struct joined j = {c->new[set->nodes[i]], labels_of(c, set, i), 0,
                     is_cut(c, set->nodes[i])};
  for (unsigned k = 0; k < types; k++)
    if (set->values[i * types + k] < 0)
      j.signs |= 1u << k % 32;
  return j;
}

// Adds up the stacks of a set that are cut off at one node and have equal
// labels, and those of a node that lose their labels. to: receives for each
// stack its new number. Returns the count of new stacks.
static size_t join_stacks(const struct cutter *c, const struct page_set *set,
                          uint32_t *to) {
  struct intern set_of = {0};
  struct joined *known = NULL;
  size_t capacity = 0, count = 0;
  for (size_t i = 0; i < set->count; i++) {
    const uint32_t next = (uint32_t)count;
    const struct joined none = {UINT32_MAX, 0, 0, 0};
    if (is_alone(c, set, i)) {
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

static void add_stacks(const struct cutter *c, const struct page_set *set,
                       struct sizes *s) {
  // Sums need more bytes than the largest one of their values.
  enum { SUM = 2, REST = 4 };
  const unsigned types = set->profile->type_count;
  uint32_t *to = zeroed(set->count, sizeof *to);
  const size_t count = join_stacks(c, set, to);
  uint8_t *known = zeroed(count, 1);
  for (size_t i = 0; i < set->count; i++) {
    const size_t bytes = stack_bytes(set, i);
    add_labels(c->page, s, labels_of(c, set, i));
    if (is_alone(c, set, i))
      s->stream_bytes += bytes;
    else if (!known[to[i]]++)
      s->stream_bytes += bytes + SUM * types + REST;
  }
  free(known);
  free(to);
}

// Returns about the size of the tables if the cutter's first nodes are kept.
// load: receives the number of nodes and functions as a part of the largest
// one.
static size_t size_with(struct cutter *c, double *load) {
  const struct page *page = c->page;
  struct sizes *s = sizes_new(page);
  number_kept(c);
  // Frequent frames get the small numbers of one byte, which saves more than
  // is lost by numbers that grow.
  const size_t number = stream_size(page->frame_count);
  for (size_t i = 1; i < c->kept; i++)
    add_frame(page, s, page->nodes[c->order[i]].frame);
  s->stream_bytes += c->kept * number;
  for (size_t i = 0; i < page->set_count; i++)
    add_stacks(c, &page->sets[i], s);
  const size_t nodes = c->kept + FUNCTION_NODES * s->function_count;
  *load = (double)nodes / MAX_NODES;
  return sizes_sum(s);
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

// Replaces the stacks by those that are left. The ranks and the new numbers are
// still those of the old nodes.
static void replace_stacks(struct cutter *c, struct page_set *set) {
  const unsigned types = set->profile->type_count;
  uint32_t *to = zeroed(set->count, sizeof *to);
  const size_t count = join_stacks(c, set, to);
  uint32_t *nodes = zeroed(count, sizeof *nodes),
           *labels = zeroed(count, sizeof *labels);
  int64_t *values = zeroed(count * types, sizeof *values);
  uint32_t *rests = zeroed(c->page->node_count, sizeof *rests);
  set->joined = zeroed(count, sizeof *set->joined);
  for (size_t i = 0; i < set->count; i++) {
    const uint32_t node = c->new[set->nodes[i]];
    nodes[to[i]] =
        is_cut(c, set->nodes[i]) ? rest_of(c->page, rests, node) : node;
    set->joined[to[i]] += is_cut(c, set->nodes[i]);
    labels[to[i]] = labels_of(c, set, i);
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
  set->stack_count = set->count;
  set->count = count;
}

static void add_losses(struct cutter *c, struct page_set *set, size_t most) {
  set->small = small_losses_new(c->page, set->profile->type_count);
  for (size_t i = 0; i < set->count; i++) {
    uint32_t kept = set->nodes[i];
    while (is_cut(c, kept))
      kept = c->page->nodes[kept].parent;
    if (kept != set->nodes[i])
      small_losses_add(set->small, c->page, set, i, kept);
  }
  small_losses_choose(set->small, c->page, most);
}

static void cut(struct cutter *c, size_t most_losses) {
  struct page *page = c->page;
  for (size_t i = 0; i < page->set_count; i++)
    add_losses(c, &page->sets[i], most_losses);
  const uint32_t text = page_text(page, "(small stacks)");
  struct page_frame frame;
  for (unsigned grain = 0; grain < GRAINS; grain++)
    frame.functions[grain] =
        page_function_of(page, grain, (struct page_function){.name = text});
  page->small_frame = page_frame_of(page, &frame);
  page->has_small_frame = true;
  replace_nodes(c);
  for (size_t i = 0; i < page->set_count; i++)
    replace_stacks(c, &page->sets[i]);
}

// Keeps as many nodes as fit. Returns the size of the tables.
static size_t choose(struct cutter *c, size_t most) {
  size_t size;
  double load;
  // Only a part of the size is that of nodes, so that a few rounds are needed.
  for (unsigned round = 0;; round++) {
    size = size_with(c, &load);
    load = fmax(load, (double)size / (double)most);
    if (load <= 1 || c->kept == 1)
      return size;
    const double part = (round < 8 ? 0.98 : 0.5) / load;
    c->kept = 1 + (size_t)((double)(c->kept - 1) * part);
  }
}

// --- labels ---

struct labelled {
  double share;
  uint32_t set, stack;
};

static int by_share(const void *x, const void *y) {
  const struct labelled *a = x, *b = y;
  if (a->share != b->share)
    return a->share > b->share ? -1 : 1;
  if (a->set != b->set)
    return a->set < b->set ? -1 : 1;
  return (a->stack > b->stack) - (a->stack < b->stack);
}

// Adds the stacks of a set that have labels, with their largest shares.
static size_t add_labelled(const struct page *page, uint32_t number,
                           struct labelled **stacks, size_t *capacity,
                           size_t count) {
  const struct page_set *set = &page->sets[number];
  const unsigned types = set->profile->type_count;
  double *totals = zeroed(types, sizeof *totals);
  for (size_t i = 0; i < set->count * types; i++)
    totals[i % types] += (double)size_of(set->values[i]);
  for (size_t i = 0; i < set->count; i++) {
    if (page->label_sets[set->label_sets[i]].count == 0)
      continue;
    struct labelled l = {0, number, (uint32_t)i};
    for (unsigned k = 0; k < types; k++)
      l.share = fmax(l.share, (double)size_of(set->values[i * types + k]) /
                                  fmax(totals[k], 1));
    *APPEND(*stacks, count, *capacity) = l;
  }
  free(totals);
  return count;
}

// Chooses the stacks that lose their labels, so that the others with labels
// have `most` bytes: with a label for each request, each stack is as many as
// there were requests.
static void drop_labels(struct page *page, size_t most) {
  struct labelled *stacks = NULL;
  size_t count = 0, capacity = 0;
  for (uint32_t i = 0; i < page->set_count; i++)
    count = add_labelled(page, i, &stacks, &capacity, count);
  if (count)
    qsort(stacks, count, sizeof *stacks, by_share);
  struct sizes *s = sizes_new(page);
  for (size_t i = 0; i < count; i++) {
    struct page_set *set = &page->sets[stacks[i].set];
    const size_t stack = stacks[i].stack;
    if (encoded(s->stream_bytes) + s->text_bytes < most) {
      s->stream_bytes += stack_bytes(set, stack);
      add_labels(page, s, set->label_sets[stack]);
      continue;
    }
    if (!set->unlabelled)
      set->unlabelled = zeroed(set->count, 1);
    set->unlabelled[stack] = 1;
    set->unlabelled_count++;
  }
  sizes_sum(s);
  free(stacks);
  page->no_labels = (uint32_t)page->label_set_count;
  *APPEND(page->label_sets, page->label_set_count, page->label_set_capacity) =
      (struct page_labels){0};
}

size_t small_stacks_cut(struct page *page, size_t most) {
  struct cutter c = {.page = page, .kept = page->node_count};
  const size_t most_losses = most / 4;
  c.shares = zeroed(page->node_count, sizeof *c.shares);
  c.order = zeroed(page->node_count, sizeof *c.order);
  c.ranks = zeroed(page->node_count, sizeof *c.ranks);
  c.new = zeroed(page->node_count, sizeof *c.new);
  for (uint32_t n = 0; n < page->node_count; n++)
    c.order[n] = c.ranks[n] = n;
  double load;
  size_t size = size_with(&c, &load), losses = 0;
  if (load > 1 || size > most) {
    double *sums = zeroed(page->node_count, sizeof *sums);
    for (size_t i = 0; i < page->set_count; i++) {
      for (unsigned k = 0; k < page->sets[i].profile->type_count; k++)
        add_shares(&c, &page->sets[i], k, sums);
      prefer_library_stacks(&c, &page->sets[i]);
      losses += small_losses_bytes(page, page->sets[i].profile->type_count);
    }
    free(sums);
    rank_nodes(&c);
    losses = losses < most_losses ? losses : most_losses;
    drop_labels(page, most / 2);
    size = choose(&c, most - losses) + losses;
    // Only a page with profiles is too large.
    const size_t sets = page->set_count > 1 ? page->set_count : 1;
    cut(&c, most_losses / sets);
  }
  free(c.shares);
  free(c.order);
  free(c.ranks);
  free(c.new);
  return size;
}
