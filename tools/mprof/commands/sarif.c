// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/sarif.h"

#include "commands/input.h"
#include "commands/option_table.h"
#include "common/hash_bytes.h"
#include "common/memory.h"
#include "files/json.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
  const char *id, *level, *title, *help;
} rules[SARIF_RULES] = {
    [SARIF_LEAK] = {"leak", "warning", "Memory was not freed",
                    "The blocks that this code allocated were still in use "
                    "when the profile was written. Free them, or keep the "
                    "pointer on purpose and suppress the result by a line "
                    "leak:FUNCTION in the file of --suppressions."},
    [SARIF_GROWTH] = {"memory-growth", "warning", "Memory grows",
                      "Between two profiles of a process, the memory of this "
                      "code grew by more than noise explains. Check whether "
                      "its blocks are freed, and whether its containers are "
                      "bounded."},
    [SARIF_LOCK_ORDER] = {"lock-order", "warning",
                          "Locks are taken in different orders",
                          "Threads that take these locks at the same time can "
                          "wait for each other for ever. Take the locks in one "
                          "order everywhere, or take them together, as "
                          "std::scoped_lock does."},
    [SARIF_STUCK] = {"stuck-thread", "error", "A thread can never continue",
                     "The thread waits for something that no other thread can "
                     "reach any more, or in a deadlock. mprof stuck shows who "
                     "holds the lock."},
};

// The file that is written.
struct sarif {
  FILE *out;
  const struct view *view;
  // The directory of the sources: without symbolic links, and as it was given,
  // or NULL.
  char *roots[2];
};

// --- the directory of the sources ---

// Returns the working directory as the shell names it, which compilers write
// into debug information, or ".".
static const char *working_directory(void) {
  const char *name = getenv("PWD");
  struct stat a, b;
  return name && *name == '/' && stat(name, &a) == 0 && stat(".", &b) == 0 &&
                 a.st_dev == b.st_dev && a.st_ino == b.st_ino
             ? name
             : ".";
}

static void find_roots(struct sarif *s, const char *given) {
  const char *here = working_directory();
  s->roots[0] = realpath(given ? given : ".", NULL);
  if (given && *given == '/')
    s->roots[1] = text_of("%s", given);
  else if (*here == '/')
    s->roots[1] = text_of("%s%s%s", here, given ? "/" : "", given ? given : "");
  for (char *end = s->roots[1] ? strchr(s->roots[1], 0) : NULL;
       end && end > s->roots[1] + 1 && end[-1] == '/'; end--)
    end[-1] = '\0';
}

// Returns the path below the directory of the sources, or NULL if the file is
// not there.
static const char *below_root(const struct sarif *s, const char *path) {
  while (strncmp(path, "./", 2) == 0)
    path += 2;
  if (*path != '/')
    return *path && *path != '[' && strncmp(path, "../", 3) != 0 ? path : NULL;
  for (int i = 0; i < 2; i++) {
    const char *root = s->roots[i];
    const size_t length = root && root[1] ? strlen(root) : 0;
    if (root && strncmp(path, root, length) == 0 && path[length] == '/')
      return path + length + 1;
  }
  return NULL;
}

static const char *file_of(const struct sarif *s, const struct shown_frame *f) {
  return s->view->profile->strings[f->place.file];
}

// Returns the first frame of the user's code: one with a line below the
// directory of the sources, or else one with any line. Returns NULL if no frame
// has a line.
static const struct shown_frame *primary_of(const struct sarif *s,
                                            const struct sarif_result *r) {
  const struct sarif_stack *stack = &r->stacks[r->primary];
  const struct shown_frame *other = NULL;
  for (uint32_t i = 0; i < stack->count; i++) {
    const struct shown_frame *f = &stack->frames[i];
    if (f->place.line <= 0 || !*file_of(s, f) ||
        s->view->frames[f->frame].is_std)
      continue;
    if (below_root(s, file_of(s, f)))
      return f;
    if (!other)
      other = f;
  }
  return other;
}

// --- fingerprints ---

struct fingerprint {
  uint64_t hash;
  size_t result;
  unsigned number; // 1: the first result with this hash
};

// Adds the text with its end.
static uint64_t add_hash(uint64_t hash, const char *text) {
  return hash_bytes(hash, text, strlen(text) + 1);
}

