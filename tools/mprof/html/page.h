// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects what an HTML page shows, and writes the page. The page has one table
// of strings, frames and stacks for all its profiles, so that the script can
// compare profiles with each other.
//
// All texts of the page are strings of JSON in a <script> element that is not
// executed. The scripts (page.js and its neighbours) put them into the document
// only as text.

#ifndef MPROF_TOOL_PAGE_H
#define MPROF_TOOL_PAGE_H

#include "html/page_role.h"
#include "html/stream.h"
#include "view/view.h"

#include <stdbool.h>
#include <stdio.h>

struct page;

struct page *page_new(void);

// Adds the profile. kind, name: what the menu of profiles calls it. The options
// select stacks as they do for mprof top. Returns false and writes a message to
// error if an option is wrong. losses: returns lines that say which data a view
// lacks; the page keeps them.
bool page_add_profile(struct page *page, struct profile *p, const char *kind,
                      const char *name, enum page_role role,
                      const struct view_options *options,
                      char *(*losses)(const struct view *v), char *error,
                      size_t size);
// Adds lines of text that the overview shows for the profile that was added
// last. The page frees them.
void page_add_notes(struct page *page, char *notes);
// Adds an object of JSON to the list `traces` or `reports` of the page. The
// page frees the text.
void page_add_json(struct page *page, const char *list, char *json);

struct page_start {
  const char *type; // the value type that is shown first, or NULL
  enum view_grain grain;
  bool keeps_std;
  // Whether the page has the source lines of the frames, as far as the files
  // can be read, and where to look for them, or NULL.
  bool has_sources;
  const char *source_directory;
  // Pairs of texts: a kind of profile, and the name of such a file beside the
  // files of the page. NULL after the last pair. Or NULL.
  const char *const *beside;
  // The number of the page that a server has made, which the browser compares
  // with that of the newest page. 0: the page is a file.
  unsigned long version;
};

// Writes the Content-Security-Policy of the page: the browser runs only the
// page's own script, and loads nothing but the state of its server.
void page_put_policy(bool is_served, FILE *out);

// Writes the page and frees it.
void page_write(struct page *page, const struct page_start *start, FILE *out);

#endif
