// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/log_names.h"

#include "common/memory.h"
#include "symbolize/wrappers.h"
#include "unwind/python.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct log_names log_names_new(const struct alloc_log *log) {
  struct log_names n = {.log = log, .profile = profile_new()};
  n.profile->drop_frames = profile_text(n.profile, MPROF_TYPE_SCOPE ".*");
  n.locations = zeroed(log->frame_count, sizeof *n.locations);
  n.mappings = zeroed(log->module_count, sizeof *n.mappings);
  return n;
}

void log_names_free(struct log_names *names) {
  profile_free(names->profile);
  free(names->locations);
  free(names->mappings);
  free(names->view_stacks);
  *names = (struct log_names){0};
}

static uint32_t mapping_of(struct log_names *n, uint32_t module) {
  if (!n->mappings[module]) {
    const struct log_module *m = &n->log->modules[module];
    const bool has_id = strcmp(m->build_id, "-") != 0;
    const struct mapping mapping = {
        .start = m->bias,
        .limit = m->limit,
        .file = profile_text(n->profile, m->path),
        .build_id = profile_text(n->profile, has_id ? m->build_id : "")};
    n->mappings[module] = profile_mapping(n->profile, &mapping) + 1;
  }
  return n->mappings[module] - 1;
}

// Adds the location of a line of Python code.
static uint32_t add_python(struct profile *p, const struct log_frame *f) {
  const size_t size = strlen(f->python) + 1;
  char *const text = memcpy(zeroed(size, 1), f->python, size);
  char *const file = strchr(text, ' '), *const line = strrchr(text, ':');
  struct line l = {0};
  const bool has_line = file && line && line > file;
  if (has_line) {
    *file = *line = '\0';
    const string_id name = profile_text(p, text);
    l.function = profile_function(
        p, &(struct function){name, name, profile_text(p, file + 1), 0});
    l.line = strtoll(line + 1, NULL, 10);
  }
  const struct mapping mapping = {.start = MPROF_PYTHON_BEGIN,
                                  .limit = MPROF_PYTHON_END,
                                  .file = profile_text(p, MPROF_PYTHON_MODULE),
                                  .has_functions = true};
  const struct location location = {.address = f->address,
                                    .mapping = profile_mapping(p, &mapping),
                                    .line_count = has_line};
  free(text);
  return profile_location(p, &location, &l);
}

void log_names_want(struct log_names *n, uint32_t stack) {
  const struct log_stack *s = &n->log->stacks[stack];
  for (size_t i = 0; i < s->count; i++) {
    const uint32_t frame = n->log->stack_frames[s->first + i];
    const struct log_frame *f = &n->log->frames[frame];
    if (n->locations[frame])
      continue;
    if (f->python)
      n->locations[frame] = add_python(n->profile, f) + 1;
    if (f->module == LOG_NO_MODULE)
      continue;
    const struct location location = {.address = f->address,
                                      .mapping = mapping_of(n, f->module)};
    n->locations[frame] = profile_location(n->profile, &location, NULL) + 1;
  }
}

static void set_own(const struct log_names *n, uint32_t frame,
                    struct log_name *name) {
  const struct log_frame *f = &n->log->frames[frame];
  name->function = name->own;
  name->file = "";
  name->line = 0;
  if (f->module == LOG_NO_MODULE) {
    snprintf(name->own, sizeof name->own, "0x%" PRIx64, f->address);
    return;
  }
  const struct log_module *m = &n->log->modules[f->module];
  snprintf(name->own, sizeof name->own, "%.400s+0x%" PRIx64, basename(m->path),
           f->address - m->bias);
}

bool log_names_part(const struct log_names *n, uint32_t frame, size_t part,
                    struct log_name *name) {
  const struct profile *p = n->profile;
  size_t found = 0;
  if (n->locations[frame]) {
    const struct location *l = &p->locations[n->locations[frame] - 1];
    for (uint32_t i = 0; i < l->line_count; i++) {
      const struct line *line = &p->lines[l->first_line + i];
      const struct function *f = &p->functions[line->function];
      if (!*p->strings[f->name] || mprof_is_type_scope(p->strings[f->name]) ||
          found++ != part)
        continue;
      name->function = p->strings[f->name];
      name->file = p->strings[f->file];
      name->line = line->line;
      return true;
    }
  }
  if (found > 0 || part > 0)
    return false;
  set_own(n, frame, name);
  return true;
}
