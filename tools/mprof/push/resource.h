// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attributes that tell a collector which process a profile is from.

#ifndef MPROF_TOOL_RESOURCE_H
#define MPROF_TOOL_RESOURCE_H

#include "model/profile.h"
#include "view/view.h"

#include <stdint.h>

struct attribute {
  char *key, *value;
};

struct resource {
  struct attribute *attributes;
  size_t count, capacity;
};

// Makes the attributes of the process with the profile p. pid: 0 if unknown.
// given: words KEY=VALUE of the user, which replace attributes with the same
// key.
struct resource resource_of(const struct profile *p, long pid,
                            const struct text_list *given);
void resource_free(struct resource *r);
// Returns the value of an attribute, or NULL.
const char *resource_get(const struct resource *r, const char *key);

// --- random ids ---
//
// Makes identifiers by which a receiver recognises data that were sent twice.

enum { RANDOM_ID = 16, UUID_SIZE = 37 };

void random_id(uint8_t id[RANDOM_ID]);
// Stores a random UUID (version 4) as text.
void random_uuid(char text[UUID_SIZE]);

#endif
