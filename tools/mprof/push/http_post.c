// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "push/http_post.h"

#include "common/clock.h"
#include "common/memory.h"
#include "push/ending.h"

#include <ctype.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_MS = 5000, WHOLE_MS = 15000, REPLY_MAX = 64 << 10 };

// The functions of libcurl that are used.
#define FUNCTIONS(X)                                                           \
  X(curl_global_init)                                                          \
  X(curl_easy_init)                                                            \
  X(curl_easy_setopt)                                                          \
  X(curl_easy_perform)                                                         \
  X(curl_easy_getinfo)                                                         \
  X(curl_easy_cleanup)                                                         \
  X(curl_easy_strerror)                                                        \
  X(curl_slist_append)                                                         \
  X(curl_slist_free_all)

// The headers of libcurl define some of the names as macros that check types.
#undef curl_easy_setopt
#undef curl_easy_getinfo

static struct {
#define X(Name) __typeof__(&Name) Name;
  FUNCTIONS(X)
#undef X
  bool is_loaded;
} curl;

const char *http_post_load(void) {
  static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return "cannot load libcurl.so.4; install the package libcurl4";
  if (curl.is_loaded)
    return NULL;
#define X(Name)                                                                \
  if (!(curl.Name = (__typeof__(curl.Name))dlsym(library, #Name)))             \
    return "libcurl.so.4 has no function " #Name;
  FUNCTIONS(X)
#undef X
  if (curl.curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
    return "cannot start libcurl";
  curl.is_loaded = true;
  return NULL;
}

// --- headers ---

static struct curl_slist *add(struct curl_slist *list, const char *name,
                              const char *value) {
  char line[1024];
  if ((size_t)snprintf(line, sizeof line, "%s%s", name, value) >= sizeof line)
    return list;
  struct curl_slist *longer = curl.curl_slist_append(list, line);
  return longer ? longer : list;
}

// Adds the headers in the file. The file is read at each request, because
// tokens are renewed. Returns false, with a reason, if it cannot be read.
static bool add_file(struct curl_slist **list, const char *path,
                     struct http_reply *reply) {
  char line[8192];
  FILE *f = fopen(path, "r");
  if (!f) {
    snprintf(reply->why, sizeof reply->why, "cannot read %s: %s", path,
             strerror(errno));
    return false;
  }
  while (fgets(line, sizeof line, f)) {
    size_t length = strlen(line);
    while (length && isspace((unsigned char)line[length - 1]))
      line[--length] = '\0';
    if (length)
      *list = curl.curl_slist_append(*list, line);
  }
  fclose(f);
  return true;
}

static struct curl_slist *make_headers(const struct http_post *post) {
  struct curl_slist *list = add(NULL, "Content-Type: ", post->content_type);
  if (post->content_encoding)
    list = add(list, "Content-Encoding: ", post->content_encoding);
  // Without this, libcurl first asks whether it may send a large body.
  return add(list, "Expect:", "");
}

// --- the reply ---

static size_t take_body(char *data, size_t size, size_t count, void *arg) {
  struct http_reply *reply = arg;
  const size_t length = size * count;
  size_t room = REPLY_MAX - reply->body.length;
  room = room < length ? room : length;
  if (!reply->body.at)
    reply->body.at = zeroed(REPLY_MAX + 1, 1);
  memcpy(reply->body.at + reply->body.length, data, room);
  reply->body.length += room;
  return length;
}

// The first line of the reply's body explains an error.
static void explain(struct http_reply *reply) {
  const char *text = reply->body.at ? (const char *)reply->body.at : "";
  const int length = (int)strcspn(text, "\r\n");
  snprintf(reply->why, sizeof reply->why, "status %d%s%.*s", reply->status,
           length ? ": " : "", length, text);
}

struct progress {
  int64_t (*ends_since)(void);
  int64_t begin_ms; // of the request
};

// (libcurl: CURLOPT_XFERINFOFUNCTION)
static int look_at_time(void *arg, curl_off_t a, curl_off_t b, curl_off_t c,
                        curl_off_t d) {
  const struct progress *p = arg;
  (void)a, (void)b, (void)c, (void)d;
  const int64_t since = p->ends_since(), now = clock_now_ms();
  return now - ENDING_SEND_MS >= (since > p->begin_ms ? since : p->begin_ms);
}

static void perform(CURL *easy, struct http_reply *reply) {
  const CURLcode error = curl.curl_easy_perform(easy);
  if (error != CURLE_OK) {
    snprintf(reply->why, sizeof reply->why, "%s",
             error == CURLE_ABORTED_BY_CALLBACK
                 ? "no reply before the end"
                 : curl.curl_easy_strerror(error));
    return;
  }
  long status = 0;
  curl_off_t after = 0;
  curl.curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  curl.curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &after);
  reply->status = (int)status;
  reply->retry_after_s = after > 0 && after < 3600 ? (long)after : 0;
  if (status < 200 || status > 299)
    explain(reply);
}

void http_post(const struct http_post *post, struct http_reply *reply) {
  *reply = (struct http_reply){.status = 0};
  CURL *easy = curl.curl_easy_init();
  if (!easy) {
    strcpy(reply->why, "out of memory");
    return;
  }
  struct curl_slist *headers = make_headers(post);
  curl.curl_easy_setopt(easy, CURLOPT_URL, post->url);
  curl.curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl.curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post->body->at);
  curl.curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                        (curl_off_t)post->body->length);
  curl.curl_easy_setopt(easy, CURLOPT_USERAGENT, "mprof/" MPROF_VERSION);
  curl.curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl.curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
  curl.curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)WHOLE_MS);
  curl.curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
  curl.curl_easy_setopt(easy, CURLOPT_WRITEDATA, reply);
  struct progress progress = {post->ends_since, clock_now_ms()};
  if (post->ends_since) {
    curl.curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, look_at_time);
    curl.curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &progress);
    curl.curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  }
  if (post->ca_file)
    curl.curl_easy_setopt(easy, CURLOPT_CAINFO, post->ca_file);
  if (!post->auth_file || add_file(&headers, post->auth_file, reply)) {
    curl.curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    perform(easy, reply);
  }
  curl.curl_slist_free_all(headers);
  curl.curl_easy_cleanup(easy);
}
