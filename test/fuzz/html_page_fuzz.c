// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: whatever bytes a profile has, the page of mprof html contains its
// texts only as strings of JSON, which cannot end the element that they are in.
// Control characters are escaped, too.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir seeds new
// RUN: for i in 1 2 5; do %python %src/test/tool/Inputs/random_profile.py $i 20 \
// RUN:   9 s.gz && gzip -dc s.gz > seeds/$i; done
// RUN: printf '"%%s"\n' '</script>' '<!--' '\x01' '\xe2\x80\xa8' > words
// RUN: T=%src/tools/mprof && %clang -std=gnu11 -D_GNU_SOURCE -g -O1 \
// RUN:   %fuzzer \
// RUN:   -I$T -I%src/tools -I%src/rt %s %tools_fuzzed -lz -lpcre2-8 -lm -o fuzz
// RUN: %S/Inputs/run.sh -runs=1200 -max_len=4096 -dict=words new

#include "files/read_profile.h"
#include "html/assets.h"
#include "html/page.h"
#include "view/short_names.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char html_script[] = "", html_style[] = "";
const size_t html_script_size = 0, html_style_size = 0;
const char html_script_hash[] = "", html_style_hash[] = "";

static char *no_losses(const struct view *v) {
  (void)v;
  return strdup("");
}

// Fails if the data contain "<", which could begin an element, or a control
// character.
static void check_page(const char *text, size_t length) {
  static const char start[] = "id=\"data\">", end[] = "</script>";
  const char *data = memmem(text, length, start, strlen(start));
  if (!data)
    abort();
  data += strlen(start);
  size_t i = 0;
  while (data[i] != '<' && ((unsigned char)data[i] >= ' ' || data[i] == '\n') &&
         data[i] != 0x7f)
    i++;
  if (strncmp(data + i, end, strlen(end)) != 0)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct bytes bytes = {.at = malloc(size + 1), .length = size};
  memcpy(bytes.at, data, size);
  struct profile *p = profile_new();
  struct page *page = page_new();
  struct view_options options = {.grain = GRAIN_FUNCTIONS};
  char error[256];
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (read_profile(p, &bytes, NULL) == NULL) {
    options.names = short_names_new((const struct profile *const[]){p}, 1);
    page_add_profile(page, p, "heap", "a.pb.gz", ROLE_SHOWN, &options,
                     no_losses, error, sizeof error);
    short_names_free(options.names);
  }
  page_write(page, &(struct page_start){.grain = GRAIN_FUNCTIONS}, out);
  fclose(out);
  check_page(text, length);
  free(text);
  profile_free(p);
  free(bytes.at);
  return 0;
}
