// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The writer of the file. The writer holds the data that all file formats share
// while a file is written. It numbers the strings and the stacks, and writes
// the file in this order:
//
//   head | batches, one for each buffer | tail: stacks, strings
//
// A format (struct mprof_trace_format) encodes the events. Only one thread at a
// time may use a writer: the caller, trace_out.c, ensures this.

#ifndef MPROF_RT_TRACE_WRITE_TRACE_H
#define MPROF_RT_TRACE_WRITE_TRACE_H

#include "sys/pctable.h"

struct mprof_bucket;
struct mprof_trace_forms;
struct mprof_trace_record;
struct mprof_trace_writer;
struct mprof_trace_written;

// A file format of the trace. trace_records.c reads the records of each row and
// passes them to the format. The format encodes them as events.
struct mprof_trace_format {
  const char *name;      // value of the option trace_format
  const char *header;    // first 16 bytes of the file
  bool streams;          // batches can be written during the session
  bool has_names;        // the file contains function names
  uint16_t string_max;   // maximum length of a string in bytes
  uint64_t stacks_after; // the first stack has this number plus 1
  size_t state_bytes;    // size of the format's state, which starts as zeros
  const struct mprof_trace_forms *forms; // for mprof_trace_put_events
  // begin_batch begins a batch, which contains the events of one buffer.
  // end_batch ends the batch.
  // row: number of the row with this buffer.
  // ticks: base time of the batch. The time of the first event is written
  //   relative to this time.
  // to: how far the row has been written before this batch.
  void (*begin_batch)(struct mprof_trace_writer *w,
                      const struct mprof_trace_written *to, uint32_t row,
                      uint64_t ticks);
  void (*end_batch)(struct mprof_trace_writer *w);
  // Writes the events of record r. ticks: time since the previous event. to:
  // the state of the recorded thread before r, and what was written so far.
  // Returns false if the format has no event for the record.
  bool (*record)(struct mprof_trace_writer *w, struct mprof_trace_written *to,
                 uint64_t ticks, const struct mprof_trace_record *r);
  // Writes an event. type: the format's number of the event type. args: n
  // arguments, of which the first is the time since the previous event, in
  // ticks.
  void (*event)(struct mprof_trace_writer *w, unsigned type,
                const uint64_t *args, size_t n);
  // Writes string s of len bytes. Events refer to the string by `number`.
  void (*string)(struct mprof_trace_writer *w, uint64_t number, const char *s,
                 size_t len);
  // Writes a sample of the CPU profile, after the last batch. ticks: its time.
  // stack: number of its stack. NULL: the format has no samples.
  void (*sample)(struct mprof_trace_writer *w, uint64_t ticks, uint64_t tid,
                 uint64_t row, uint64_t g, uint64_t stack);
  // begin_stacks begins the part of the file that holds the stacks, after the
  // last batch. end_ticks: time of the end of the session. `stack` writes the
  // stack that `handle` refers to. Events refer to the stack by `number`.
  void (*begin_stacks)(struct mprof_trace_writer *w, uint64_t end_ticks);
  void (*stack)(struct mprof_trace_writer *w, uint64_t number, uint32_t handle);
  // Writes the end of the file, after the stacks.
  void (*finish)(struct mprof_trace_writer *w, uint64_t end_ticks);
  // Frees the memory to which the format's state has pointers. NULL: the state
  // has no such pointers.
  void (*free_state)(void *state);
};

// Format 1.5: the format of Go 1.5. The events of all threads are numbered in
// one sequence, so the file can be written only after the session.
extern MPROF_HIDDEN const struct mprof_trace_format mprof_trace_format_1_5;
// Format 1.23, the default.
extern MPROF_HIDDEN const struct mprof_trace_format mprof_trace_format_1_23;

// The receiver of the bytes of the file.
struct mprof_trace_sink {
  // Accepts the next len bytes. Returns no error: the owner of the sink must
  // remember errors.
  void (*put)(void *arg, const void *data, size_t len);
  void *arg;
};

// Prints a message on stderr if the value of trace_format is not a known
// format. Called at program start.
void mprof_trace_format_check(void);

// Returns whether the chosen format allows the runtime to write batches of
// events while the trace session still runs.
bool mprof_trace_format_streams(void);

// Creates a writer for the format that the option trace_format names, and
// writes the head of the file. processors: number of processors to show in the
// file. Returns NULL if there is no memory.
struct mprof_trace_writer *
mprof_trace_writer_new(const struct mprof_trace_sink *sink,
                       unsigned processors);
