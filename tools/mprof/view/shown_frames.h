// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frames of a stack as a person reads them, and their text, which is the
// same in all commands.

#ifndef MPROF_TOOL_SHOWN_FRAMES_H
#define MPROF_TOOL_SHOWN_FRAMES_H

#include "view/view.h"

// A frame of a stack as a person reads it. Functions of the standard libraries
// are part of the frame that called them.
struct shown_frame {
  uint32_t frame;
  uint32_t via; // the library function that the frame called, or NO_FRAME
  struct frame_place place; // where the frame is in an example of its stacks
};
enum { NO_FRAME = UINT32_MAX };

// Returns whether two lists of frames have the same functions, at any places.
// has_via: whether the library functions must be equal, too.
bool shown_are_equal(const struct shown_frame *a, const struct shown_frame *b,
                     uint32_t count, bool has_via);
// Returns the hash of the frames. Lists for which shown_are_equal returns true
// have the same hash.
uint32_t shown_hash(const struct shown_frame *frames, uint32_t count,
                    bool has_via);

// Stores the shown frames of the stack at `frames`, leaf first, which has room
// for s->count frames. Returns their number, which is 0 only if the stack is
// empty. A stack of library functions alone is shown as it is. keeps_std: all
// frames are shown.
uint32_t view_shown(const struct view *v, const struct view_stack *s,
                    bool keeps_std, struct shown_frame *frames);
// Returns the largest number of frames of a stack.
uint32_t view_depth(const struct view *v);

// Returns the name of the function f->via, or NULL if f->via is NO_FRAME. Where
// functions have short names, this is the shortest one: overloads of a library
// function may share it.
const char *frame_via(const struct view *v, const struct shown_frame *f);

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

#endif // MPROF_TOOL_SHOWN_FRAMES_H
