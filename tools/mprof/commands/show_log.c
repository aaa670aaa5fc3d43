// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/show_log.h"

#include "common/memory.h"
#include "sys/message.h"
#include "terminal/style.h"
#include "view/shown_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void show_count(FILE *out, uint64_t count, const char *what) {
  char number[32];
  struct mprof_text t = MPROF_TEXT(number);
  mprof_text_grouped(&t, count);
  fprintf(out, "%s %s%s", number, what, count == 1 ? "" : "s");
}

// Prints a stack as mprof traces does.
static void put_shown(FILE *out, const struct log_names *names, uint32_t stack,
                      const char *indent) {
  const uint32_t at = names->view_stacks[stack];
  if (at == 0)
    return;
  const struct view_stack *s = &names->view->stacks[at - 1];
  struct shown_frame *frames = zeroed(s->count, sizeof *frames);
  const uint32_t count = view_shown(names->view, s, names->keeps_std, frames);
  for (uint32_t i = 0; i < count; i++) {
    const struct frame_text text = frame_text(names->view, &frames[i]);
    fputs(indent, out);
    if (strcmp(text.text, "[truncated]") != 0)
      fprintf(out, "#%u ", i);
    style_put(out, text.text);
    fputc('\n', out);
  }
  free(frames);
}

// Prints a stack of the lists. An empty stack is an empty line.
static void put_stack(FILE *out, const struct log_names *names, uint32_t stack,
                      const char *indent) {
  const struct alloc_log *log = names->log;
  const struct log_stack *s = &log->stacks[stack];
  size_t number = 0;
  if (s->count == 0)
    fputc('\n', out);
  if (s->count != 0 && names->view) {
    put_shown(out, names, stack, indent);
    return;
  }
  for (size_t i = 0; i < s->count; i++) {
    const uint32_t frame = log->stack_frames[s->first + i];
    if (frame == LOG_TRUNCATED) {
      fprintf(out, "%s[truncated]\n", indent);
      continue;
    }
    struct log_name name;
    for (size_t part = 0; log_names_part(names, frame, part, &name); part++) {
      fprintf(out, "%s#%zu ", indent, number++);
      style_put(out, name.function);
      if (*name.file) {
        fputc(' ', out);
        style_put(out, name.file);
        fprintf(out, ":%" PRId64, name.line);
      }
      fputc('\n', out);
    }
  }
}

bool show_log_has(const struct log_names *names, uint32_t stack) {
  return !names->view || names->view_stacks[stack] != 0;
}

// Returns whether the headings count the stack.
static bool is_selected(const struct log_names *names, uint32_t stack) {
  return !names->selects || show_log_has(names, stack);
}

// Prints "1 block", or "1 block of 3" if not all are selected.
static void put_part(FILE *out, uint64_t part, uint64_t all, const char *what) {
  char number[32];
  struct mprof_text t = MPROF_TEXT(number);
  show_count(out, part, what);
  if (part == all)
    return;
  mprof_text_grouped(&t, all);
  fprintf(out, " of %s", number);
}

void show_live(FILE *out, const struct log_names *names,
               const struct log_pairs *pairs, const struct live_rows *rows) {
  uint64_t blocks = 0, bytes = 0, all_bytes = 0;
  for (size_t i = 0; i < pairs->live_count; i++) {
    const struct log_record *r = &names->log->records[pairs->live[i]];
    log_add_bytes(&all_bytes, r->size);
    if (!is_selected(names, r->stack))
      continue;
    log_add_bytes(&bytes, r->size);
    blocks++;
  }
  fputs("\nLive: ", out);
  put_part(out, blocks, pairs->live_count, "block");
  fputs(", ", out);
  put_part(out, bytes, all_bytes, "byte");
  fputc('\n', out);
  for (size_t i = 0; i < rows->count; i++) {
    const struct live_row *r = &rows->rows[i];
    fputs("\n  ", out);
    show_count(out, r->blocks, "block");
    fputs(", ", out);
    show_count(out, r->bytes, "byte");
    fprintf(out, ", the oldest block is %.6f s old: 0x%" PRIx64 "\n",
            pairs->end - r->oldest, r->oldest_address);
    put_stack(out, names, r->stack, "    ");
  }
}

void show_lifetimes(FILE *out, const struct log_names *names,
                    const struct log_pairs *pairs,
                    const struct lifetime_rows *rows) {
  uint64_t selected = 0;
  for (size_t i = 0; i < pairs->pair_count; i++)
    selected +=
        is_selected(names, names->log->records[pairs->pairs[i].alloc].stack);
  fputs("\nLifetimes: ", out);
  put_part(out, selected, pairs->pair_count, "pair");
  fputs(" of allocation and free\n", out);
  for (size_t i = 0; i < rows->count; i++) {
    const struct lifetime_row *r = &rows->rows[i];
    fputs("\n  ", out);
    show_count(out, r->pairs, "pair");
    fprintf(out, ": shortest %.6f s, median %.6f s, longest %.6f s\n",
            r->shortest, r->median, r->longest);
    put_stack(out, names, r->stack, "    ");
  }
}

