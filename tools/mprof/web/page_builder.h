// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a page again and again, each time in a process of its own. So a slow
// page does not block the server, and a page that fails does not end it.

#ifndef MPROF_TOOL_PAGE_BUILDER_H
#define MPROF_TOOL_PAGE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A page that clients may still receive while a newer one is there.
struct web_page {
  unsigned uses;
  unsigned long version;
  char *at;
  size_t length;
};

struct web_page *web_page_use(struct web_page *page);
// Frees the page at the last use. page: may be NULL.
void web_page_release(struct web_page *page);

struct page_builder {
  // Runs in the child. Writes the page to standard output, and messages to
  // standard error. Returns the exit status.
  int (*make)(void *arg, unsigned long version);
  void *arg;
  struct web_page *page; // the newest good page, or NULL
  char *error;           // messages of the last attempt; NULL: it was good
  unsigned long attempts;
  pid_t child; // 0: none
  int page_fd, error_fd;
  int64_t started_ms;
};

// Begins to make a page, unless one is being made. Returns false if that is not
// possible; the error is then set.
bool page_builder_start(struct page_builder *b);
// Returns whether a page is being made. Takes the page if it is complete. A
// page that needs more than a minute fails.
bool page_builder_is_busy(struct page_builder *b);
// Ends the child, and frees the page.
void page_builder_end(struct page_builder *b);

#endif
