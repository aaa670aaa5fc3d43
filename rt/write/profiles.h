// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of a kind of profile. The code for requests, for the exit, for
// the summary and for the report uses profiles only through this interface. The
// copy of a profile is the data from which the profile is written: snapshots,
// and their sums. options/profiles.def has the table of profiles.

#ifndef MPROF_RT_WRITE_PROFILES_H
#define MPROF_RT_WRITE_PROFILES_H

#include "sys/base.h"

struct mprof_outfile;
struct mprof_report;
struct mprof_text;

enum mprof_profile_id {
#define MPROF_PROFILE(Name, Suffix, Kind, Variant, Section, Line, Text)        \
  MPROF_PROFILE_##Name,
#define MPROF_PROFILE_OF_PROGRAM MPROF_PROFILE
#include "options/profiles.def"
  MPROF_PROFILES
};

// The formats in which a profile can be written; see mprof_write_profile.
enum mprof_profile_form {
  MPROF_FORM_PPROF, // gzipped profile.proto
  MPROF_FORM_TEXT,  // legacy text (legacy.h)
  MPROF_FORM_LIST,  // text for people, one thread after the other
  MPROF_FORMS
};

struct mprof_profile_row {
  const char *name;
  const char *suffix; // file suffix at exit; NULL: no file at exit
  const struct mprof_profile_kind *kind;
  int variant;
  unsigned section, line; // positions in the report, from 1; 0: omitted
  const char *text;
};

// A profile that is to be copied or written.
struct mprof_profile_request {
  const struct mprof_profile_row *row;
  enum mprof_profile_form form;
  // Number of the profile if the program defines it. At the end of the process:
  // number of the file if the profile has several (`parts`).
  size_t number;
  void *copy; // the copy of the profile; NULL: none
  // At the end of the process: the copies of all profiles, indexed by enum
  // mprof_profile_id. The profiles before this profile have already been
  // copied. For a request of the program: NULL.
  void *const *copies;
};

// The functions of a kind of profile. A pointer may be NULL only if its comment
// says so. Call all functions with the recursion guard set. Hold writer_lock
// from the call of `take` to the call of `free`.
struct mprof_profile_kind {
  size_t copy_bytes;
  enum mprof_profile_form last_form;
  // Returns whether the profile can be requested with the current options.
  // NULL: the profile can always be requested.
  bool (*is_offered)(const struct mprof_profile_row *row);
  // Takes a copy of the profile, and stores it in *r->copy. The caller zeroes
  // *r->copy before the call. Returns 0 or -errno. The caller calls `free` even
  // after an error.
  int (*take)(const struct mprof_profile_request *r);
  void (*free)(void *copy);
  int (*write)(struct mprof_outfile *f, const struct mprof_profile_request *r);
  // Writes the difference of two copies as a pprof file: the values of r->copy
  // minus those of `before`, an earlier copy. NULL: this kind has no
  // differences.
  // keeps_present: values that describe the present, such as the blocks in use,
  //   are written as they are in r->copy. Then `before` stays unchanged;
  //   otherwise it may only be freed afterwards.
  int (*write_delta)(struct mprof_outfile *f,
                     const struct mprof_profile_request *r, void *before,
                     bool keeps_present);
  // Returns the number of the profile's records, as Go's index page shows it.
  // Takes no lock of a high rank and disturbs no thread. number: the number of
  // the profile if the program defines it. NULL: the number is not known.
  uint64_t (*count)(const struct mprof_profile_row *row, size_t number);

  // --- at the end of the process ---

