// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Labels as text.

#ifndef MPROF_RT_THREAD_LABELS_TEXT_H
#define MPROF_RT_THREAD_LABELS_TEXT_H

#include "sys/message.h"

// Calls put with the parts of the set's text, {"key":"value", "key2":"value2"};
// {} for 0. (Go: LabelSet.String)
void mprof_labels_write(uint16_t id,
                        void (*put)(void *arg, const char *s, size_t len),
                        void *arg);

// Valid UTF-8: what is none becomes '?'. Control characters stay.
void mprof_label_utf8(struct mprof_text *t, const char *s, size_t len);

#endif // MPROF_RT_THREAD_LABELS_TEXT_H
