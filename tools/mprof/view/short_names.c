// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "view/short_names.h"

#include "common/memory.h"
#include "symbolize/short_name.h"

#include <stdlib.h>
#include <string.h>

// The forms of a name. The names of the parts of a function, such as "f" and
// "f.cold", have the same `whole`, because they are the same function.
struct forms {
  string_id whole, with_arguments, plain;
  bool is_known;
};

// Values of short_names.owners. Other values: the `whole` of the only function
// that has the form.
enum { NOBODY = 0, SEVERAL = UINT32_MAX };

struct short_names {
  struct profile *texts; // only its strings are used
  struct forms *forms;   // of each text that is the name of a function
  string_id *owners;     // of each text that is a form
  size_t form_capacity, owner_capacity;
  char *buffer; // for one name
  size_t buffer_size;
};

static void claim(struct short_names *n, string_id form, string_id whole) {
  const size_t before = n->owner_capacity;
  n->owners = grow(n->owners, &n->owner_capacity, n->texts->string_count,
                   sizeof *n->owners);
  memset(n->owners + before, 0,
         (n->owner_capacity - before) * sizeof *n->owners);
  string_id *owner = &n->owners[form];
  if (*owner != whole)
    *owner = *owner == NOBODY ? whole : SEVERAL;
}

static bool is_hash(const char *s) {
  return strspn(s, "0123456789abcdef") == 16;
}

// Returns whether the linker's name of the function is a name of C++. Names of
// Rust in the legacy mangling begin in the same way, but end with a hash.
static bool is_cxx(const char *system_name) {
  const size_t length = strlen(system_name);
  return strncmp(system_name, "_Z", 2) == 0 &&
         !(length > 20 && memcmp(system_name + length - 20, "17h", 3) == 0 &&
           is_hash(system_name + length - 17));
}

// Returns the name as in the source text.
static string_id whole_name(struct short_names *n, const char *full) {
  const size_t length = mprof_name_length(full, strlen(full));
  const size_t plain = mprof_rust_name(n->buffer, full, length);
  return profile_string(n->texts, plain ? n->buffer : full,
                        plain ? plain : length);
}

static string_id form_of(struct short_names *n, string_id whole,
                         unsigned form) {
  struct mprof_text text = {.buf = n->buffer, .cap = n->buffer_size};
  mprof_short_name(&text, n->texts->strings[whole], form);
  return text.len ? profile_text(n->texts, n->buffer) : whole;
}

static void add(struct short_names *n, const char *full,
                const char *system_name) {
  const string_id id = profile_text(n->texts, full);
  const size_t before = n->form_capacity;
  n->forms = grow(n->forms, &n->form_capacity, n->texts->string_count,
                  sizeof *n->forms);
  memset(n->forms + before, 0, (n->form_capacity - before) * sizeof *n->forms);
  if (n->forms[id].is_known)
    return;
  n->buffer = grow(n->buffer, &n->buffer_size, strlen(full) + 1, 1);
  struct forms f = {.whole = whole_name(n, full), .is_known = true};
  const unsigned form = is_cxx(system_name) ? MPROF_NAME_IS_CXX : 0;
  f.plain = form_of(n, f.whole, form);
  f.with_arguments = form_of(n, f.whole, form | MPROF_NAME_KEEPS_ARGUMENTS);
  n->forms[id] = f;
  claim(n, f.plain, f.whole);
}

struct short_names *short_names_new(const struct profile *const *profiles,
                                    size_t count) {
  struct short_names *n = zeroed(1, sizeof *n);
  n->texts = profile_new();
  for (size_t k = 0; k < count; k++) {
    const struct profile *p = profiles[k];
    for (size_t i = 0; i < p->function_count; i++)
      add(n, p->strings[p->functions[i].name],
          p->strings[p->functions[i].system_name]);
  }
  for (size_t i = 0; i < n->form_capacity; i++) {
    const struct forms *f = &n->forms[i];
    if (f->is_known && n->owners[f->plain] != f->whole)
      claim(n, f->with_arguments, f->whole);
  }
  return n;
}

void short_names_free(struct short_names *n) {
  profile_free(n->texts);
  free(n->forms);
  free(n->owners);
  free(n->buffer);
  free(n);
}

const char *short_names_unique(struct short_names *n, const char *full) {
  const struct forms *f = &n->forms[profile_text(n->texts, full)];
  const string_id form = n->owners[f->plain] == f->whole ? f->plain
                         : n->owners[f->with_arguments] == f->whole
                             ? f->with_arguments
                             : f->whole;
  return n->texts->strings[form];
}

const char *short_names_plain(struct short_names *n, const char *full) {
  return n->texts->strings[n->forms[profile_text(n->texts, full)].plain];
}

const char *short_names_whole(struct short_names *n, const char *shown) {
  const string_id form = profile_text(n->texts, shown);
  const string_id owner =
      form < n->owner_capacity ? n->owners[form] : (string_id)NOBODY;
  return n->texts->strings[owner == NOBODY || owner == SEVERAL ? form : owner];
}
