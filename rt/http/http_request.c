// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the head of an HTTP/1.1 request; see http_request.h. The rules are
// those of RFC 9112. Where the RFC lets a server accept deviating forms, this
// parser refuses them, except that a line may end with LF alone.

#include "http/http_request.h"

#include <arpa/inet.h>
#include <string.h>

enum { BAD = 400, TOO_LARGE = 431, NOT_IMPLEMENTED = 501, OTHER_VERSION = 505 };

// --- characters ---

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_token_char(char c) {
  return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c; }

// Compares without regard to upper and lower case. `word` is in lower case.
static bool equals(struct mprof_http_text t, const char *word) {
  const size_t len = strlen(word);
  if (t.len != len)
    return false;
  for (size_t i = 0; i < len; i++)
    if (lower(t.p[i]) != word[i])
      return false;
  return true;
}

static int hex_value(char c) {
  c = lower(c);
  return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Decodes the %XX at p, before end. Returns the character, or -1 if it is
// malformed or is a control character.
static int decode(const char *p, const char *end) {
  if (end - p < 3)
    return -1;
  const int high = hex_value(p[1]), low = hex_value(p[2]);
  const int c = 16 * high + low;
  return high < 0 || low < 0 || c < ' ' || c == 0x7f ? -1 : c;
}

// --- the request line ---

static enum mprof_http_method method_of(struct mprof_http_text t) {
  // The names of methods are case-sensitive.
  if (t.len == 3 && memcmp(t.p, "GET", 3) == 0)
    return MPROF_HTTP_GET;
  if (t.len == 4 && memcmp(t.p, "HEAD", 4) == 0)
    return MPROF_HTTP_HEAD;
  if (t.len == 4 && memcmp(t.p, "POST", 4) == 0)
    return MPROF_HTTP_POST;
  return MPROF_HTTP_OTHER;
}

// Skips "http://host" in front of the path, which proxies send.
static char *skip_authority(char *p, const char *end) {
  static const char scheme[] = "http://";
  const size_t len = sizeof(scheme) - 1;
  if ((size_t)(end - p) < len || memcmp(p, scheme, len) != 0)
    return p;
  p += len;
  while (p < end && *p != '/' && *p != '?')
    p++;
  return p;
}

// Parses the target of the request, from p to end. *end is a blank, which is
// overwritten by the terminating 0 of the path. Returns whether the target is
// valid.
static bool parse_target(char *p, char *end, struct mprof_http_request *r) {
  p = skip_authority(p, end);
  if (p == end || *p != '/')
    return false;
  r->path = p;
  char *to = p;
  for (; p < end && *p != '?'; p++) {
    int c = (unsigned char)*p;
    if (c == '%') {
      c = decode(p, end);
      p += 2;
    }
    if (c <= ' ' && c != ' ')
      return false;
    if (c < 0 || c == 0x7f)
      return false;
    *to++ = (char)c;
  }
  if (p < end)
    r->query = (struct mprof_http_text){p + 1, (size_t)(end - p - 1)};
  for (size_t i = 0; i < r->query.len; i++)
    if ((unsigned char)r->query.p[i] <= ' ' || r->query.p[i] == 0x7f)
      return false;
  *to = '\0';
  return true;
}

static int parse_version(struct mprof_http_text t,
                         struct mprof_http_request *r) {
  static const char http[] = "HTTP/";
  const size_t len = sizeof(http) - 1;
  if (t.len != len + 3 || memcmp(t.p, http, len) != 0 || !is_digit(t.p[len]) ||
      t.p[len + 1] != '.' || !is_digit(t.p[len + 2]))
    return BAD;
  if (t.p[len] != '1')
    return OTHER_VERSION;
  r->is_http_1_0 = t.p[len + 2] == '0';
  r->keeps_connection = !r->is_http_1_0;
  return MPROF_HTTP_OK;
}

// Parses the request line, which ends before `end`.
static int parse_first_line(char *p, char *end, struct mprof_http_request *r) {
  char *blank = memchr(p, ' ', (size_t)(end - p));
  if (blank == NULL || blank == p)
    return BAD;
  const struct mprof_http_text method = {p, (size_t)(blank - p)};
  for (size_t i = 0; i < method.len; i++)
    if (!is_token_char(method.p[i]))
      return BAD;
  r->method = method_of(method);
  char *target = blank + 1;
  blank = memchr(target, ' ', (size_t)(end - target));
  if (blank == NULL)
    return BAD;
  const struct mprof_http_text version = {blank + 1, (size_t)(end - blank - 1)};
  const int status = parse_version(version, r);
  if (status != MPROF_HTTP_OK)
    return status;
  return parse_target(target, blank, r) ? MPROF_HTTP_OK : BAD;
}

// --- the headers ---

// The contents of the headers that were read so far.
struct seen {
  bool has_host, has_length, closes, keeps;
};

// Handles the words of the header Connection, which are separated by commas.
static void parse_connection(struct mprof_http_text v, struct seen *s) {
  const char *end = v.p + v.len;
  for (const char *p = v.p; p < end;) {
    while (p < end && (*p == ',' || *p == ' ' || *p == '\t'))
      p++;
    const char *word = p;
    while (p < end && *p != ',' && *p != ' ' && *p != '\t')
      p++;
    const struct mprof_http_text t = {word, (size_t)(p - word)};
    s->closes |= equals(t, "close");
    s->keeps |= equals(t, "keep-alive");
  }
}

static bool parse_length(struct mprof_http_text v,
                         struct mprof_http_request *r) {
  uint64_t n = 0;
  for (size_t i = 0; i < v.len; i++)
    if (!is_digit(v.p[i]) || __builtin_mul_overflow(n, 10, &n) ||
        __builtin_add_overflow(n, (uint64_t)(v.p[i] - '0'), &n))
      return false;
  r->body_len = n;
  return v.len > 0;
}

// Handles one header. A second Host or Content-Length is an error, because a
// proxy before this server may have used the other one.
static int apply(struct mprof_http_text name, struct mprof_http_text v,
                 struct mprof_http_request *r, struct seen *s) {
  if (equals(name, "host")) {
    if (s->has_host)
      return BAD;
    s->has_host = true;
    r->host = v;
  } else if (equals(name, "content-length")) {
    if (s->has_length || !parse_length(v, r))
      return BAD;
    s->has_length = true;
  } else if (equals(name, "transfer-encoding")) {
    return NOT_IMPLEMENTED;
  } else if (equals(name, "connection")) {
    parse_connection(v, s);
  } else if (equals(name, "expect")) {
    r->expects_continue = equals(v, "100-continue");
  } else if (equals(name, "origin")) {
    r->is_foreign = true;
  } else if (equals(name, "sec-fetch-site")) {
    r->is_foreign |= !equals(v, "same-origin") && !equals(v, "none");
  }
  return MPROF_HTTP_OK;
}

static int parse_header(const char *p, const char *end,
                        struct mprof_http_request *r, struct seen *s) {
  const char *colon = p;
  while (colon < end && is_token_char(*colon))
    colon++;
  if (colon == p || colon == end || *colon != ':')
    return BAD;
  const char *v = colon + 1;
  while (v < end && (*v == ' ' || *v == '\t'))
    v++;
  while (end > v && (end[-1] == ' ' || end[-1] == '\t'))
    end--;
  for (const char *q = v; q < end; q++)
    if (((unsigned char)*q < ' ' && *q != '\t') || *q == 0x7f)
      return BAD;
  return apply((struct mprof_http_text){p, (size_t)(colon - p)},
               (struct mprof_http_text){v, (size_t)(end - v)}, r, s);
}

// --- the head ---

// Returns the end of the line at p, without its CR or LF, and sets *next to the
// start of the next line. Returns NULL if the line's end has not arrived.
static char *line_end(char *p, const char *end, char **next) {
  char *lf = memchr(p, '\n', (size_t)(end - p));
  if (lf == NULL)
    return NULL;
  *next = lf + 1;
  return lf > p && lf[-1] == '\r' ? lf - 1 : lf;
}

// Returns the byte after the final empty line of the head at p, or NULL if this
// line has not arrived.
static char *head_end(char *p, const char *end) {
  char *next;
  for (char *e; (e = line_end(p, end, &next)) != NULL; p = next)
    if (e == p)
      return next;
  return NULL;
}

// Returns the error of a head that has not arrived completely, or 0. Bytes that
// can never become a request are refused at once.
static int check_incomplete(const char *p, size_t len, size_t all) {
  if (all >= MPROF_HTTP_HEAD_MAX)
    return TOO_LARGE;
  return len > 0 && !is_token_char(*p) && *p != '\r' ? BAD : 0;
}

static int parse_headers(char *p, const char *end,
                         struct mprof_http_request *r) {
  struct seen s = {0};
  char *next;
  for (char *e; (e = line_end(p, end, &next)) != NULL && e != p; p = next) {
    const int status = parse_header(p, e, r, &s);
    if (status != MPROF_HTTP_OK)
      return status;
  }
  if (!s.has_host && !r->is_http_1_0)
    return BAD;
  r->keeps_connection = (r->keeps_connection || s.keeps) && !s.closes;
  return MPROF_HTTP_OK;
}

int mprof_http_parse(char *data, size_t len, struct mprof_http_request *r) {
  char *p = data, *next;
  const char *limit =
      data + (len < MPROF_HTTP_HEAD_MAX ? len : MPROF_HTTP_HEAD_MAX);
  *r = (struct mprof_http_request){0};
  // Some clients send an empty line after the body of a request.
  while (p < limit &&
         (*p == '\n' || (*p == '\r' && p + 1 < limit && p[1] == '\n')))
    p += 1 + (*p == '\r');
  char *end = head_end(p, limit);
  if (end == NULL)
    return check_incomplete(p, (size_t)(limit - p), (size_t)(limit - data));
  r->head_len = (size_t)(end - data);
  char *first_end = line_end(p, end, &next);
  const int status = parse_first_line(p, first_end, r);
  return status == MPROF_HTTP_OK ? parse_headers(next, end, r) : status;
}

// --- parameters ---

static enum mprof_parameter decode_value(const char *p, const char *end,
                                         char *value, size_t cap) {
  size_t n = 0;
  for (; p < end; p++) {
    int c = *p == '+' ? ' ' : (unsigned char)*p;
    if (c == '%') {
      c = decode(p, end);
      p += 2;
    }
    if (c <= 0)
      return MPROF_PARAMETER_MALFORMED;
    if (n + 1 >= cap)
      return MPROF_PARAMETER_LONG;
    value[n++] = (char)c;
  }
  value[n] = '\0';
  return MPROF_PARAMETER_GOOD;
}

enum mprof_parameter mprof_http_parameter(struct mprof_http_text query,
                                          const char *name, char *value,
                                          size_t cap) {
  if (query.p == NULL)
    return MPROF_PARAMETER_ABSENT;
  const size_t name_len = strlen(name);
  const char *end = query.p + query.len;
  for (const char *p = query.p; p < end;) {
    const char *stop = memchr(p, '&', (size_t)(end - p));
    if (stop == NULL)
      stop = end;
    const size_t len = (size_t)(stop - p);
    if (len < name_len || memcmp(p, name, name_len) != 0 ||
        (len > name_len && p[name_len] != '=')) {
      p = stop + (stop < end);
      continue;
    }
    p += name_len + (len > name_len);
    const enum mprof_parameter found = decode_value(p, stop, value, cap);
    if (found != MPROF_PARAMETER_GOOD)
      memcpy(value, "?", sizeof("?"));
    return found;
  }
  return MPROF_PARAMETER_ABSENT;
}

// --- the host ---

// A port may be empty. (RFC 9110, 4.2.1)
static bool is_port(const char *p, const char *end) {
  unsigned n = 0;
  for (; p < end && is_digit(*p) && n <= UINT16_MAX; p++)
    n = 10 * n + (unsigned)(*p - '0');
  return p == end && n <= UINT16_MAX;
}

static bool is_ipv4(const char *name) {
  struct in_addr a;
  return inet_pton(AF_INET, name, &a) == 1 && a.s_addr != INADDR_ANY;
}

static bool is_ipv6(const char *name) {
  struct in6_addr a;
  return inet_pton(AF_INET6, name, &a) == 1 && !IN6_IS_ADDR_UNSPECIFIED(&a) &&
         !IN6_IS_ADDR_V4MAPPED(&a);
}

bool mprof_http_is_address(struct mprof_http_text host) {
  char name[INET6_ADDRSTRLEN];
  if (host.p == NULL || host.len == 0)
    return true;
  const char *begin = host.p, *end = host.p + host.len;
  const bool is_v6 = *begin == '[';
  const char *stop = memchr(begin, is_v6 ? ']' : ':', host.len);
  begin += is_v6;
  if (is_v6 && stop == NULL)
    return false;
  const char *port = stop == NULL ? end : stop + is_v6;
  if (stop == NULL)
    stop = end;
  const size_t len = (size_t)(stop - begin);
  if (len >= sizeof(name) ||
      (port < end && (*port != ':' || !is_port(port + 1, end))))
    return false;
  memcpy(name, begin, len);
  name[len] = '\0';
  return is_v6 ? is_ipv6(name)
               : equals((struct mprof_http_text){name, len}, "localhost") ||
                     is_ipv4(name);
}

// --- status codes ---

// An array instead of a pointer needs no relocation at the start of each
// program.
static const struct {
  int status;
  char text[36];
} statuses[] = {
    {200, "OK"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {400, "Bad Request"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {409, "Conflict"},
    {413, "Request Entity Too Large"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

const char *mprof_http_status_text(int status) {
  for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
    if (statuses[i].status == status)
      return statuses[i].text;
  return "";
}
