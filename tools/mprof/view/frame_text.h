// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of a frame, which is the same in all commands.

#ifndef MPROF_TOOL_FRAME_TEXT_H
#define MPROF_TOOL_FRAME_TEXT_H

#include "view/shown_frames.h"

struct frame_text {
  char text[1024];
};

// Returns "app::Cache::get  server.cpp:27", followed by "  via FUNCTION" if
// f->via is not NO_FRAME.
struct frame_text frame_text(const struct view *v, const struct shown_frame *f);
// The same, with its parts (name, place, via) on lines of their own, for
// style_put_parts. Other control characters are still in the text.
struct frame_text frame_parts(const struct view *v,
                              const struct shown_frame *f);

#endif
