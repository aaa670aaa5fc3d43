// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the head and the notes of the file that the option persist leaves
// behind if a process is killed (rt/sys/persistent.h). The file may be torn
// at any place or damaged: an address in it is used only if it lies in the
// file. The structs in it are those of the runtime.

#ifndef MPROF_TOOL_PERSIST_FILE_H
#define MPROF_TOOL_PERSIST_FILE_H

#include "files/bytes.h"
#include "model/profile.h"
#include "sys/persistent.h"

#include <stdbool.h>

// A note of the file. data is NULL if there is none.
struct persist_note {
  uint64_t key;
  const uint8_t *data;
  size_t length;
};

struct persist_notes {
  struct persist_note *v;
  size_t count, capacity;
};

struct persist_module {
  struct mprof_persist_module note;
  uint64_t shown; // the start in profiles
};

struct persist_file {
  const struct bytes *bytes;
  struct mprof_persist_head head;
  bool is_damaged;                 // some data could not be read
  bool is_in_use;                  // the process still runs; set by the caller
  bool has_exited;                 // it was not killed; set by the caller
  struct persist_note *label_sets; // by number; NULL: there are none
  // Lines of Python code, by mprof_python_index. NULL: there are none. The data
  // begin with line and start_line.
  struct persist_note *python;
  struct persist_notes locks, names, hooks;
  struct persist_module *modules;
  size_t module_count, module_capacity;
};

enum { PERSIST_LABEL_SETS = UINT16_MAX + 1 };

// Returns whether the data are such a file, perhaps of another version.
bool persist_is(const struct bytes *bytes);
// Returns NULL or a message. Call persist_close in both cases. The bytes must
// stay as they are until then.
const char *persist_open(struct persist_file *f, const struct bytes *bytes);
void persist_close(struct persist_file *f);

// Returns the `length` bytes at an address of the process, or NULL if the file
// does not have them. They may have no alignment.
const uint8_t *persist_at(struct persist_file *f, uint64_t address,
                          size_t length);
// Copies the object at an address. Returns false if the file does not have it.
bool persist_copy(struct persist_file *f, uint64_t address, void *to,
                  size_t length);
// Returns the address of the object with this handle (rt/sys/persistent.h).
uint64_t persist_object(const struct persist_file *f, uint32_t handle);
// Returns the longest possible length of a list, so that a damaged list that
// leads back to itself ends.
size_t persist_longest_list(const struct persist_file *f);

// Returns the newest note with this key, or NULL.
const struct persist_note *persist_find_note(const struct persist_notes *notes,
                                             uint64_t key);
// Returns the label after the text at p, which ends before `end`, or NULL if
// there is none. *key and *value receive its texts.
const uint8_t *persist_next_label(const uint8_t *p, const uint8_t *end,
                                  const char **key, const char **value);

// Returns the module with the code at an address as profiles show it, or NULL.
const struct persist_module *persist_find_module(const struct persist_file *f,
                                                 uint64_t address);
// Returns the address at which profiles show the return address pc of a bucket;
// see mprof_maps_shown. gone: the field of the bucket.
uint64_t persist_shown(const struct persist_file *f, uint64_t pc,
                       uint32_t gone);
// Adds the mapping of a module to a profile.
uint32_t persist_mapping(struct profile *p, const struct persist_module *m);
// Adds a location, with its mapping, to a profile.
uint32_t persist_location(const struct persist_file *f, struct profile *p,
                          uint64_t address);

#endif
