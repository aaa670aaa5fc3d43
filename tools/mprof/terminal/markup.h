// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints text from a file in the languages of documents. No text can end its
// place in the document or add markup. Invalid UTF-8 and control characters are
// replaced: the end of a line by blanks.

#ifndef MPROF_TOOL_MARKUP_H
#define MPROF_TOOL_MARKUP_H

#include <stdio.h>

// Prints text for a paragraph or a table cell of Markdown. Escapes everything
// that Markdown or HTML could take for markup.
void markup_put_markdown(FILE *out, const char *text);
// Prints each line of the text as a paragraph of Markdown, each behind an empty
// line.
void markup_put_paragraphs(FILE *out, const char *lines);
// Prints text for the content of an HTML element, or for an attribute's value
// in quotation marks.
void markup_put_html(FILE *out, const char *text);

// Prints the lines of a text for an element of HTML that keeps ends of lines.
void markup_put_html_lines(FILE *out, const char *lines);

#endif
