// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options, which flags.def lists. Their values come from three sources: the
// defaults, the program's __mprof_default_options(), and the environment
// variable MPROF_OPTIONS. A later source overrides an earlier source. Wrong
// options are reported on stderr and ignored.

#ifndef MPROF_RT_OPTIONS_FLAGS_H
#define MPROF_RT_OPTIONS_FLAGS_H

#include "sys/base.h"

struct mprof_text;

struct mprof_flags {
#define MPROF_FLAG_BOOL(Name, Default, Change, Help) bool Name;
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Change, Help) uint64_t Name;
#define MPROF_FLAG_STR(Name, Default, Change, Help) char Name[512];
#define MPROF_FLAG_LIST(Name, Default, Change, Help) char Name[512];
#define MPROF_FLAG_ADDRESS(Name, Default, Change, Help) char Name[512];
#include "options/flags.def"
};
// The values of the options, which begin with the defaults. mprof_flags_init
// changes them before any event is recorded. heap_rate is only the sampling
// rate at start; mprof_sample_rate (event.h) returns the current rate.
extern MPROF_HIDDEN struct mprof_flags mprof_flags;

// Whether the user has set options in the environment variable MPROF_OPTIONS.
// mprof_flags_init writes it.
extern MPROF_HIDDEN bool mprof_flags_has_environment;

// The options of mprof_start, in place of those of the environment; NULL: none.
// Set before mprof_flags_init.
extern MPROF_HIDDEN const char *mprof_flags_given;

// Changes mprof_flags as __mprof_default_options() and MPROF_OPTIONS say. Turns
// messages off (message.h) if stderr is no terminal and neither MPROF_OPTIONS
// is set nor __mprof_default_options defined. So a program that is only
// compiled with MProf prints the same as a program without MProf. Ignores
// MPROF_OPTIONS if the kernel has set AT_SECURE (setuid programs).
void mprof_flags_init(void);
// Returns whether to print messages that report no error, such as the names of
// the written files. Returns true if stderr is a terminal or the user has set
// MPROF_OPTIONS, unless the option quiet is set.
bool mprof_flags_want_news(void);
// Applies the options in the string s to *f. Options have the form name=value
// and are separated by ':', ',' or blanks. A value in single or double quotes
// may contain separators. An unquoted list may contain separators, too, and
// ends before the next name=value. The words of a list are stored with '+'
// between them. origin: the name of the string in messages. Returns the number
// of mistakes, each of which has a message. mprof_flags_init, the command
// mprof, tests and the fuzzer call this function.
unsigned mprof_flags_parse(struct mprof_flags *f, const char *s,
                           const char *origin);
// Returns whether the program has more rights than the user who started it: the
// kernel has set AT_SECURE, as for set-user-id programs. The user must neither
// set options nor choose, by the current directory, which files are written.
bool mprof_flags_is_secure(void);
// Returns the value of the environment variable name. Returns NULL if the
// variable is not set, or if the kernel has set AT_SECURE (setuid programs).
const char *mprof_flags_environment(const char *name);

// --- changes while the program runs ---

// Changes an option in mprof_flags while the program runs. The caller passes
// the new value on to the code that has a copy of it, such as the sampling
// rate. Returns 0; -ENOENT if there is no such option; -EINVAL for a wrong
// value; or -EPERM if the option cannot change, and then *why is the reason.
// mprof_flags_put_mistake says what is wrong for -ENOENT and
// -EINVAL. Call with writer_lock held.
int mprof_flags_change(const char *name, const char *value, const char **why);
// Changes the options in the string s that can change while the program runs,
// log_path and listen, and ignores the others. Call with writer_lock held.
void mprof_flags_change_all(const char *s);
// Appends "NAME=VALUE" for option i. If the option cannot change, also appends
// the reason. Returns false if i is past the last option.
bool mprof_flags_put(size_t i, struct mprof_text *t);
// Returns the number of the option with this name, or SIZE_MAX.
size_t mprof_flags_find(const char *name);
// Appends the reason why mprof_flags_change has returned -ENOENT or -EINVAL,
// with the permitted values or a similar name.
void mprof_flags_put_mistake(struct mprof_text *t, const char *name,
                             const char *value);

#endif // MPROF_RT_OPTIONS_FLAGS_H
