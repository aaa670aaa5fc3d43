// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes label sets as text, for reports, for profiles, and for the public
// function mprof_stack.

#ifndef MPROF_RT_THREAD_LABELS_TEXT_H
#define MPROF_RT_THREAD_LABELS_TEXT_H

#include "sys/base.h"
#include "sys/message.h"

// Writes the label set with number id as text, for example {"key":"value",
// "key2":"value2"}. Calls put(arg, ...) for each piece of the text. The text of
// the empty set, number 0, is {}. (Go: LabelSet.String)
void mprof_labels_write(uint16_t id,
                        void (*put)(void *arg, const char *s, size_t len),
                        void *arg);

// Appends the len bytes of s to t as valid UTF-8. Replaces each invalid byte by
// '?'. Keeps control characters.
void mprof_label_utf8(struct mprof_text *t, const char *s, size_t len);

// Returns whether the Unicode character c is printable. Other characters, such
// as control characters and unassigned ones, are escaped in texts for people.
// (Go: strconv.IsPrint)
bool mprof_is_printable(unsigned c);

#endif // MPROF_RT_THREAD_LABELS_TEXT_H
