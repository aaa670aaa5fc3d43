// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between the files that write a trace. trace_records.c reads the records of a
// row and hands them to the format, which makes events of them:
//
//   write_trace_v1.c    1.11, and the events of 1.5 too
//   write_trace_v1_5.c  1.5: one order of all events
//   write_trace_v2.c    1.23
//
// write_trace.c has what they share: numbers of strings and stacks, the file.

#ifndef MPROF_RT_TRACE_FORMAT_H
#define MPROF_RT_TRACE_FORMAT_H

#include "pctable.h"
#include "write_trace.h"

// --- trace_records.c ---

struct mprof_trace_record {
  enum mprof_trace_type type;
  uint64_t ticks; // since the row's last record
  // Its numbers, in the order of enum mprof_trace_type's comments; of WAKE
  // after the stack who signed, 0 for nobody, its sequence number, and how many
  // of those 1.23 does not count.
  uint64_t n[4];
  const unsigned char *text; // of LOG
};
// Reads one; returns where the next begins.
const unsigned char *mprof_trace_read_record(const unsigned char *p,
                                             struct mprof_trace_record *r);
// What it does to the row's thread.
void mprof_trace_follow(struct mprof_trace_thread *t,
                        const struct mprof_trace_record *r);
// Writes its events, into the batch that is under way.
void mprof_trace_write_record(struct mprof_trace_writer *w,
                              struct mprof_trace_written *to,
                              const struct mprof_trace_record *r);

// How a format writes the records of a type.
struct mprof_trace_form {
  unsigned event;   // the format's number of the event; 0: none
  const char *text; // string that is the first argument; NULL: none
  unsigned then;    // an event without arguments that follows; 0: none
  // Writes all events of a record; NULL: event and then say them.
  void (*put)(struct mprof_trace_writer *w, struct mprof_trace_written *to,
              uint64_t ticks, const struct mprof_trace_record *r);
};
// By the type of the record.
struct mprof_trace_forms {
  struct mprof_trace_form of[MPROF_TRACE_LABELS + 1];
};
// Writes a record's events by its form. Unless the form has a function of its
// own, each of the record's numbers is an argument of the event. False: the
// format has no event for the record.
bool mprof_trace_put_events(struct mprof_trace_writer *w,
                            struct mprof_trace_written *to, uint64_t ticks,
                            const struct mprof_trace_record *r,
                            const struct mprof_trace_forms *forms);

// --- a format ---

struct mprof_trace_format {
  const char *name;   // as the option has it
  const char *header; // the file's first 16 bytes
  bool streams;       // batches can be written before all rows are there
  bool has_names;     // of functions, in stacks
  uint16_t string_max;
  size_t state_bytes; // of the writer's state, which begins as zeros
  // What follows is of a row, from a time on; and ends.
  void (*begin_batch)(struct mprof_trace_writer *w,
                      const struct mprof_trace_written *to, uint32_t row,
                      uint64_t ticks);
  void (*end_batch)(struct mprof_trace_writer *w);
  // Writes a record's events, the first so many ticks after the last; to is
  // what was before the record. False: there are none.
  bool (*record)(struct mprof_trace_writer *w, struct mprof_trace_written *to,
                 uint64_t ticks, const struct mprof_trace_record *r);
  // Writes an event of the format's numbers. Its first argument is the ticks
  // since the last one.
  void (*event)(struct mprof_trace_writer *w, unsigned type,
                const uint64_t *args, size_t n);
  // A string that has got a number.
  void (*string)(struct mprof_trace_writer *w, uint64_t number, const char *s,
                 size_t len);
  // After the last batch; then the stack that a handle names.
  void (*begin_stacks)(struct mprof_trace_writer *w, uint64_t last_ticks);
  void (*stack)(struct mprof_trace_writer *w, uint64_t number, uint32_t handle);
  // The file's end, after the stacks.
  void (*finish)(struct mprof_trace_writer *w, uint64_t last_ticks);
  void (*free_state)(void *state); // NULL: it has nothing of its own
};
extern const struct mprof_trace_format mprof_trace_format_1_11,
    mprof_trace_format_1_23, mprof_trace_format_1_5;

// --- write_trace.c ---

// A list that grows, in memory from mprof_os_map.
struct mprof_trace_list {
  void *v;
  size_t len, bytes;
};

struct mprof_trace_writer {
  struct mprof_trace_sink sink;
  const struct mprof_trace_format *format;
  void *state; // the format's
  unsigned processors;
  uint64_t events;
  struct mprof_pc_table stacks;    // of handles, to numbers
  struct mprof_trace_list handles; // in the order of numbers
  struct mprof_pc_table strings;   // of hashes, to numbers
  uint64_t strings_len;
  // Of addresses, to 1 + the first frame << 8 | count.
  struct mprof_pc_table pcs;
  struct mprof_trace_list frames;
  size_t frames_of_pc;
  int error;
};

#define EVENT(w, type, ...)                                                    \
  (w)->format->event(w, type, (const uint64_t[]){__VA_ARGS__},                 \
                     sizeof((const uint64_t[]){__VA_ARGS__}) /                 \
                         sizeof(uint64_t))

void mprof_trace_put_bytes(struct mprof_trace_writer *w, const void *data,
                           size_t len);
// Appends len items of a size to a list. False if there is no memory.
bool mprof_trace_append(struct mprof_trace_writer *w,
                        struct mprof_trace_list *l, const void *items,
                        size_t len, size_t size);
void mprof_trace_free_list(struct mprof_trace_list *l);
// The numbers that events name a stack and a string by, 0 for none. The stack
// of what a thread runs is never none: readers want one.
uint64_t mprof_trace_stack_number(struct mprof_trace_writer *w,
                                  uint64_t handle);
uint64_t mprof_trace_start_number(struct mprof_trace_writer *w, uint64_t handle,
                                  uint64_t tid);
uint64_t mprof_trace_string_number(struct mprof_trace_writer *w, const char *s);
// Of the name that a handle stands for.
uint64_t mprof_trace_name_number(struct mprof_trace_writer *w, uint64_t handle);
// Of a text that hardly occurs twice.
uint64_t mprof_trace_text_number(struct mprof_trace_writer *w,
                                 const unsigned char *s, size_t len);

// The frames of a stack, as pc, function, file and line, as many as readers
// take: with number and length they are 2,048 bytes at most.
enum { MPROF_TRACE_FRAMES_BYTES = 2038 };
struct mprof_trace_frames {
  unsigned char bytes[MPROF_TRACE_FRAMES_BYTES];
  size_t len, count;
};
void mprof_trace_stack_frames(struct mprof_trace_writer *w, uint32_t handle,
                              struct mprof_trace_frames *f);
// The bucket of a handle; NULL of one that stands for an unknown start.
const struct mprof_bucket *mprof_trace_stack_bucket(uint32_t handle);
uint64_t mprof_trace_frequency(void);

#endif // MPROF_RT_TRACE_FORMAT_H
