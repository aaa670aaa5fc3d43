// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options. Later sources override earlier ones: the defaults, the program's
// __mprof_default_options(), the environment variable MPROF_OPTIONS. Wrong
// options are reported on stderr and ignored. flags.def lists all options.

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
// The values. mprof_flags_init writes them before any event. heap_rate is only
// the first rate; sample.h has the current one.
extern struct mprof_flags mprof_flags;

// Sets every option. Ignores the environment if the process is AT_SECURE.
void mprof_flags_init(void);
// Applies a string of options: name=value, separated by ':', ',' or blanks. A
// value in single or double quotes may contain separators. The words of a list
// need no quotes, as long as no word is followed by '='; they are stored with
// '+' between them. origin names the string in messages. Called by
// mprof_flags_init, tests and the fuzzer.
void mprof_flags_parse(struct mprof_flags *f, const char *s,
                       const char *origin);
void mprof_flags_defaults(struct mprof_flags *f);
void mprof_flags_print_help(void);
// Returns the value of an environment variable. Returns NULL if the variable is
// not set or the process is AT_SECURE.
const char *mprof_flags_environment(const char *name);

#endif // MPROF_RT_SYS_FLAGS_H
