// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kind of profile is. Requests, the exit, the summary and the report
// know profiles by this only. A copy is what a profile is written from:
// snapshots and their sums. See sys/profiles.def for the rows.

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

// The forms of a profile, as mprof_write_profile has them.
enum mprof_profile_form {
  MPROF_FORM_PPROF, // profile.proto, gzipped
  MPROF_FORM_TEXT,  // legacy text
  MPROF_FORM_LIST,  // text for people, thread by thread
  MPROF_FORMS
};

struct mprof_profile_row {
  const char *name;
  const char *suffix; // NULL: written on request only
  const struct mprof_profile_kind *kind;
  int variant;
  unsigned section, line; // places in the report; 0: none
  const char *text;
};

// Who takes a copy.
struct mprof_profile_taking {
  enum mprof_profile_form form;
  size_t number; // of a profile of the program's
  // At the end of the process: the copies of all kinds, by enum
  // mprof_profile_id, of which the ones before this are taken. NULL on request.
  void *const *copies;
};

// Functions that are NULL say so. Call all with the guard set, and between take
// and free with writer_lock held.
struct mprof_profile_kind {
  size_t copy_bytes;
  enum mprof_profile_form last_form;
  // Whether it can be asked for now, with these options. NULL: always.
  bool (*is_offered)(void);
  // Takes a copy. *copy holds zeros before, and is freed in either case. 0 or
  // -errno.
  int (*take)(void *copy, const struct mprof_profile_row *row,
              const struct mprof_profile_taking *t);
  void (*free)(void *copy);
  int (*write)(struct mprof_outfile *f, const void *copy,
               const struct mprof_profile_row *row,
               enum mprof_profile_form form, size_t number);

  // --- at the end of the process ---

  // Whether it is taken at all. NULL: always.
  bool (*is_on)(void);
  // Sums up what the copy has, for the report. 0 or -ENOMEM. NULL: nothing.
  int (*group)(void *copy);
  // Whether it is worth a file and a section.
  bool (*is_shown)(void *const *copies, const struct mprof_profile_row *row);
  // Whether it has stacks, whose names are worth asking for.
  bool (*has_stacks)(const void *copy);
  // How many files it has, each with a name of its own. NULL: one, with the
  // row's suffix.
  size_t (*parts)(const void *copy);
  const char *(*part_name)(const void *copy, size_t part);
  // Puts the numbers for the line on stderr: "1,234 waits, 56 stacks".
  void (*put_numbers)(struct mprof_text *t, const void *copy, size_t part);
  // Whether that line has the numbers of the report, too, where no profile is
  // written.
  bool sums_up_report;
  // The section of the report, and its lines for scripts.
  void (*report)(struct mprof_report *w, void *const *copies,
                 const struct mprof_profile_row *row);
  void (*report_line)(struct mprof_report *w, void *const *copies,
                      const struct mprof_profile_row *row);
};

#endif // MPROF_RT_WRITE_PROFILE_KIND_H