static void put_event(FILE *out, const struct log_names *names,
                      const char *what, uint32_t record) {
  const struct log_record *r = &names->log->records[record];
  fprintf(out, "   %s by thread %" PRIu64 " at %.6f s\n", what,
          names->log->threads[r->thread], r->time);
  put_stack(out, names, r->stack, "    ");
}

static bool is_selected_twice(const struct log_names *names,
                              const struct log_double_free *d) {
  const struct log_record *records = names->log->records;
  return is_selected(names, records[d->alloc].stack) ||
         is_selected(names, records[d->free].stack) ||
         is_selected(names, records[d->again].stack);
}

void show_freed_twice(FILE *out, const struct log_names *names,
                      const struct log_pairs *pairs, size_t limit) {
  uint64_t selected = 0;
  for (size_t i = 0; i < pairs->freed_twice_count; i++)
    selected += is_selected_twice(names, &pairs->freed_twice[i]);
  fputs("\nFreed twice: ", out);
  put_part(out, selected, pairs->freed_twice_count, "block");
  fputc('\n', out);
  size_t shown = 0;
  for (size_t i = 0; i < pairs->freed_twice_count && shown < limit; i++) {
    const struct log_double_free *d = &pairs->freed_twice[i];
    if (!is_selected_twice(names, d))
      continue;
    shown++;
    const struct log_record *block = &names->log->records[d->alloc];
    fprintf(out, "\n  0x%" PRIx64 ", ", block->address);
    show_count(out, block->size, "byte");
    fputc('\n', out);
    put_event(out, names, "allocated", d->alloc);
    put_event(out, names, "freed", d->free);
    put_event(out, names, "freed again", d->again);
  }
}

// --- records ---

static void write_frame(FILE *out, const struct log_names *names,
                        uint32_t frame) {
  struct log_name name;
  if (frame == LOG_TRUNCATED) {
    fputs("[truncated]\n", out);
    return;
  }
  for (size_t part = 0; log_names_part(names, frame, part, &name); part++) {
    style_put(out, name.function);
    fputs("\n\t", out);
    if (*name.file) {
      style_put(out, name.file);
      fprintf(out, ":%" PRId64 "\n", name.line);
    } else {
      fprintf(out, "0x%" PRIx64 "\n", names->log->frames[frame].address);
    }
  }
}

// The texts of some frames. The frames of a log repeat, and to write a text
// again is much faster than to make it.
struct frame_texts {
  struct record_frame {
    uint32_t frame;
    char *text; // NULL: none yet
    size_t length;
  } *items;
  size_t count;
};

static struct frame_texts frame_texts_new(const struct alloc_log *log) {
  enum { MAX_TEXTS = 1 << 18 };
  const size_t count =
      log->frame_count < MAX_TEXTS ? log->frame_count : MAX_TEXTS;
  return (struct frame_texts){zeroed(count, sizeof(struct record_frame)),
                              count};
}

static void frame_texts_free(struct frame_texts *texts) {
  for (size_t i = 0; i < texts->count; i++)
    free(texts->items[i].text);
  free(texts->items);
}

static void put_frame(FILE *out, const struct log_names *names,
                      const struct frame_texts *texts, uint32_t frame) {
  struct record_frame *t = &texts->items[frame % texts->count];
  if (!t->text || t->frame != frame) {
    free(t->text);
    *t = (struct record_frame){.frame = frame};
    FILE *text = open_memstream(&t->text, &t->length);
    if (text) {
      write_frame(text, names, frame);
      fclose(text);
    }
  }
  if (t->text)
    fwrite(t->text, 1, t->length, out);
  else
    write_frame(out, names, frame);
}

static void put_call(FILE *out, const struct log_record *r) {
  static const char *const owners[LOG_OWNERS] = {
      [LOG_CUSTOM] = ", custom", [LOG_COLLECTOR] = ", gc"};
  if (r->kind == LOG_COLLECTION) {
    fputs("tracegc()\n", out);
    return;
  }
  fprintf(out, "trace%s(0x%" PRIx64, r->kind == LOG_ALLOC ? "alloc" : "free",
          r->address);
  if (r->has_size)
    fprintf(out, ", 0x%" PRIx64, r->size);
  if (owners[r->owner])
    fputs(owners[r->owner], out);
  fputs(")\n", out);
}

void show_records(FILE *out, const struct log_names *names) {
  const struct alloc_log *log = names->log;
  struct frame_texts texts = frame_texts_new(log);
  for (size_t i = 0; i < log->record_count; i++) {
    const struct log_record *r = &log->records[i];
    const struct log_stack *s = &log->stacks[r->stack];
    put_call(out, r);
    fprintf(out, "thread %" PRIu64 " [%.6f]:\n", log->threads[r->thread],
            r->time);
    for (size_t k = 0; k < s->count; k++)
      put_frame(out, names, &texts, log->stack_frames[s->first + k]);
    fputs(r->kind == LOG_COLLECTION ? "end tracegc\n\n" : "\n", out);
  }
  frame_texts_free(&texts);
}
