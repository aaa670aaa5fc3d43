// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that all sections of the exit report share: the state of the
// report, and functions that write numbers and stacks for people. The files
// kind_*.c write the sections, and write_report.c calls them in order. The
// functions return no errors, because the file `out` stores the first error.

#ifndef MPROF_RT_WRITE_REPORT_H
#define MPROF_RT_WRITE_REPORT_H

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "snapshot/snapshot.h"
#include "symbolize/symbolize.h"
#include "sys/scale.h"

#include <stdbool.h>

// A longer name of a function is cut.
enum { MPROF_REPORT_NAME_MAX = 160 };

// The state of a report that is being written. Allocate it by mprof_os_map,
// because it is too large for a stack.
struct mprof_report {
  struct mprof_outfile *out;
  // The stack that is being written, and the position in it:
  const struct mprof_bucket *bucket;
  uint32_t index;  // index of the current return address
  unsigned number; // number of the next frame in the report
  unsigned skip;   // number of functions that are still to be omitted
  bool is_main;    // main was written; the callers of main are omitted
  bool shows_std;  // frames of standard libraries are written, too
  unsigned hidden; // standard-library frames omitted since the last frame
  // The name of the last function omitted before the first frame, or "": the
  // function of a standard library that the first frame called.
  char via[MPROF_REPORT_NAME_MAX + 2];
  char command[4096];
};

// --- text in memory ---

// Appends n and the noun `thing` to t, such as "1,234 waits" or "1 wait".
void mprof_put_things(struct mprof_text *t, uint64_t n, const char *thing);
// Appends n, the noun `thing` and the number of stacks to t, such as "1,234
// samples, 56 stacks".
void mprof_put_things_and_stacks(struct mprof_text *t, uint64_t n,
                                 const char *thing, uint64_t stacks);

// --- a whole report ---

// Writes a report to f by put(w, arg), with the names of functions if
// wants_names is true. Before, calls collect(w, arg), which writes all stacks
// of the report, to collect their addresses: all names are looked up at once.
// Returns 0 or the first error of f. Hold writer_lock.
int mprof_report_write(struct mprof_outfile *f, bool wants_names,
                       void (*collect)(struct mprof_report *w, const void *arg),
                       void (*put)(struct mprof_report *w, const void *arg),
                       const void *arg);

// --- text of the report ---

// Writes the string s.
void mprof_report_put(struct mprof_report *w, const char *s);
// Writes the title, the program and the time of a report. time_ns: nanoseconds
// of CLOCK_REALTIME.
void mprof_report_head(struct mprof_report *w, const char *title,
                       int64_t time_ns);
// Writes n with commas, such as "1,234", and then the text `what`.
void mprof_report_count(struct mprof_report *w, int64_t n, const char *what);
// Writes n and the noun `thing`, such as "1,234 waits" or "1 wait".
void mprof_report_things(struct mprof_report *w, int64_t n, const char *thing);
// Writes a size, such as "1.50 MiB (1,572,864 bytes)".
void mprof_report_bytes(struct mprof_report *w, int64_t bytes);
// Writes the standard error of an estimated size, such as
// ", standard error 1.20 MiB". Writes nothing if the variance (in bytes
// squared) is 0, because the size is then exact.
void mprof_report_error(struct mprof_report *w, mprof_u128 variance);
// Writes part / whole in percent, such as "12.5%".
void mprof_report_percent(struct mprof_report *w, int64_t part, int64_t whole);
// Writes a duration of ns nanoseconds, such as "1.50 ms".
void mprof_report_time(struct mprof_report *w, int64_t ns);
// Writes n without commas, for a machine-readable line, and then the text
// `what`.
void mprof_report_plain(struct mprof_report *w, int64_t n, const char *what);
// Writes the line `    labels {"key":"value"}` for the samples of a stack.
// Writes nothing if no sample has labels.
void mprof_report_labels(struct mprof_report *w,
                         const struct mprof_stack_labels *labels);
// Writes the stack of b, one line for each frame. Without the option
// report_std, leaves out frames of the standard libraries, unless the stack has
// no other frames. Never leaves out the innermost function of a wait, such as
// pthread_mutex_lock.
void mprof_report_stack(struct mprof_report *w, const struct mprof_bucket *b);

// --- frames of standard libraries (std_frames.c) ---
//
// Recognizes frames of the standard libraries of C, C++, Rust, D and Fortran,
// and of Go's runtime, which the report leaves out. These frames say how a
// library works, and not what the program does.

// Returns whether f is a frame of a standard library: by its module, by its
// source file, or by its name if the source file is unknown.
bool mprof_is_std_frame(const struct mprof_frame *f);
// Returns whether file is the path of a standard library or of the loader.
bool mprof_is_std_module(const char *file);

// --- the exit report (write_report.c) ---
//
// The exit report for people. The report has a section for each kind of
// profile, and machine-readable summary lines at the end.

struct mprof_outfile;
struct mprof_summary;

// Writes the exit report to f. Returns 0 or the first error of f. The caller
// closes f. Call with the recursion guard set and writer_lock held.
// mprof_write_file can call this function.
// summary: a struct mprof_summary.
int mprof_write_report(struct mprof_outfile *f, void *summary);

// --- memory that the heap profile cannot show ---
//
// The interceptors replace malloc and similar functions, and count the calls
// from code without MProf.

// Returns whether the program was linked without the interceptors, although it
// could have them. Returns false in a program with musl, because the
// interceptors exist only for glibc. Also returns false in a program with a
// sanitizer, and if mprof-clang left the interceptors out on purpose.
bool mprof_coverage_is_linked_without(void);

// Returns whether the heap profile is shown, but lacks the allocations of code
// without MProf, because mprof_coverage_is_linked_without returns true.
bool mprof_coverage_lacks_interceptors(const struct mprof_summary *s);

#endif // MPROF_RT_WRITE_REPORT_H
