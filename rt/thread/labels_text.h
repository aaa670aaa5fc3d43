// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes label sets as text, for reports, profiles and mprof_stack.

#ifndef MPROF_RT_THREAD_LABELS_TEXT_H
#define MPROF_RT_THREAD_LABELS_TEXT_H

#include "sys/message.h"

// Writes set id as text, for example {"key":"value", "key2":"value2"}. Calls
// put for each piece of the text. The text of set 0 is {}.
// (Go: LabelSet.String)
void mprof_labels_write(uint16_t id,
                        void (*put)(void *arg, const char *s, size_t len),
                        void *arg);

// Appends s as valid UTF-8. Invalid bytes become '?'; control characters are
// kept.
void mprof_label_utf8(struct mprof_text *t, const char *s, size_t len);

#endif // MPROF_RT_THREAD_LABELS_TEXT_H
