// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The field numbers of pprof's format profile.proto. The comment at each number
// is the type of the field. This file has only the fields that MProf writes.
// (Go: runtime/pprof/proto.go, tagProfile_...)

#ifndef MPROF_RT_WRITE_PROFILE_PROTO_H
#define MPROF_RT_WRITE_PROFILE_PROTO_H

// layout: message Profile
enum {
  PROFILE_SAMPLE_TYPE = 1,          // repeated ValueType
  PROFILE_SAMPLE = 2,               // repeated Sample
  PROFILE_MAPPING = 3,              // repeated Mapping
  PROFILE_LOCATION = 4,             // repeated Location
  PROFILE_FUNCTION = 5,             // repeated Function
  PROFILE_STRING_TABLE = 6,         // repeated string
  PROFILE_DROP_FRAMES = 7,          // int64 (string table index)
  PROFILE_TIME_NANOS = 9,           // int64
  PROFILE_DURATION_NANOS = 10,      // int64
  PROFILE_PERIOD_TYPE = 11,         // ValueType
  PROFILE_PERIOD = 12,              // int64
  PROFILE_COMMENT = 13,             // repeated int64 (string table index)
  PROFILE_DEFAULT_SAMPLE_TYPE = 14, // int64 (string table index)
};
// layout: message ValueType
enum {
  VALUE_TYPE_TYPE = 1, // int64 (string table index)
  VALUE_TYPE_UNIT = 2, // int64 (string table index)
};
// layout: message Sample
enum {
  SAMPLE_LOCATION = 1, // repeated uint64
  SAMPLE_VALUE = 2,    // repeated int64
  SAMPLE_LABEL = 3,    // repeated Label
};
// layout: message Label
enum {
  LABEL_KEY = 1,      // int64 (string table index)
  LABEL_STR = 2,      // int64 (string table index)
  LABEL_NUM = 3,      // int64
  LABEL_NUM_UNIT = 4, // int64 (string table index)
};
// layout: message Mapping
enum {
  MAPPING_ID = 1,                 // uint64
  MAPPING_START = 2,              // uint64
  MAPPING_LIMIT = 3,              // uint64
  MAPPING_OFFSET = 4,             // uint64
  MAPPING_FILENAME = 5,           // int64 (string table index)
  MAPPING_BUILD_ID = 6,           // int64 (string table index)
  MAPPING_HAS_FUNCTIONS = 7,      // bool
  MAPPING_HAS_FILENAMES = 8,      // bool
  MAPPING_HAS_LINE_NUMBERS = 9,   // bool
  MAPPING_HAS_INLINE_FRAMES = 10, // bool
};
// layout: message Location
enum {
  LOCATION_ID = 1,         // uint64
  LOCATION_MAPPING_ID = 2, // uint64
  LOCATION_ADDRESS = 3,    // uint64
  LOCATION_LINE = 4,       // repeated Line
};
// layout: message Line
enum {
  LINE_FUNCTION_ID = 1, // uint64
  LINE_LINE = 2,        // int64
};
// layout: message Function
enum {
  FUNCTION_ID = 1,          // uint64
  FUNCTION_NAME = 2,        // int64 (string table index)
  FUNCTION_SYSTEM_NAME = 3, // int64 (string table index)
  FUNCTION_FILENAME = 4,    // int64 (string table index)
  FUNCTION_START_LINE = 5,  // int64
};

#endif // MPROF_RT_WRITE_PROFILE_PROTO_H
