// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An allocation log in memory. Equal modules, frames and stacks are stored
// once. Its memory is at most a constant multiple of the log's size.

#ifndef MPROF_TOOL_ALLOC_LOG_H
#define MPROF_TOOL_ALLOC_LOG_H

#include "common/idmap.h"
#include "common/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Part of a file that was mapped as code. An address minus bias is the address
// in the file.
struct log_module {
  uint64_t start, limit, bias;
  const char *build_id; // hexadecimal digits, or "-"
  const char *path;
};

// Frame 0 of a log stands for the frames that a truncated stack lacks.
enum { LOG_TRUNCATED = 0, LOG_NO_MODULE = UINT32_MAX };
struct log_frame {
  uint64_t address;
  uint32_t module; // or LOG_NO_MODULE
  char *python;    // "FUNCTION FILE:LINE" of Python code; otherwise NULL
};

struct log_stack {
  size_t first, count; // in stack_frames, innermost frame first
};

enum log_kind { LOG_ALLOC, LOG_FREE, LOG_COLLECTION };
// The allocator of a block. Blocks of different allocators may have the same
// address at the same time.
enum log_owner { LOG_HEAP, LOG_CUSTOM, LOG_COLLECTOR, LOG_OWNERS };

struct log_record {
  uint64_t address, size;
  double time; // seconds since the begin of the log
  uint32_t thread, stack;
  uint8_t kind, owner;
  bool has_size; // a free has none if MProf did not count the block
};

struct alloc_log {
  struct log_module *modules;
  struct log_frame *frames;
  uint32_t *stack_frames;
  struct log_stack *stacks;
  uint64_t *threads; // their ids
  struct log_record *records;
  size_t module_count, frame_count, stack_frame_count, stack_count,
      thread_count, record_count;
  struct {
    size_t modules, frames, stack_frames, stacks, threads, records;
  } capacity;
  struct intern module_set, frame_set, stack_set;
  struct idmap thread_set;
};

struct alloc_log *alloc_log_new(void);
void alloc_log_free(struct alloc_log *log);

// Each of these functions returns the index of an equal element if there is
// one. alloc_log_module copies the texts.
uint32_t alloc_log_module(struct alloc_log *log, const struct log_module *m);
uint32_t alloc_log_frame(struct alloc_log *log, uint64_t address,
                         uint32_t module);
uint32_t alloc_log_stack(struct alloc_log *log, const uint32_t *frames,
                         size_t count);
uint32_t alloc_log_thread(struct alloc_log *log, uint64_t id);
// Adds a record, whose fields are uninitialized. Returns NULL if the log has
// too many records.
struct log_record *alloc_log_record(struct alloc_log *log);

#endif
