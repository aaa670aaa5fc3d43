// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format of the file of the option persist. The file is the runtime's
// persistent memory (persistent.h), so it has the buckets and their counters at
// each moment, also after the process was killed. mprof recover makes profiles
// of it. It begins with struct mprof_persist_head:
//
//   head --roots[type]--> newest bucket --allnext--> older bucket ...
//     |--roots[NOTES]--> newest note   --next-----> older note ...
//     \--roots[TRACE]--> newest row of the trace --next--> older row ...
//
// All pointers are addresses in the process; `base` is the address of the head.
// What the buckets refer to, and is not in persistent memory, is in notes: the
// modules with the code of the stacks, the sets of labels, the names of locks.
//
// Buckets and notes are never moved or freed. They are complete before a root
// leads to them. So a process may be killed between any two stores.
//
// The counters of the heapx profile and of the peak are beside the counters of
// the buckets (heapx.h, peak.h). A row of the trace leads to the buffers with
// the records of one thread (trace_types.h). Buffers are used again, but a row
// never leads to a buffer that has another row's records.

#ifndef MPROF_RT_SYS_PERSIST_HEAD_H
#define MPROF_RT_SYS_PERSIST_HEAD_H

#include <stdint.h>

// 16 bytes with the 0. The last letter is the version of the layout.
#define MPROF_PERSIST_MAGIC "MProf persist 6"

enum mprof_persist_root {
  MPROF_PERSIST_BUCKETS = 0, // the first roots, by enum mprof_bucket_type
  MPROF_PERSIST_NOTES = 8,
  MPROF_PERSIST_TRACE = 9, // the rows of the trace
  // The rows of an ended trace, until its file is written. If the process is
  // killed while it ends a trace, both roots may lead to the same rows.
  MPROF_PERSIST_ENDED_TRACE = 10,
  MPROF_PERSIST_ROOTS
};

enum mprof_persist_state {
  MPROF_PERSIST_RUNS = 0,
  MPROF_PERSIST_ENDED = 1,  // the process has written its profiles at the end
  MPROF_PERSIST_IS_CUT = 2, // the file could not grow; what followed is lost
};

enum { MPROF_PERSIST_STATS = 64 };

struct mprof_persist_head {
  // Written once, before the file has any other data.
  char magic[16];
  // Sizes of structs, so that a reader of another version finds that it cannot
  // read the file: of this head, of a bucket without its stack, of a cell, and
  // the number of statistics.
  uint32_t head_size, bucket_size, cell_size, stats_len;
  uint64_t base;
  int64_t begin_ns;                               // CLOCK_REALTIME
  uint64_t heap_rate, block_rate, mutex_fraction; // the options
  int32_t pid;
  uint32_t is_child; // the file is of a forked child
  // Options. has_heapx: the counters of heapx.h follow each MEM bucket and each
  // cell. has_peak: those of peak.h precede each MEM bucket.
  uint32_t has_heapx, has_peak;
  uint64_t trace_tick_div; // ticks of the clock in one tick of the trace
  uint64_t begin_ticks;    // time of the clock at begin_ns
  char trace_format[16];   // the option
  char version[32];        // of the runtime
  char program[512];       // path of the program
  uint64_t check;          // mprof_persist_check
  // Changed while the process runs. All are atomic.
  uint64_t roots[MPROF_PERSIST_ROOTS];
  uint64_t bytes;            // bytes of the file that have data
  uint64_t ticks_per_second; // of all times
  uint64_t peak_number;      // number of the last peak (peak.h)
  uint64_t peak_ticks;       // time of the last peak; 0: there was none
  // The trace has these sizes of a row, and of a buffer without its data. It
  // also has the option trace_last (0: not given) and the number of processors
  // to show.
  uint32_t row_size, buffer_size;
  uint64_t trace_keep_ns;
  uint32_t processors;
  uint32_t state; // enum mprof_persist_state, which are bits
  uint64_t stats[MPROF_PERSIST_STATS];
};

// Returns the checksum of the head's part that is written once. (FNV-1a)
static inline uint64_t
mprof_persist_check(const struct mprof_persist_head *head) {
  const unsigned char *p = (const unsigned char *)head;
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (; p < (const unsigned char *)&head->check; p++)
    h = (h ^ *p) * UINT64_C(0x100000001b3);
  return h;
}

// A note. Its data follow.
struct mprof_persist_note {
  uint64_t next; // address of the next older note; 0: none
  uint32_t type, len;
};
enum mprof_persist_note_type {
  MPROF_NOTE_MODULE = 1, // struct mprof_persist_module
  // uint32_t with the number of a set of labels, uint32_t with the number of
  // labels, then keys and values; each ends with a 0.
  MPROF_NOTE_LABELS = 2,
  MPROF_NOTE_LOCK = 3, // uint64_t with the address of a lock, then its name
  // uint64_t with the size of the CUSTOM buckets of a profile, then its name
  MPROF_NOTE_PROFILE = 4,
  // uint64_t with an address in stacks, then the name of the function, which a
  // profile shows there.
  MPROF_NOTE_HOOK = 5
};

// A mapping of code; the fields are those of struct mprof_mapping (maps.h).
struct mprof_persist_module {
  uint64_t start, limit, offset, bias;
  uint64_t shift; // atomic
  uint32_t from;
  uint32_t to; // atomic
  char build_id[41];
  char file[256];
};

#endif // MPROF_RT_SYS_PERSIST_HEAD_H
