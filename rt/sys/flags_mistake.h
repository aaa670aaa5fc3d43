// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages about wrong options: a value that is not allowed, an unknown
// name and the known name that is most similar, and malformed text. The
// functions take no lock.

#ifndef MPROF_RT_SYS_FLAGS_MISTAKE_H
#define MPROF_RT_SYS_FLAGS_MISTAKE_H

#include "sys/flags_table.h"

// These four functions print one message on stderr. origin: the name of the
// string of options, for the message.

// f: the options; the message says that the value in f is used instead.
void mprof_mistake_report_value(const struct mprof_flags *f,
                                const struct mprof_option *o,
                                struct mprof_piece value, const char *origin);
void mprof_mistake_report_unknown(struct mprof_piece name, const char *origin);
// Reports malformed text. The message consists of what, s in quotes, and
// advice.
void mprof_mistake_report_syntax(struct mprof_piece s, const char *what,
                                 const char *advice, const char *origin);
// Reports that an option has no value, and how to write one. If the name is
// unknown, the message says so instead and explains quoting, because a word
// without '=' is usually part of an unquoted path with blanks.
void mprof_mistake_report_no_value(struct mprof_piece name, const char *origin);

// Appends the reason why mprof_flags_change has returned -ENOENT or -EINVAL,
// with the permitted values or a similar name.
void mprof_flags_put_mistake(struct mprof_text *t, const char *name,
                             const char *value);

#endif // MPROF_RT_SYS_FLAGS_MISTAKE_H
