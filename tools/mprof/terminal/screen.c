// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "terminal/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

// Terminals that know these modes show a frame at once.
#define FRAME_BEGIN "\033[?2026h"
#define FRAME_END "\033[?2026l"
// Alternate screen, no cursor, and no wrapped lines; and back.
static const char enter[] = "\033[?1049h\033[?25l\033[?7l";
static const char leave[] = FRAME_END "\033[?7h\033[?25h\033[?1049l";

static struct termios before; // of the terminal
static volatile sig_atomic_t is_on, end_signal, must_stop, must_redraw;

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// --- modes ---

static void put(const char *text, size_t length) {
  while (length > 0) {
    const ssize_t n = write(STDOUT_FILENO, text, length);
    if (n < 0 && errno != EINTR)
      return;
    text += n > 0 ? n : 0;
    length -= n > 0 ? (size_t)n : 0;
  }
}

static void set_raw(void) {
  struct termios raw = before;
  raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

static void take(void) {
  set_raw();
  put(enter, sizeof enter - 1);
  is_on = 1;
}

// A signal handler may call this function.
static void give_back(void) {
  if (!is_on)
    return;
  is_on = 0;
  put(leave, sizeof leave - 1);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

// --- signals ---

static void set_action(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

static void on_end(int number) { end_signal = number; }

static void on_other(int number) {
  if (number == SIGTSTP)
    must_stop = 1;
  else
    must_redraw = 1;
}

static void on_fault(int number) {
  give_back();
  raise(number); // with the default action, which SA_RESETHAND has restored
}

// Stops the program. Returns when the user continues it.
static void stop(void) {
  must_stop = 0;
  give_back();
  set_action(SIGTSTP, SIG_DFL, 0);
  raise(SIGTSTP);
  set_action(SIGTSTP, on_other, 0);
  take();
  must_redraw = 1;
}

bool screen_begin(void) {
  const char *term = getenv("TERM");
  if (!term || strcmp(term, "dumb") == 0 || !isatty(STDIN_FILENO) ||
      !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
    return false;
  static bool is_registered;
  if (!is_registered)
    atexit(give_back);
  is_registered = true;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    set_action(ends[i], on_end, 0);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    set_action(faults[i], on_fault, (int)(SA_RESETHAND | SA_NODEFER));
  set_action(SIGTSTP, on_other, 0);
  set_action(SIGWINCH, on_other, 0);
  // After SIGSTOP, the shell may have changed the modes.
  set_action(SIGCONT, on_other, 0);
  take();
  return true;
}

void screen_end(void) {
  give_back();
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    set_action(faults[i], SIG_DFL, 0);
  set_action(SIGTSTP, SIG_DFL, 0);
}

int screen_signal(void) { return end_signal; }

bool screen_is_on(void) { return is_on; }

void screen_forget(void) {
  if (!is_on)
    return;
  is_on = 0;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    set_action(ends[i], SIG_DFL, 0);
}

void screen_die(int number) {
  give_back();
  set_action(number, SIG_DFL, 0);
  raise(number);
}

// --- output ---

void screen_size(unsigned *width, unsigned *height) {
  struct winsize size = {0};
  ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  *width = size.ws_col ? size.ws_col : 80;
  *height = size.ws_row ? size.ws_row : 24;
}

void screen_show(const char *text, size_t length) {
  static const char begin[] = FRAME_BEGIN "\033[H", end_of_frame[] = FRAME_END,
                    erase_line[] = "\033[K", erase_rest[] = "\033[J";
  unsigned width, height;
  screen_size(&width, &height);
  put(begin, sizeof begin - 1);
  for (const char *end = text + length; text < end; height--) {
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    if (!stop)
      stop = end;
    // A line feed in the last line would scroll the screen.
    const bool is_last = stop + 1 >= end || height <= 1;
    // This comes before the text: behind a full line, the cursor is on its last
    // character, which would be erased.
    put(is_last ? erase_rest : erase_line, sizeof erase_line - 1);
    put(text, (size_t)(stop - text));
    if (is_last)
      break;
    put("\r\n", 2);
    text = stop + 1;
  }
  put(end_of_frame, sizeof end_of_frame - 1);
}

// --- input ---

// The end of an escape sequence of a key.
static const struct {
  const char *text;
  int key;
} sequences[] = {{"[A", KEY_UP},   {"OA", KEY_UP},       {"[B", KEY_DOWN},
                 {"OB", KEY_DOWN}, {"[5~", KEY_PAGE_UP}, {"[6~", KEY_PAGE_DOWN},
                 {"[H", KEY_HOME}, {"OH", KEY_HOME},     {"[1~", KEY_HOME},
                 {"[F", KEY_END},  {"OF", KEY_END},      {"[4~", KEY_END}};

static char input[64];
static size_t input_at, input_end;

// Takes an escape sequence, which follows the byte 27.
static int take_sequence(void) {
  const char *text = &input[input_at];
  const size_t left = input_end - input_at;
  if (left == 0 || (*text != '[' && *text != 'O'))
    return KEY_ESCAPE;
  for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
    const size_t length = strlen(sequences[i].text);
    if (left >= length && memcmp(text, sequences[i].text, length) == 0) {
      input_at += length;
      return sequences[i].key;
    }
  }
  // An unknown sequence ends with a letter or "~".
  for (input_at++; input_at < input_end;)
    if ((unsigned char)input[input_at++] >= '@')
      break;
  return KEY_OTHER;
}

static int take_key(void) {
  const unsigned char key = (unsigned char)input[input_at++];
  return key == KEY_ESCAPE ? take_sequence() : key == '\n' ? KEY_ENTER : key;
}

int screen_key(int timeout_ms) {
  struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
  if (!is_on) {
    poll(NULL, 0, timeout_ms);
    return KEY_NONE;
  }
  if (must_stop)
    stop();
  if (must_redraw) {
    must_redraw = 0;
    set_raw();
    return KEY_REDRAW;
  }
  if (input_at < input_end)
    return take_key();
  if (poll(&p, 1, timeout_ms) <= 0)
    return KEY_NONE;
  const ssize_t n = read(STDIN_FILENO, input, sizeof input);
  if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
    end_signal = SIGHUP; // the terminal is gone
  if (n <= 0)
    return KEY_NONE;
  input_at = 0;
  input_end = (size_t)n;
  return take_key();
}
