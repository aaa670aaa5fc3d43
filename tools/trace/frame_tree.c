// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frame_tree.h"

#include "common/memory.h"
#include "common/siphash.h"
#include "event.h"
#include "json.h"
#include "table.h"
#include "trace_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Many frames may refer to one long string, so that the texts of a damaged file
// would be much larger than the file. From this total size on, frames are shown
// as addresses.
static uint64_t max_text_bytes(const struct trace *trace) {
  return ((uint64_t)16 << 20) + (uint64_t)trace->size * 64;
}

// Returns the text of the frame, escaped for use between the quotes of a JSON
// string. The caller frees the text.
static char *frame_text(const struct frame_tree *tree,
                        const struct trace *trace,
                        const struct trace_frame *frame) {
  const bool is_shown = tree->text_bytes < max_text_bytes(trace);
  struct trace_text function = trace_string(trace, frame->function);
  struct trace_text file = trace_string(trace, frame->file);
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    return NULL;
  if (function.length && is_shown)
    (tree->put_name ? tree->put_name : json_escape)(out, function);
  else
    fprintf(out, "0x%" PRIx64, frame->pc);
  if (file.length && is_shown) {
    fputc(' ', out);
    json_escape(out, file);
    fprintf(out, ":%" PRIu64, frame->line);
  }
  fclose(out);
  return text;
}

// Returns the number of the node with this parent and text. Adds the node if it
// is new. Takes the ownership of `text`.
static uint32_t node_of(struct frame_tree *tree, uint32_t parent, char *text) {
  size_t index;
  uint64_t key = siphash(parent, text, strlen(text));
  for (; idmap_find(&tree->by_content, key, &index); key++) {
    const struct frame_node *node = &tree->nodes[index];
    if (node->parent == parent && strcmp(node->text, text) == 0) {
      free(text);
      return (uint32_t)index + 1;
    }
  }
  idmap_add(&tree->by_content, key, tree->count);
  tree->text_bytes += strlen(text);
  *APPEND(tree->nodes, tree->count, tree->capacity) =
      (struct frame_node){parent, text};
  return (uint32_t)tree->count;
}

static uint32_t add_frames(struct frame_tree *tree, const struct trace *trace,
                           const struct trace_frame *frames, size_t count,
                           unsigned max_frames) {
  size_t shown = count < max_frames ? count : max_frames;
  uint32_t number = 0;
  char *text = NULL;
  if (shown && shown < count && asprintf(&text, "%zu more", count - shown) > 0)
    number = node_of(tree, 0, text);
  for (size_t i = shown; i-- > 0;)
    if ((text = frame_text(tree, trace, &frames[i])))
      number = node_of(tree, number, text);
  return number;
}

uint32_t frame_tree_add(struct frame_tree *tree, const struct trace *trace,
                        uint64_t stack, unsigned max_frames) {
  const struct trace_frame *frames;
  size_t number, count = trace_stack(trace, stack, &frames);
  if (!count)
    return 0;
  if (tree->generation != trace->generation)
    idmap_clear(&tree->by_stack);
  tree->generation = trace->generation;
  if (!idmap_find(&tree->by_stack, stack, &number)) {
    number = add_frames(tree, trace, frames, count, max_frames);
    idmap_add(&tree->by_stack, stack, number);
  }
  return (uint32_t)number;
}

void frame_tree_put_text(FILE *out, const struct frame_tree *tree,
                         uint32_t number) {
  for (const char *before = ""; number; before = "\\n") {
    const struct frame_node *node = &tree->nodes[number - 1];
    fprintf(out, "%s%s", before, node->text);
    number = node->parent;
  }
}

void frame_tree_put(FILE *out, const struct frame_tree *tree) {
  fputc('{', out);
  for (size_t i = 0; i < tree->count; i++) {
    const struct frame_node *node = &tree->nodes[i];
    fprintf(out, "%s\n\"%zu\":{\"name\":\"%s\"", i ? "," : "", i + 1,
            node->text);
    if (node->parent)
      fprintf(out, ",\"parent\":%" PRIu32, node->parent);
    fputc('}', out);
  }
  fputc('}', out);
}

void frame_tree_clear(struct frame_tree *tree) {
  for (size_t i = 0; i < tree->count; i++)
    free(tree->nodes[i].text);
  free(tree->nodes);
  idmap_clear(&tree->by_content);
  idmap_clear(&tree->by_stack);
  *tree = (struct frame_tree){0};
}