// Returns the hash of the functions and the files of the user's code. Calls of
// a function by itself count once, because their number depends on the data.
static uint64_t hash_of(const struct sarif *s, const struct sarif_result *r) {
  const uint64_t begin = add_hash(HASH_BEGIN, rules[r->rule].id);
  uint64_t sum = 0;
  for (size_t k = 0; k < r->stack_count; k++) {
    const struct sarif_stack *stack = &r->stacks[k];
    string_id last = 0;
    uint64_t hash = begin;
    for (uint32_t i = 0; i < stack->count; i++) {
      const struct shown_frame *f = &stack->frames[i];
      const string_id name = s->view->frames[f->frame].plain;
      const char *path = below_root(s, file_of(s, f));
      if (name != last)
        hash = add_hash(add_hash(hash, s->view->profile->strings[name]),
                        path ? path : "");
      last = name;
    }
    sum += hash; // the steps of a cycle may begin with any of its locks
  }
  return sum;
}

static const struct sarif_results *sorted_results;

// By the hash, then by the lines, so that results with equal hashes keep their
// order when all of their lines move.
static int by_hash(const void *x, const void *y) {
  const struct fingerprint *a = x, *b = y;
  if (a->hash != b->hash)
    return a->hash < b->hash ? -1 : 1;
  const struct sarif_result *p = &sorted_results->items[a->result],
                            *q = &sorted_results->items[b->result];
  for (size_t k = 0; k < p->stack_count && k < q->stack_count; k++)
    for (uint32_t i = 0; i < p->stacks[k].count && i < q->stacks[k].count;
         i++) {
      const int64_t m = p->stacks[k].frames[i].place.line,
                    n = q->stacks[k].frames[i].place.line;
      if (m != n)
        return m < n ? -1 : 1;
    }
  return (a->result > b->result) - (a->result < b->result);
}

static int by_result(const void *x, const void *y) {
  const struct fingerprint *a = x, *b = y;
  return (a->result > b->result) - (a->result < b->result);
}

// Returns the fingerprint of each result. The caller frees the array.
static struct fingerprint *fingerprints_of(const struct sarif *s,
                                           const struct sarif_results *all) {
  struct fingerprint *f = zeroed(all->count + 1, sizeof *f);
  for (size_t i = 0; i < all->count; i++)
    f[i] = (struct fingerprint){hash_of(s, &all->items[i]), i, 1};
  sorted_results = all;
  qsort(f, all->count, sizeof *f, by_hash);
  for (size_t i = 1; i < all->count; i++)
    if (f[i].hash == f[i - 1].hash)
      f[i].number = f[i - 1].number + 1;
  qsort(f, all->count, sizeof *f, by_result);
  return f;
}

// --- parts of the file ---

// Writes a message. Braces stand for arguments there, and are doubled; a
// bracket before a parenthesis would begin a link (SARIF 3.11.5, 3.11.6).
static void put_message(FILE *out, const char *text) {
  char *escaped = zeroed(2 * strlen(text) + 1, 1), *to = escaped;
  for (; *text; text++) {
    *to++ = *text;
    if (*text == '{' || *text == '}')
      *to++ = *text;
    if (*text == ']' && text[1] == '(')
      *to++ = ' ';
  }
  fputs("{\"text\": ", out);
  json_string(out, escaped);
  fputs("}", out);
  free(escaped);
}

// Writes the path as a URI reference.
static void put_uri(FILE *out, const char *scheme, const char *path,
                    const char *end) {
  fprintf(out, "\"%s", scheme);
  for (; *path; path++)
    if (isascii(*path) && (isalnum(*path) || strchr("/-._~+", *path)))
      fputc(*path, out);
    else
      fprintf(out, "%%%02X", (unsigned char)*path);
  fprintf(out, "%s\"", end);
}

static void put_physical(const struct sarif *s, const char *path,
                         int64_t line) {
  const char *below = below_root(s, path);
  fputs("\"physicalLocation\": {\"artifactLocation\": {\"uri\": ", s->out);
  put_uri(s->out, !below && *path == '/' ? "file://" : "", below ? below : path,
          "");
  if (below)
    fputs(", \"uriBaseId\": \"%SRCROOT%\"", s->out);
  fputs("}", s->out);
  if (line > 0)
    fprintf(s->out, ", \"region\": {\"startLine\": %" PRId64 "}", line);
  fputs("}", s->out);
}

// Returns "FUNCTION" or "FUNCTION via LIBRARY FUNCTION". The caller frees it.
static char *name_of(const struct sarif *s, const struct shown_frame *f) {
  const char **strings = s->view->profile->strings;
  const struct frame *frames = s->view->frames;
  return f->via == NO_FRAME
             ? text_of("%s", strings[frames[f->frame].name])
             : text_of("%s via %s", strings[frames[f->frame].name],
                       strings[frames[f->via].name]);
}

