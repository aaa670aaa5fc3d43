// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list names public functions of libraries before internal ones, because a
// library without debug information has names for public functions only. It
// lacks the functions whose block belongs to the caller, such as strdup, fopen
// and newlocale.

#include "leaks/kept_by_libc.h"

#include "write/std_frames.h"

static const char patterns[] =
    // The loader's structures for modules, and the storage of a thread's
    // thread-local variables. libc reuses the stacks of threads that have
    // ended, and keeps this storage with the stack.
    "leak:/ld-linux\n"
    "leak:/libgcc_s.so\n"
    "leak:^pthread_create*$\n"
    "leak:^_dl_*\n"
    "leak:^allocate_dtv$\n"
    "leak:^__tls_get_addr*$\n"
    "leak:^dlopen*$\n"
    "leak:^dlmopen*$\n"
    "leak:^dlsym*$\n"
    "leak:^dlvsym*$\n"
    "leak:^dlclose*$\n"
    "leak:^dlerror*$\n"
    "leak:^backtrace$\n"
    "leak:^_Unwind_*\n"
    "leak:^__register_frame*\n"
    "leak:^__deregister_frame*\n"
    "leak:^__emutls_get_address$\n"
    // Thread-specific values, and handlers of fork and exit.
    "leak:^pthread_setspecific*$\n"
    "leak:^__pthread_setspecific$\n"
    "leak:^tss_set$\n"
    "leak:^pthread_atfork$\n"
    "leak:^__register_atfork$\n"
    "leak:^atexit$\n"
    "leak:^on_exit$\n"
    "leak:^at_quick_exit$\n"
    "leak:^__cxa_atexit$\n"
    "leak:^__cxa_at_quick_exit$\n"
    "leak:^__cxa_thread_atexit*\n"
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
    // Locales, messages, character sets and time zones.
    "leak:^setlocale$\n"
    "leak:^_nl_*\n"
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
    "leak:^__gconv_*\n"
    "leak:^__wcsmbs_*\n"
    "leak:^btowc$\n"
    "leak:^*mbrtowc$\n"
    "leak:^*wcrtomb$\n"
    "leak:^strerror*$\n"
    "leak:^strsignal$\n"
    "leak:^tzset*$\n"
    "leak:^__tz*\n"
    "leak:^*localtime*$\n"
    "leak:^*gmtime*$\n"
    "leak:^*mktime*$\n"
    // Databases of users, groups, hosts and services.
    "leak:^getpw*\n"
    "leak:^getgr*\n"
    "leak:^getsp*\n"
    "leak:^gethost*\n"
    "leak:^getserv*\n"
    "leak:^getproto*\n"
    "leak:^getnet*\n"
    "leak:^__nss_*\n"
    "leak:^__res*\n"
    "leak:^__check_pf$\n"
    "leak:^getmntent$\n"
    // The C++ library: locales and their caches, the buffers of std::cin,
    // std::cout and std::cerr, and the memory for exceptions when the heap is
    // exhausted.
    "leak:^std::locale::*\n"
    "leak:^std::__1::locale::*\n"
    "leak:std::num_put<*>::_M_insert_\n"
    "leak:std::num_get<*>::_M_extract_\n"
    "leak:std::*money_put<*>::_M_insert\n"
    "leak:std::*money_get<*>::_M_extract\n"
    "leak:^std::ios_base::Init::*\n"
    "leak:^std::ios_base::sync_with_stdio*\n"
    "leak:^__cxa_get_globals*\n"
    "leak:^_GLOBAL__sub_I_eh_alloc*\n"
    "leak:^(anonymous namespace)::pool::pool*\n"
    "leak:^__gnu_cxx::__freeres*\n";

void kept_by_libc_init(struct suppressions *s) {
  char error[128];
  suppressions_parse(s, patterns, sizeof patterns - 1, error, sizeof error);
}

struct suppression *kept_by_libc_find(struct suppressions *s,
                                      const struct profile *p,
                                      const struct sample *sample) {
  const uint32_t *locations = &p->stack_locations[sample->first_location];
  for (uint32_t i = 0; i < sample->location_count; i++) {
    const struct location *l = &p->locations[locations[i]];
    struct suppression *found = suppressions_find_location(s, p, l);
    if (found || l->mapping == NO_MAPPING ||
        !mprof_is_std_module(p->strings[p->mappings[l->mapping].file]))
      return found;
  }
  return NULL;
}