void mprof_trace_writer_free(struct mprof_trace_writer *w);
// Writes the tail of the file, after the caller has written all buffers with
// mprof_trace_write_records. The buffers of one row must be written in their
// order. end_ticks: time of the end of the session.
void mprof_trace_write_tail(struct mprof_trace_writer *w, uint64_t end_ticks);

// A growable list, whose memory comes from mprof_os_map.
struct mprof_trace_list {
  void *v;
  size_t len, bytes; // len: number of items; bytes: size of the mapping
};

struct mprof_trace_writer {
  struct mprof_trace_sink sink;
  const struct mprof_trace_format *format;
  void *state; // private data of the format
  unsigned processors;
  int pid; // id of the traced process, which is also that of its main thread
  uint64_t events;              // number of events written so far
  struct mprof_pc_table stacks; // maps a stack's handle to its number
  // The handles in stacks, by number. The tail of the file contains them.
  struct mprof_trace_list handles;
  struct mprof_pc_table strings; // maps a string's hash to its number
  uint64_t strings_len;          // number of the last string
  // Maps the address of a lock to the number of the string with its name. The
  // tail of the file has the strings.
  struct mprof_pc_table locks;
  // Maps a code address to 1 + (first << 8 | n). first: index in `frames` of
  // the first frame of the address; n: number of its frames.
  struct mprof_pc_table pcs;
  struct mprof_trace_list frames; // the frames of all addresses in pcs
  size_t frames_of_pc; // number of frames added for the current address
  bool is_start;       // the current address is that of a start function
  // First error as -errno; 0: none. Errors of the sink are not included.
  int error;
};

// Writes an event in the writer's format. type: the format's number of the
// event type. The arguments of the event follow.
#define EVENT(w, type, ...)                                                    \
  (w)->format->event(w, type, (const uint64_t[]){__VA_ARGS__},                 \
                     sizeof((const uint64_t[]){__VA_ARGS__}) /                 \
                         sizeof(uint64_t))

// Passes len bytes to the sink.
void mprof_trace_put_bytes(struct mprof_trace_writer *w, const void *data,
                           size_t len);
// Appends len items of size bytes each to list l. Returns false and sets
// w->error if there is no memory.
bool mprof_trace_append(struct mprof_trace_writer *w,
                        struct mprof_trace_list *l, const void *items,
                        size_t len, size_t size);
void mprof_trace_free_list(struct mprof_trace_list *l);
// Returns the slot of a key in table t, as mprof_pc_table_get. Returns NULL and
// sets w->error if there is no memory.
struct mprof_pc_slot *mprof_trace_slot(struct mprof_trace_writer *w,
                                       struct mprof_pc_table *t, mprof_pc key);
// Return the number by which events refer to a stack or a string. The number 0
// means that there is no stack or string, or no memory.
// mprof_trace_start_number is for the stack of the start function of thread
// tid. If handle is 0, the function returns the number of a stack that stands
// for an unknown start function, because readers require a stack.
uint64_t mprof_trace_stack_number(struct mprof_trace_writer *w,
                                  uint64_t handle);
uint64_t mprof_trace_start_number(struct mprof_trace_writer *w, uint64_t handle,
                                  uint64_t tid);
uint64_t mprof_trace_string_number(struct mprof_trace_writer *w, const char *s);
// Returns the number of the string of a name. handle: handle of the name
// (trace.h).
uint64_t mprof_trace_name_number(struct mprof_trace_writer *w, uint64_t handle);
// Writes a text of len bytes as a string, and returns the string's new number.
// Equal texts get different numbers, so use this only for texts that rarely
// repeat.
uint64_t mprof_trace_text_number(struct mprof_trace_writer *w,
                                 const unsigned char *s, size_t len);
// Returns the number of the string for the lock at the address. The string is
// the label `lock` of profiles: "VARIABLE (0x7f...)" or "0x7f...".
uint64_t mprof_trace_lock_number(struct mprof_trace_writer *w,
                                 uint64_t address);

// The encoded frames of a stack. Each frame is encoded as address, function,
// file and line. Readers accept at most 2,048 bytes for a stack, including its
// number and its length.
enum { MPROF_TRACE_FRAMES_BYTES = 2038 };
struct mprof_trace_frames {
  unsigned char bytes[MPROF_TRACE_FRAMES_BYTES];
  size_t len, count;
};
// Stores in *f the encoded frames of the stack with this handle. Omits frames
// that exceed the limits of readers.
void mprof_trace_stack_frames(struct mprof_trace_writer *w, uint32_t handle,
                              struct mprof_trace_frames *f);
// Returns the bucket with this handle, which holds a stack. Returns NULL if the
// handle stands for an unknown start function.
const struct mprof_bucket *mprof_trace_stack_bucket(uint32_t handle);

#endif // MPROF_RT_TRACE_WRITE_TRACE_H
