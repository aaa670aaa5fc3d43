// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lists name public functions of libraries before internal ones, because a
// library without debug information has names for public functions only.

#include "leaks/kept_by_libc.h"

#include "compare/noise.h"
#include "view/estimate.h"
#include "write/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Functions whose blocks a library keeps. Lacks the functions whose block
// belongs to the caller, such as strdup, fopen and regcomp.
static const char keep[] =
    // The loader's structures for modules, and thread-local variables of
    // modules that the program opens. A module that is not closed is no leak.
    "leak:^_dl_*\n"
    "leak:^__tls_get_addr*$\n"
    "leak:^dlopen*$\n"
    "leak:^dlmopen*$\n"
    "leak:^dlsym*$\n"
    "leak:^dlvsym*$\n"
    "leak:^dlclose*$\n"
    "leak:^dlerror*$\n"
    "leak:^backtrace$\n"
    "leak:^__backtrace$\n"
    "leak:^__libc_unwind_link_get$\n"
    // Thread-specific values, and handlers of fork and exit.
    "leak:^*pthread_setspecific*$\n"
    "leak:^tss_set$\n"
    "leak:^pthread_atfork$\n"
    "leak:^__register_atfork$\n"
    "leak:^atexit$\n"
    "leak:^on_exit$\n"
    "leak:^at_quick_exit$\n"
    "leak:^__cxa_atexit$\n"
    "leak:^__cxa_at_quick_exit$\n"
    "leak:^__cxa_thread_atexit*$\n"
    "leak:^__new_exitfn$\n"
    // The environment. libc never frees an old value, because the program may
    // still use it.
    "leak:^setenv$\n"
    "leak:^putenv$\n"
    "leak:^unsetenv$\n"
    "leak:^__add_to_environ$\n"
    // Buffers of stdio streams. libc keeps those of stdin, stdout and stderr. A
    // stream that the program does not close is still a leak, because its FILE
    // is another block.
    "leak:^_IO_file_doallocate$\n"
    "leak:^_IO_wfile_doallocate$\n"
    // Locales and messages. libc keeps the lists of their files. It frees the
    // data of a locale with the last locale_t.
    "leak:^setlocale$\n"
    "leak:^_nl_make_l10nflist$\n"
    "leak:^_nl_expand_alias$\n"
    "leak:^_nl_load_locale_from_archive$\n"
    "leak:^bindtextdomain$\n"
    "leak:^bind_textdomain_codeset$\n"
    "leak:^set_binding_values$\n"
    "leak:^textdomain$\n"
    "leak:^__textdomain$\n"
    "leak:^gettext$\n"
    "leak:^*dgettext$\n"
    "leak:^*dcgettext$\n"
    "leak:^*ngettext$\n"
    "leak:^__dcigettext$\n"
    // The modules of character sets, and the conversions of the locale. iconv_t
    // belongs to the caller.
    "leak:^__gconv_find_shlib$\n"
    "leak:^__gconv_load_cache$\n"
    "leak:^__gconv_load_conf*$\n"
    "leak:^__wcsmbs_*\n"
    "leak:^btowc$\n"
    "leak:^*mbrtowc$\n"
    "leak:^*wcrtomb$\n"
    // Texts of errors, and time zones.
    "leak:^strerror*$\n"
    "leak:^strsignal$\n"
    "leak:^tzset*$\n"
    "leak:^__tz*$\n"
    "leak:^*localtime*$\n"
    "leak:^*gmtime*$\n"
    "leak:^*mktime*$\n"
    // Databases of users, groups, hosts and services, and the resolver of a
    // thread.
    "leak:^getpw*$\n"
    "leak:^getgr*$\n"
    "leak:^getsp*$\n"
    "leak:^gethost*$\n"
    "leak:^getserv*$\n"
    "leak:^getproto*$\n"
    "leak:^getnet*$\n"
    "leak:^__nss_*$\n"
    "leak:^res_init$\n"
    "leak:^__resolv_context_*$\n"
    "leak:^__resolv_conf_get_current$\n"
    "leak:^__check_pf$\n"
    "leak:^getmntent$\n"
    // The C++ library: the classic locale, what std::locale::global keeps, the
    // caches of locales, the buffers of std::cin, std::cout and std::cerr, and
    // the memory for exceptions when the heap is exhausted.
    "leak:^std::locale::global*\n"
    "leak:^std::locale::classic*\n"
    "leak:^std::locale::_S_initialize*\n"
    "leak:^std::__1::locale::global*\n"
    "leak:^std::__1::locale::classic*\n"
    "leak:^std::__1::locale::__global*\n"
    "leak:^std::__1::locale::__imp::make_*\n"
    "leak:std::num_put<*>::_M_insert_\n"
    "leak:std::num_get<*>::_M_extract_\n"
    "leak:std::*money_put<*>::_M_insert\n"
    "leak:std::*money_get<*>::_M_extract\n"
    "leak:^std::ios_base::Init::*\n"
    "leak:^std::ios_base::sync_with_stdio*\n"
    "leak:^__cxa_get_globals*\n"
    "leak:^_GLOBAL__sub_I_eh_alloc.cc$\n"
    "leak:^(anonymous namespace)::pool::pool*\n"
    "leak:^__gnu_cxx::__freeres*\n";

