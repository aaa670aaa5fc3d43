// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of a kind of profile. The callers that handle requests, the
// exit, the summary and the report use profiles only by this interface. A copy
// holds the data from which a profile is written: snapshots and their sums. The
// table of profiles is in sys/profiles.def.

#ifndef MPROF_RT_WRITE_PROFILE_KIND_H
#define MPROF_RT_WRITE_PROFILE_KIND_H

#include "sys/base.h"

struct mprof_outfile;
struct mprof_report;
struct mprof_text;

enum mprof_profile_id {
#define MPROF_PROFILE(Name, Suffix, Kind, Variant, Section, Line, Text)        \
  MPROF_PROFILE_##Name,
#define MPROF_PROFILE_OF_PROGRAM MPROF_PROFILE
#include "sys/profiles.def"
  MPROF_PROFILES
};

// The output forms of a profile; see mprof_write_profile.
enum mprof_profile_form {
  MPROF_FORM_PPROF, // profile.proto, gzipped
  MPROF_FORM_TEXT,  // legacy text
  MPROF_FORM_LIST,  // text for people, one thread after the other
  MPROF_FORMS
};

struct mprof_profile_row {
  const char *name;
  const char *suffix; // suffix of the file; NULL: written only on request
  const struct mprof_profile_kind *kind;
  int variant;
  unsigned section, line; // positions in the report; 0: none
  const char *text;
};

// The reason why a copy is taken.
struct mprof_profile_taking {
  enum mprof_profile_form form;
  size_t number; // number of a custom profile of the program
  // At the end of the process: the copies of all kinds, indexed by enum
  // mprof_profile_id. The copies before this one have already been taken. On
  // request: NULL.
  void *const *copies;
};

// A function pointer may be NULL only where its comment says so. Call all
// functions with the guard set. Hold writer_lock from take to free.
struct mprof_profile_kind {
  size_t copy_bytes;
  enum mprof_profile_form last_form;
  // Returns whether the profile can be requested now, with the current options.
  // NULL: always.
  bool (*is_offered)(void);
  // Takes a copy. *copy is zeroed before. The caller frees it even after an
  // error. Returns 0 or -errno.
  int (*take)(void *copy, const struct mprof_profile_row *row,
              const struct mprof_profile_taking *t);
  void (*free)(void *copy);
  int (*write)(struct mprof_outfile *f, const void *copy,
               const struct mprof_profile_row *row,
               enum mprof_profile_form form, size_t number);

  // --- at the end of the process ---

  // Returns whether a copy is taken at all. NULL: always.
  bool (*is_on)(void);
  // Groups the samples of the copy for the report. Returns 0 or -ENOMEM. NULL:
  // nothing to group.
  int (*group)(void *copy);
  // Returns whether the profile should get a file and a section of the report.
  // copies: as in struct mprof_profile_taking. NULL: yes, if a copy is taken.
  bool (*is_shown)(const void *copy, void *const *copies);
  // Returns whether the copy has stacks that need to be symbolized.
  bool (*has_stacks)(const void *copy);
  // Returns the number of files of the profile; part_name returns the name of
  // each. NULL: one file, with the suffix of the row.
  size_t (*parts)(const void *copy);
  const char *(*part_name)(const void *copy, size_t part);
  // Appends the numbers for the line on stderr, such as "1,234 waits, 56
  // stacks".
  void (*put_numbers)(struct mprof_text *t, const void *copy, size_t part);
  // true: these numbers are also printed on the line about the report, if no
  // profile is written.
  bool sums_up_report;
  // report writes the section of the report. report_line writes the
  // machine-readable summary line.
  void (*report)(struct mprof_report *w, const void *copy, void *const *copies);
  void (*report_line)(struct mprof_report *w, const void *copy);
};

#endif // MPROF_RT_WRITE_PROFILE_KIND_H
