// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An HTTP server for one page, which only this machine can reach. A client must
// know a random token. No page of another web site can read the page: the
// header Host must name this server, so that no name of a web site that leads
// to this machine works (DNS rebinding), and requests that other sites cause
// are refused.
//
//   /?token=TOKEN           the page
//   /state?token=TOKEN      the number of the newest page, and why the last
//                           attempt to renew it has failed
//   /start?code=CODE        leads to the page, once, in the first minute. Other
//                           users can see the command line of a browser, which
//                           has this code instead of the token

#ifndef MPROF_TOOL_WEB_SERVER_H
#define MPROF_TOOL_WEB_SERVER_H

#include "web/page_builder.h"

enum { WEB_SECRET = 33, WEB_CONNECTIONS = 32 };

struct web_connection;

struct web_server {
  struct page_builder *pages;
  // Returns whether the page must be made again. is_reload: the user asks for
  // the page, not only for its state.
  bool (*is_old)(void *arg, bool is_reload);
  void *arg;
  const char *policy; // Content-Security-Policy of the page
  int fd;
  unsigned short port;
  char token[WEB_SECRET];
  char code[WEB_SECRET]; // "": used, or not wanted
  int64_t code_end_ms;   // from then on, the code is not valid
  struct web_connection *connections[WEB_CONNECTIONS];
};

// Opens the socket, and makes the token. port: 0 chooses one. Returns NULL or a
// message.
const char *web_server_open(struct web_server *s, unsigned short port);
// Makes the code of /start.
bool web_server_make_code(struct web_server *s);
// Serves until must_end returns true, which is asked after each signal. The
// caller blocks the signals, and they come only while the server waits.
void web_server_run(struct web_server *s, bool (*must_end)(void));
void web_server_close(struct web_server *s);

#endif
