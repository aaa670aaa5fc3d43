// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A profile in memory: the model that all commands share. The model follows
// pprof's format profile.proto, with indices in place of ids.
//
// Each add function returns the index of an equal element if there is one. So a
// second file that is read into the same profile is added to the first: equal
// stacks become one sample, whose values are the sums. Only samples of
// different sampling periods stay apart.

#ifndef MPROF_TOOL_PROFILE_H
#define MPROF_TOOL_PROFILE_H

#include "common/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The index of a string in profile.strings. String 0 is "".
typedef uint32_t string_id;

// The string "heap_rate": the key of the label of samples whose period is not
// that of their file.
enum { HEAP_RATE = 1 };

enum { PROFILE_TYPES = 64, NO_MAPPING = UINT32_MAX };

// What a value of a sample measures, for example inuse_space in bytes.
struct value_type {
  string_id type, unit;
};

// A part of a file that was mapped as code.
struct mapping {
  uint64_t start, limit, offset;
  string_id file, build_id;
  // Whether a reader may believe that names are complete.
  bool has_functions, has_files, has_lines, has_inlined;
};

// The name of the frames of code that a process has made at run time (just in
// time), if their functions are unknown. The file of the mapping of such code
// is
// "[JIT PID]".
#define JIT_FRAME "[JIT]"

struct function {
  string_id name, system_name, file; // system_name: the name of the linker
  int64_t start_line;
};

// One function of a location, and the line in this function.
struct line {
  uint32_t function;
  int64_t line;
};

// A code address. Its lines begin with the innermost inlined function. A
// location without names has no lines.
struct location {
  uint64_t address;
  uint32_t mapping; // or NO_MAPPING
  uint32_t line_count;
  size_t first_line; // in profile.lines
};

// A label has a string or a number.
struct label {
  string_id key, str, unit;
  int64_t number;
};

struct sample {
  // A range of profile.stack_locations, leaf first.
  size_t first_location;
  // A range of profile.labels.
  size_t first_label;
  uint32_t location_count, label_count;
  // The sampling period of the sample: its label "heap_rate", which is not in
  // `labels`, or else the period of its file. The error of the values depends
  // on it, so samples with different periods are not added up.
  int64_t period;
};

struct profile {
  struct value_type types[PROFILE_TYPES];
  unsigned type_count;
  struct value_type period_type;
  int64_t period; // the largest of all files
  int64_t time_ns, duration_ns;
  string_id default_type, drop_frames, keep_frames;

  const char **strings; // each ends with a 0 byte
  struct mapping *mappings;
  struct function *functions;
  struct line *lines;
  struct location *locations;
  uint32_t *stack_locations;
  struct label *labels;
  struct sample *samples;
  int64_t *values; // type_count values for each sample
  string_id *comments;
  size_t string_count, mapping_count, function_count, line_count,
      location_count, stack_location_count, label_count, sample_count,
      value_count, comment_count;

  // Number of files that were read into this profile.
  unsigned file_count;
  // Number of those that are about another moment than the end, as a comment
  // "moment: ..." says. The profile of the peak is one.
  unsigned moment_count;
  // A file ended before its end, so some samples or names are missing.
  bool is_truncated;

  struct profile_capacity {
    size_t strings, mappings, functions, lines, locations, stack_locations,
        labels, samples, values, comments;
  } capacity;
  struct intern string_set, mapping_set, function_set, location_set, sample_set,
      comment_set;
  char **chunks; // memory of the strings
  char *chunk;   // the free part of the last chunk
  size_t chunk_left, chunk_count, chunk_capacity;
};

struct profile *profile_new(void);
// Returns whether the file of a mapping is "[JIT PID]".
bool profile_file_is_jit(const char *file);
void profile_free(struct profile *p);

string_id profile_string(struct profile *p, const char *bytes, size_t length);
string_id profile_text(struct profile *p, const char *text);
uint32_t profile_mapping(struct profile *p, const struct mapping *m);
uint32_t profile_function(struct profile *p, const struct function *f);
uint32_t profile_location(struct profile *p, const struct location *location,
                          const struct line *lines);
// Replaces the lines of a location, for a reader that has found its names.
void profile_set_lines(struct profile *p, uint32_t location,
                       const struct line *lines, uint32_t count);
// Adds a sample, or adds the values to those of the equal sample. labels must
// be sorted by key and string.
void profile_sample(struct profile *p, const uint32_t *locations,
                    uint32_t location_count, const struct label *labels,
                    uint32_t label_count, int64_t period,
                    const int64_t *values);
void profile_comment(struct profile *p, string_id comment);

// Returns whether the period is a number of bytes, as in heap profiles. Only
// samples of such profiles may have a period of their own.
bool profile_has_heap_period(const struct profile *p);
// Returns whether a sample has another period than the profile.
bool profile_has_other_periods(const struct profile *p);

// Returns the first label of the sample with this key, or NULL.
const struct label *profile_label(const struct profile *p,
                                  const struct sample *s, const char *key);
// Returns the index of the value type with this name, or -1.
int profile_find_type(const struct profile *p, const char *name);
// Returns the sum of the values of the type with this name, or 0.
uint64_t profile_sum(const struct profile *p, const char *type);
// Returns the value type that is shown if the user names none.
// (pprof: the default sample type, or else the last one)
unsigned profile_default_type(const struct profile *p);

#endif
