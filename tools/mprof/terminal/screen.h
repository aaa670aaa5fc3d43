// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole terminal as one screen, as top and less use it: the alternate
// screen, single keys, and no echo. Each way out of the program gives the
// terminal back as it was.

#ifndef MPROF_TOOL_SCREEN_H
#define MPROF_TOOL_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

// Takes the terminal of standard input and output. From now on, the signals
// that end a program only set screen_signal. Returns false if there is no
// terminal that can move its cursor.
bool screen_begin(void);
// Gives the terminal back. Does nothing without screen_begin.
void screen_end(void);
// Returns the number of the signal that asks for the end, or 0. Also SIGHUP if
// the terminal is gone.
int screen_signal(void);
// Returns whether the program has the terminal, so that nothing else may print.
bool screen_is_on(void);
// Leaves the terminal to the parent, in a child process: neither its end nor a
// crash changes the modes, and the signals end it.
void screen_forget(void);
// Ends the program by this signal.
void screen_die(int number);

// Stores the size of the terminal.
void screen_size(unsigned *width, unsigned *height);
// Replaces what the screen shows by the lines of the text, which are cut at the
// edges of the terminal.
void screen_show(const char *text, size_t length);

// Keys that are no characters.
enum screen_key {
  KEY_NONE = -1,    // no key was pressed
  KEY_REDRAW = 256, // the size has changed, or the screen is back
  KEY_UP,
  KEY_DOWN,
  KEY_PAGE_UP,
  KEY_PAGE_DOWN,
  KEY_HOME,
  KEY_END,
  KEY_OTHER
};
enum { KEY_ESCAPE = 27, KEY_ENTER = '\r' };

// Waits at most that many milliseconds for a key. Returns a byte of the input,
// or an enum screen_key. Stops the program if the user has asked for that, as
// Ctrl-Z does.
int screen_key(int timeout_ms);

#endif