// Writes a location: the line if it is known, the function, and a message.
static void put_location(const struct sarif *s, const struct shown_frame *f,
                         const char *message) {
  const char *path = file_of(s, f);
  fputs("{", s->out);
  if (*path && *path != '[') {
    put_physical(s, path, f->place.line);
    fputs(", ", s->out);
  }
  fputs("\"logicalLocations\": [{\"fullyQualifiedName\": ", s->out);
  json_string(s->out,
              s->view->profile->strings[s->view->frames[f->frame].name]);
  fputs(", \"kind\": \"function\"}]", s->out);
  if (message) {
    fputs(", \"message\": ", s->out);
    put_message(s->out, message);
  }
  fputs("}", s->out);
}

// Writes a location for a result without lines: the program.
static void put_program(const struct sarif *s) {
  const struct profile *p = s->view->profile;
  const char *path =
      p->mapping_count ? p->strings[p->mappings[0].file] : "unknown";
  fputs("{", s->out);
  put_physical(s, *path ? path : "unknown", 0);
  fputs("}", s->out);
}

static void put_stacks(const struct sarif *s, const struct sarif_result *r) {
  fputs(",\n   \"stacks\": [", s->out);
  for (size_t k = 0; k < r->stack_count; k++) {
    const struct sarif_stack *stack = &r->stacks[k];
    fputs(k ? ",\n    {" : "\n    {", s->out);
    if (stack->message) {
      fputs("\"message\": ", s->out);
      put_message(s->out, stack->message);
      fputs(", ", s->out);
    }
    fputs("\"frames\": [", s->out);
    for (uint32_t i = 0; i < stack->count; i++) {
      const struct shown_frame *f = &stack->frames[i];
      const char *module =
          s->view->profile->strings[s->view->frames[f->frame].module];
      char *name = name_of(s, f);
      fputs(i ? ",\n     {\"location\": " : "\n     {\"location\": ", s->out);
      put_location(s, f, name);
      if (*module) {
        fputs(", \"module\": ", s->out);
        json_string(s->out, module);
      }
      fputs("}", s->out);
      free(name);
    }
    fputs("]}", s->out);
  }
  fputs("]", s->out);
}

// Writes the calls of each thread, from the outermost to the innermost.
static void put_flows(const struct sarif *s, const struct sarif_result *r) {
  const char *comma = "";
  bool is_open = false;
  fputs(",\n   \"codeFlows\": [{\"threadFlows\": [", s->out);
  for (size_t k = 0; k < r->stack_count; k++) {
    const struct sarif_stack *stack = &r->stacks[k];
    if (!stack->count)
      continue;
    if (!stack->continues || !is_open) {
      fprintf(s->out, "%s\n    {\"locations\": [", is_open ? "]}," : "");
      comma = "";
      is_open = true;
    }
    for (uint32_t i = stack->count; i-- > 0;) {
      const struct shown_frame *f = &stack->frames[i];
      char *name = name_of(s, f);
      char *text = i == 0 && stack->message
                       ? text_of("%s %s", name, stack->message)
                       : text_of("%s", name);
      fprintf(s->out, "%s\n     {\"location\": ", comma);
      put_location(s, f, text);
      fputs("}", s->out);
      comma = ",";
      free(text);
      free(name);
    }
  }
  fprintf(s->out, "%s]}]", is_open ? "]}" : "");
}

static bool has_frames(const struct sarif_result *r) {
  for (size_t k = 0; k < r->stack_count; k++)
    if (r->stacks[k].count)
      return true;
  return false;
}