// Functions that allocate the storage of a new thread. libc keeps it with the
// stack of the thread, and uses the stacks of some ended threads again.
static const char threads[] = "leak:^*pthread_create*$\n"
                              "leak:^thrd_create$\n"
                              "leak:^_dl_allocate_tls$\n"
                              "leak:^allocate_dtv$\n";

// Functions whose blocks a library keeps, unless one of the functions below has
// called them.
static const char keep_own[] = "leak:^_nl_*\n"
                               "leak:^__gconv_*\n"
                               "leak:^__res*\n";

// Functions whose blocks belong to the caller.
static const char callers[] = "leak:^iconv_open$\n"
                              "leak:^newlocale$\n"
                              "leak:^__newlocale$\n"
                              "leak:^duplocale$\n"
                              "leak:^__duplocale$\n"
                              "leak:^res_ninit$\n"
                              "leak:^__res_ninit$\n"
                              "leak:^getaddrinfo$\n";

// glibc keeps at most 40 MiB of stacks of ended threads. Threads of most
// programs have at least 2 MiB, glibc's size without a limit of the system.
enum { CACHED_STACKS = 40 / 2 };

static void parse(struct suppressions *s, const char *text) {
  char error[128];
  suppressions_parse(s, text, strlen(text), error, sizeof error);
}

// Returns whether all blocks of the library are kept: it is the loader or the
// unwinder. Their functions have no names without debug information.
static bool keeps_all(const char *file) {
  static const char *const names[] = {"ld-linux", "ld-2.", "libgcc_s.so"};
  const char *base = basename(file);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(base, names[i], strlen(names[i])) == 0)
      return true;
  return false;
}

// Returns whether the location is in a library of the C or C++ standard.
static bool is_std(const struct profile *p, const struct location *l) {
  return l->mapping != NO_MAPPING &&
         mprof_is_std_module(p->strings[p->mappings[l->mapping].file]);
}

// Returns whether the location may be one of libc in a static program: its name
// is reserved, and it has no source file.
static bool may_be_static(const struct profile *p, const struct location *l) {
  if (l->line_count != 1)
    return false;
  const struct function *f = &p->functions[p->lines[l->first_line].function];
  const char *name = p->strings[f->name];
  return !*p->strings[f->file] &&
         (*name == '_' || strcmp(name, "allocate_dtv") == 0);
}

// Returns whether the list has the function. is_exact: only by its full name.
static bool has(struct suppressions *list, const struct profile *p,
                string_id name, bool is_exact) {
  const struct suppression *s = suppressions_find_text(list, p, name);
  return s && !(is_exact && strchr(s->pattern, '*'));
}

// --- the global locale of C++ ---

static bool calls(struct suppressions *list, const struct profile *p,
                  const struct location *l) {
  for (uint32_t i = 0; i < l->line_count; i++)
    if (has(list, p, p->functions[p->lines[l->first_line + i].function].name,
            false))
      return true;
  return false;
}

