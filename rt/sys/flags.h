// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options, which flags.def lists. They come from three sources in this
// order: the defaults, the program's __mprof_default_options(), and the
// environment variable MPROF_OPTIONS. A later source overrides an earlier one.
// Wrong options are reported on stderr and ignored.

#ifndef MPROF_RT_SYS_FLAGS_H
#define MPROF_RT_SYS_FLAGS_H

#include "sys/base.h"

struct mprof_flags {
#define MPROF_FLAG_BOOL(Name, Default, Help) bool Name;
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Help) uint64_t Name;
#define MPROF_FLAG_STR(Name, Default, Help) char Name[512];
#define MPROF_FLAG_LIST(Name, Default, Help) char Name[512];
#include "sys/flags.def"
};
// The values of the options. mprof_flags_init writes them before any event is
// recorded. heap_rate is only the sampling rate at start; sample.h has the
// current rate.
extern struct mprof_flags mprof_flags;

// Whether the environment variable MPROF_OPTIONS was set and read at start.
// mprof_flags_init writes it.
extern bool mprof_flags_has_environment;

// Sets mprof_flags from all three sources. Ignores the environment if the
// kernel has set AT_SECURE (setuid programs).
void mprof_flags_init(void);
// Applies the options in string s to *f. Options have the form name=value and
// are separated by ':', ',' or blanks. A value in single or double quotes may
// contain separators. The words of a list need no quotes, as long as no word is
// followed by '='. They are stored with '+' between them. origin is the name of
// the string in messages. mprof_flags_init, tests and the fuzzer call this
// function.
void mprof_flags_parse(struct mprof_flags *f, const char *s,
                       const char *origin);
void mprof_flags_defaults(struct mprof_flags *f);
void mprof_flags_print_help(void);
// Returns whether the program has more rights than the user who started it: the
// kernel has set AT_SECURE, as for set-user-id programs. The user must neither
// set options nor choose, by the current directory, which files are written.
bool mprof_flags_is_secure(void);
// Returns the value of an environment variable. Returns NULL if the variable is
// not set, or if the kernel has set AT_SECURE (setuid programs).
const char *mprof_flags_environment(const char *name);

#endif // MPROF_RT_SYS_FLAGS_H