  // Returns whether anything was recorded that the files at exit would show, or
  // whether an option asks for this profile even if it is empty. Makes no
  // system call unless an option asks for the profile, takes no lock, and works
  // without the recursion guard. NULL: this profile has data only if another
  // profile also has data.
  bool (*has_data)(const struct mprof_profile_row *row);
  // Returns whether the copy of this profile is taken at exit. NULL: always.
  bool (*is_on)(void);
  // Groups the samples of the copy for the report. Returns 0 or -ENOMEM. NULL:
  // this kind needs no groups.
  int (*group)(void *copy);
  // Returns whether the profile should get a file and a section of the report.
  // NULL: the profile is shown whenever is_on allows its copy to be taken.
  // copies: the copies of all profiles, indexed by enum mprof_profile_id.
  bool (*is_shown)(const void *copy, void *const *copies);
  // Returns whether the copy has stacks that must be symbolized. NULL: the copy
  // has only stacks that the heap profile also has.
  bool (*has_stacks)(const void *copy);
  // Returns the number of files of this profile. part_name returns the name of
  // one of these files. NULL: the profile has one file, whose suffix is in the
  // profile's row of the table of profiles.
  size_t (*parts)(const void *copy);
  const char *(*part_name)(const void *copy, size_t part);
  // Appends the numbers of the copy for a message on stderr, such as "1,234
  // waits, 56 stacks".
  void (*put_numbers)(struct mprof_text *t, const void *copy, size_t part);
  // Whether put_numbers also appends the profile's totals to the message that
  // names the report. The message has these totals only if no file of a profile
  // was written.
  bool sums_up_report;
  // report writes the section of the report. report_line writes the
  // machine-readable summary lines at the end of the report.
  void (*report)(struct mprof_report *w, const void *copy);
  void (*report_line)(struct mprof_report *w, const void *copy);
};

// The kinds. The files kind_*.c define them.
#define MPROF_PROFILE(Name, Suffix, Kind, Variant, Section, Line, Text)        \
  extern MPROF_HIDDEN const struct mprof_profile_kind mprof_kind_##Kind;
#define MPROF_PROFILE_OF_PROGRAM MPROF_PROFILE
#include "options/profiles.def"

// --- all profiles (profiles.c) ---
//
// All profiles: their table, one profile that the program or a client of the
// HTTP server (http/server.h) requests, and the copies of all profiles at the
// end of the process.

// The table of profiles, generated from options/profiles.def.
extern MPROF_HIDDEN const struct mprof_profile_row
    mprof_profile_rows[MPROF_PROFILES];

// --- one profile on request ---

// Finds the profile that is called `name` and stores it in *r. Returns false if
// there is no profile with this name.
bool mprof_profile_find(struct mprof_profile_request *r, const char *name);
// Takes a copy of the profile's data in the form r->form. Returns 0, -ENOTSUP
// if the profile needs an option that is not set, or another -errno. Call with
// the recursion guard set and writer_lock held.
int mprof_profile_take(struct mprof_profile_request *r);
// Writes the copy to f. Returns 0 or -errno. Call with writer_lock held.
// mprof_write_file can call this function.
// request: a struct mprof_profile_request.
int mprof_profile_put(struct mprof_outfile *f, void *request);
// Frees the copy. Does nothing if there is none.
void mprof_profile_drop(struct mprof_profile_request *r);

// --- all profiles at the end of the process ---

// The copies of all profiles, and which profiles get a file and a section of
// the report.
struct mprof_summary {
  // The copies of all profiles. The size of a copy is copy_bytes of its kind.
  void *copies[MPROF_PROFILES];
  bool is_shown[MPROF_PROFILES];
  char *memory; // of all copies
  size_t mapped_bytes;
  int64_t time_ns; // time of the copies: nanoseconds of CLOCK_REALTIME
};

// Creates a summary with empty copies. Returns 0 or -ENOMEM. Free *s with
// mprof_summary_free even after an error.
int mprof_summary_begin(struct mprof_summary *s);
// Creates a summary and takes the copies of all profiles that the options
// enable. Returns 0 or -errno. Free *s with mprof_summary_free even after an
// error. Call with the recursion guard set and writer_lock held.
int mprof_summary_take(struct mprof_summary *s);
// Groups the copies by stack, and decides which profiles are shown. Returns 0
// or -ENOMEM. mprof_summary_take calls this function at its end. Tests call it
// directly.
int mprof_summary_group(struct mprof_summary *s);
void mprof_summary_free(struct mprof_summary *s);
// Returns whether a summary would have anything to show: an event was recorded
// or lost, or an option asks for a profile that may be empty. Makes no system
// call. Needs neither the guard nor a lock.
bool mprof_summary_has_data(void);
// Returns whether any copy has stacks that must be symbolized.
bool mprof_summary_has_stacks(const struct mprof_summary *s);

#endif // MPROF_RT_WRITE_PROFILES_H