static void put_result(const struct sarif *s, const struct sarif_result *r,
                       const struct fingerprint *f) {
  const struct shown_frame *primary = primary_of(s, r);
  char *name = primary ? name_of(s, primary) : NULL;
  char *text = name && r->rule != SARIF_LOCK_ORDER
                   ? text_of("%s in %s", r->message, name)
                   : text_of("%s", r->message);
  fprintf(s->out,
          "{\"ruleId\": \"%s\", \"ruleIndex\": %d, \"level\": \"%s\",\n"
          "   \"message\": ",
          rules[r->rule].id, (int)r->rule, rules[r->rule].level);
  put_message(s->out, text);
  fputs(",\n   \"locations\": [", s->out);
  if (primary)
    put_location(s, primary, NULL);
  else
    put_program(s);
  fputs("]", s->out);
  // Code hosts know only primaryLocationLineHash.
  fprintf(s->out,
          ",\n   \"partialFingerprints\": {\"functions/v1\": \"%016" PRIx64
          ":%u\", \"primaryLocationLineHash\": \"%016" PRIx64 ":%u\"}",
          f->hash, f->number, f->hash, f->number);
  if (has_frames(r)) {
    put_stacks(s, r);
    put_flows(s, r);
  }
  fputs(",\n   \"properties\": {", s->out);
  json_string(s->out, s->view->type_name);
  fprintf(s->out, ": %.0f}}", r->value);
  free(text);
  free(name);
}

static void put_rules(FILE *out) {
  for (int i = 0; i < SARIF_RULES; i++) {
    fprintf(out,
            "%s\n   {\"id\": \"%s\", \"shortDescription\": {\"text\": \"%s\"},"
            "\n    \"fullDescription\": ",
            i ? "," : "", rules[i].id, rules[i].title);
    put_message(out, rules[i].help);
    fputs(",\n    \"help\": ", out);
    put_message(out, rules[i].help);
    fprintf(out, ",\n    \"defaultConfiguration\": {\"level\": \"%s\"}}",
            rules[i].level);
  }
}

// Writes what the profile lacks as notifications.
static void put_losses(FILE *out, const struct view *v) {
  char *lost = input_losses(v);
  const char *comma = "";
  for (char *rest = lost, *line; (line = strsep(&rest, "\n"));)
    if (*line) {
      fprintf(out, "%s\n   {\"level\": \"warning\", \"message\": ", comma);
      put_message(out, line);
      fputs("}", out);
      comma = ",";
    }
  free(lost);
}

// Writes the name of the analysis: results of another one stay when the file is
// uploaded.
static void put_name(const struct sarif *s, const struct options *o) {
  const struct profile *p = s->view->profile;
  const char *path = p->mapping_count ? p->strings[p->mappings[0].file] : "";
  char *name =
      text_of("mprof/%s/%s/", command_rows[o->command].name, basename(path));
  fputs("  \"automationDetails\": {\"id\": ", s->out);
  json_string(s->out, name);
  fputs("},\n", s->out);
  free(name);
}

void sarif_add_stack(struct sarif_result *r, struct sarif_stack stack) {
  *APPEND(r->stacks, r->stack_count, r->stack_capacity) = stack;
}

void sarif_print(FILE *out, const struct options *o, const struct view *v,
                 const struct sarif_results *results) {
  struct sarif s = {.out = out, .view = v};
  find_roots(&s, o->source_root);
  const char *root = s.roots[0] ? s.roots[0] : s.roots[1];
  struct fingerprint *f = fingerprints_of(&s, results);
  fputs("{\"$schema\": \"https://docs.oasis-open.org/sarif/sarif/v2.1.0/"
        "errata01/os/schemas/sarif-schema-2.1.0.json\",\n"
        " \"version\": \"2.1.0\",\n \"runs\": [{\n"
        "  \"tool\": {\"driver\": {\"name\": \"MProf\", \"version\": "
        "\"" MPROF_VERSION "\", \"rules\": [",
        out);
  put_rules(out);
  fputs("]}},\n", out);
  put_name(&s, o);
  if (root) {
    fputs("  \"originalUriBaseIds\": {\"%SRCROOT%\": {\"uri\": ", out);
    put_uri(out, "file://", root, root[1] ? "/" : "");
    fputs("}},\n", out);
  }
  fputs("  \"invocations\": [{\"executionSuccessful\": true, "
        "\"toolExecutionNotifications\": [",
        out);
  put_losses(out, v);
  fputs("]}],\n  \"results\": [", out);
  for (size_t i = 0; i < results->count; i++) {
    fputs(i ? ",\n  " : "\n  ", out);
    put_result(&s, &results->items[i], &f[i]);
  }
  fputs("]}]}\n", out);
  free(f);
  free(s.roots[0]);
  free(s.roots[1]);
}

void sarif_free_result(struct sarif_result *r) {
  for (size_t k = 0; k < r->stack_count; k++)
    free(r->stacks[k].message);
  free(r->stacks);
  free(r->message);
}

void sarif_free(struct sarif_results *results) {
  for (size_t i = 0; i < results->count; i++)
    sarif_free_result(&results->items[i]);
  free(results->items);
}
