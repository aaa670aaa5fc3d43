// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All field numbers of pprof's format profile.proto that the tool reads or
// writes. (Go: runtime/pprof/proto.go, tagProfile_...)

#ifndef MPROF_TOOL_PROFILE_FIELDS_H
#define MPROF_TOOL_PROFILE_FIELDS_H

#include "model/profile.h"

#include <stddef.h>

enum {
  PROFILE_SAMPLE_TYPE = 1,
  PROFILE_SAMPLE,
  PROFILE_MAPPING,
  PROFILE_LOCATION,
  PROFILE_FUNCTION,
  PROFILE_STRING_TABLE,
  PROFILE_DROP_FRAMES,
  PROFILE_KEEP_FRAMES,
  PROFILE_TIME_NANOS,
  PROFILE_DURATION_NANOS,
  PROFILE_PERIOD_TYPE,
  PROFILE_PERIOD,
  PROFILE_COMMENT,
  PROFILE_DEFAULT_SAMPLE_TYPE,
};
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum {
  LOCATION_ID = 1,
  LOCATION_MAPPING_ID,
  LOCATION_ADDRESS,
  LOCATION_LINE,
};
enum { LINE_FUNCTION_ID = 1, LINE_LINE };

// The messages of which each field is a member of a struct.
enum field_kind { FIELD_END, FIELD_ID, FIELD_STRING, FIELD_NUMBER, FIELD_FLAG };
struct field {
  enum field_kind kind; // the last field has FIELD_END
  unsigned number;
  size_t offset; // of a string_id, an integer of 64 bits or a bool
};
#define FIELD(Kind, Number, Struct, Member)                                    \
  {FIELD_##Kind, Number, offsetof(struct Struct, Member)}

static const struct field value_type_fields[] = {
    FIELD(STRING, 1, value_type, type),
    FIELD(STRING, 2, value_type, unit),
    {0}};
static const struct field label_fields[] = {FIELD(STRING, 1, label, key),
                                            FIELD(STRING, 2, label, str),
                                            FIELD(NUMBER, 3, label, number),
                                            FIELD(STRING, 4, label, unit),
                                            {0}};
static const struct field mapping_fields[] = {
    {FIELD_ID, 1, 0},
    FIELD(NUMBER, 2, mapping, start),
    FIELD(NUMBER, 3, mapping, limit),
    FIELD(NUMBER, 4, mapping, offset),
    FIELD(STRING, 5, mapping, file),
    FIELD(STRING, 6, mapping, build_id),
    FIELD(FLAG, 7, mapping, has_functions),
    FIELD(FLAG, 8, mapping, has_files),
    FIELD(FLAG, 9, mapping, has_lines),
    FIELD(FLAG, 10, mapping, has_inlined),
    {0}};
static const struct field function_fields[] = {
    {FIELD_ID, 1, 0},
    FIELD(STRING, 2, function, name),
    FIELD(STRING, 3, function, system_name),
    FIELD(STRING, 4, function, file),
    FIELD(NUMBER, 5, function, start_line),
    {0}};

#endif