// Decides whether the profile has no more locales than std::locale::global may
// keep: one in each process. A constructor of std::locale allocates one block
// itself, and other functions allocate the others.
static void count_locales(struct kept_by_libc *k, const struct profile *p) {
  const int type = profile_find_type(p, "inuse_objects");
  double count = 0, variance = 0;
  for (size_t i = 0; i < p->sample_count && type >= 0; i++) {
    const struct sample *s = &p->samples[i];
    if (!s->location_count)
      continue;
    const struct location *l =
        &p->locations[p->stack_locations[s->first_location]];
    const int64_t value = p->values[i * p->type_count + (unsigned)type];
    if (value <= 0 || !is_std(p, l) || !calls(&k->locales, p, l))
      continue;
    count += (double)value;
    variance += estimate_variance(p, s, (unsigned)type, value);
  }
  k->has_only_global =
      count - fmax(1, p->file_count) <= noise_normal(0.01) * sqrt(variance);
}

static bool is_global_locale(struct kept_by_libc *k, const struct profile *p,
                             const struct sample *sample) {
  const uint32_t *at = &p->stack_locations[sample->first_location];
  for (uint32_t i = 0; k->has_only_global && i < sample->location_count; i++) {
    const struct location *l = &p->locations[at[i]];
    if (!is_std(p, l))
      return false;
    if (calls(&k->locales, p, l))
      return true;
  }
  return false;
}

// --- all functions ---

void kept_by_libc_init(struct kept_by_libc *k, const struct profile *p) {
  parse(&k->keep, keep);
  parse(&k->keep_own, keep_own);
  parse(&k->threads, threads);
  parse(&k->callers, callers);
  parse(&k->locales, "leak:^std::locale::locale*");
  count_locales(k, p);
}

// What the search has found in the frames so far.
struct search {
  enum keeper found;
  bool is_sure; // whoever calls the functions
  bool has_ended;
};

// Looks at the next location outwards.
static void look_at(struct kept_by_libc *k, const struct profile *p,
                    const struct location *l, bool is_exact, struct search *s) {
  if (!is_exact && keeps_all(p->strings[p->mappings[l->mapping].file]))
    *s = (struct search){.found = KEPT_BY_LIBC, .is_sure = true};
  for (uint32_t i = 0; i < l->line_count && !s->has_ended; i++) {
    const string_id name =
        p->functions[p->lines[l->first_line + i].function].name;
    if (has(&k->threads, p, name, is_exact))
      *s = (struct search){.found = KEPT_WITH_THREAD, .has_ended = true};
    else if (s->is_sure)
      continue;
    else if (has(&k->callers, p, name, is_exact))
      *s = (struct search){.found = KEPT_BY_NOBODY, .has_ended = true};
    else if (has(&k->keep, p, name, is_exact))
      *s = (struct search){.found = KEPT_BY_LIBC, .is_sure = true};
    else if (has(&k->keep_own, p, name, is_exact))
      s->found = KEPT_BY_LIBC;
  }
}

enum keeper kept_by_libc_find(struct kept_by_libc *k, const struct profile *p,
                              const struct sample *sample) {
  const uint32_t *at = &p->stack_locations[sample->first_location];
  struct search s = {.found = KEPT_BY_NOBODY};
  if (!k->keep.count)
    return KEPT_BY_NOBODY;
  if (is_global_locale(k, p, sample))
    return KEPT_BY_LIBC;
  for (uint32_t i = 0; i < sample->location_count && !s.has_ended; i++) {
    const struct location *l = &p->locations[at[i]];
    const bool is_library = is_std(p, l);
    if (is_library || (i == 0 && may_be_static(p, l)))
      look_at(k, p, l, !is_library, &s);
    s.has_ended |= !is_library;
  }
  return s.found;
}

double kept_by_libc_threads(const struct profile *p) {
  static const char comment[] = "threads_now: ";
  double most = 0;
  for (size_t i = 0; i < p->comment_count; i++) {
    const char *text = p->strings[p->comments[i]];
    if (strncmp(text, comment, sizeof comment - 1) == 0)
      most = fmax(most, strtod(text + sizeof comment - 1, NULL));
  }
  return (most + CACHED_STACKS) * fmax(1, p->file_count);
}
