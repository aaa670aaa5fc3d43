// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of the strings, stacks and streams of a trace. The tables hold only
// the generation of the trace that is being read.

#ifndef MPROF_TRACE_TABLE_H
#define MPROF_TRACE_TABLE_H

#include "text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream;
struct trace;
struct trace_event;
struct trace_frame;

// --- for all files of this directory

// Returns the string with this id. Returns an empty text if the id is 0 or not
// in the table.
struct trace_text trace_string(const struct trace *trace, uint64_t id);
// Sets *frames to the frames of a stack, leaf first, and returns the number of
// frames. Returns 0 if the id is not in the table.
size_t trace_stack(const struct trace *trace, uint64_t id,
                   const struct trace_frame **frames);

// --- for the files that read a trace and fill the tables

// Adds a string to the table. Returns false if the string breaks a rule.
bool add_string(struct trace *t, uint64_t id, const uint8_t *bytes,
                uint64_t length, uint64_t offset);
// Adds a stack to the table. body points to the number of frames. The pc,
// function, file and line of each frame follow this number. Returns false if
// the frames are too many or cannot be read.
bool add_stack(struct trace *t, uint64_t id, const uint8_t *body,
               const uint8_t *end, uint64_t offset);
// Reports a violation if the generation has no Frequency record. Then a tick is
// taken as a nanosecond, unless an earlier generation has a frequency.
void check_frequency(struct trace *t);
// Reports the first frame whose function or file is not in the string table.
void check_frames(struct trace *t);
// Report a violation if the id is not in the table. Id 0 means that there is no
// stack or string, and is valid.
void check_stack_id(struct trace *t, const struct trace_event *ev, uint64_t id);
void check_string_id(struct trace *t, const struct trace_event *ev,
                     uint64_t id);
void clear_tables(struct trace *t);
// Returns the stream with this id. Adds the stream to the table if the id is
// new.
struct stream *stream_of(struct trace *t, uint64_t id);

#endif
