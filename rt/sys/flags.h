// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options: defaults, then the program's __mprof_default_options(), then the
// environment's MPROF_OPTIONS. What is wrong in them is reported and ignored.

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
// Written by mprof_flags_init, before any event; heap_rate is only the first
// rate, sample.h has the current one.
extern struct mprof_flags mprof_flags;

// Sets every option. The environment counts unless the process is AT_SECURE.
void mprof_flags_init(void);
// Applies a string of options, name=value separated by ':', ',' or blanks; a
// value may be quoted by ' or ", and then hold these. A list's words may be
// separated by what separates options, as long as none is followed by '='; they
// are stored with '+' between. origin names the string in messages. For
// mprof_flags_init, tests and the fuzzer.
void mprof_flags_parse(struct mprof_flags *f, const char *s,
                       const char *origin);
void mprof_flags_defaults(struct mprof_flags *f);
void mprof_flags_print_help(void);
// The value of an environment variable; NULL if there is none or the process is
// AT_SECURE.
const char *mprof_flags_environment(const char *name);

#endif // MPROF_RT_SYS_FLAGS_H
