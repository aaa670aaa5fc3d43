// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes clang with flags of MProf, for compiling and for linking. Without
// -fmprof, clang gets the unchanged arguments. mprof-clang++ is a link to this
// program, and executes clang++. It frees no text, because it soon becomes
// clang.

#include "arguments.h"
#include "clang.h"
#include "common/memory.h"
#include "places.h" // the version and the layout of this installation

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Greater than the number of arguments that MProf adds.
enum { MAX_ADDED = 128 };

// Arguments for the linker, if all facts of `with` and none of `without` hold.
// "@" stands for the directory of the target's runtime.
struct part {
  unsigned with, without; // with is 0 after the last part
  const char *arguments[18];
};

// What MProf adds before the user's arguments. So a "--" or an "-x LANGUAGE" of
// the user does not change the meaning of the added flags, and the runtime's
// constructors run first.
static const struct part first[] = {
    {LINKS_PROGRAM,
     HAS_RUNTIME,
     {"--build-id=sha1", "--whole-archive", "@libmprof_rt.a",
      "--no-whole-archive"}},
    // Without interceptors and this symbol, MProf's report says that the
    // interceptors are missing. The value of the symbol does not matter.
    {LINKS_PROGRAM,
     INTERCEPTS | HAS_INTERCEPTORS | FOR_MUSL,
     {"--defsym=mprof_intercept_is_unwanted=mprof_write_profile"}},
    // Libraries that are opened at run time need the runtime's symbols. gold
    // accepts no patterns for exported symbols, so it exports all symbols.
    {LINKS_PROGRAM,
     IS_STATIC | WITH_GOLD,
     {"--export-dynamic-symbol=__mprof_*", "--export-dynamic-symbol=mprof_*"}},
    {LINKS_PROGRAM | WITH_GOLD, IS_STATIC, {"--export-dynamic"}},
    {0, 0, {NULL}},
};

// What MProf adds after the user's arguments. The linker must see a static
// allocator of the user before the interceptors, archives that define malloc
// and other allocators. Otherwise it takes nothing from the user's allocator.
static const struct part last[] = {
    {LINKS_PROGRAM | INTERCEPTS,
     HAS_INTERCEPTORS | IS_STATIC,
     {"--whole-archive", "@libmprof_intercept.a", "--no-whole-archive"}},
    // Redirects the calls of libc and other archives to the interceptors.
    // --undefined makes the linker look for the functions that the interceptors
    // call (intercept_heap.c). gold does not rename what a definition of
    // --defsym refers to.
    {LINKS_PROGRAM | INTERCEPTS | IS_STATIC,
     HAS_INTERCEPTORS,
     {"--wrap=malloc", "--defsym=__wrap_malloc=__mprof_own_malloc",
      "--wrap=calloc", "--defsym=__wrap_calloc=__mprof_own_calloc",
      "--wrap=realloc", "--defsym=__wrap_realloc=__mprof_own_realloc",
      "--wrap=reallocarray",
      "--defsym=__wrap_reallocarray=__mprof_own_reallocarray", "--wrap=free",
      "--defsym=__wrap_free=__mprof_own_free", "--undefined=malloc",
      "--undefined=calloc", "--undefined=realloc", "--undefined=free",
      "--defsym=mprof_intercept_is_linked=__mprof_own_malloc"}},
    {LINKS_PROGRAM | INTERCEPTS | IS_STATIC,
     HAS_INTERCEPTORS | WITH_GOLD,
     {"--defsym=mprof_real_malloc=__real_malloc",
      "--defsym=mprof_real_calloc=__real_calloc",
      "--defsym=mprof_real_realloc=__real_realloc",
      "--defsym=mprof_real_free=__real_free"}},
    {LINKS_PROGRAM | INTERCEPTS | IS_STATIC | WITH_GOLD,
     HAS_INTERCEPTORS,
     {"--defsym=mprof_real_malloc=malloc", "--defsym=mprof_real_calloc=calloc",
      "--defsym=mprof_real_realloc=realloc", "--defsym=mprof_real_free=free"}},
    {LINKS_PROGRAM | INTERCEPTS | CXX_LIBRARY,
     HAS_INTERCEPTORS | NO_CXX_LIBRARY,
     {"--whole-archive", "@libmprof_rt_cxx.a", "--no-whole-archive"}},
    // A library uses the runtime of the program. So the runtime's symbols are
    // undefined in the library, and the linker would report them.
    // libmprof_link.so defines these symbols for the linker only. --as-needed
    // would drop a library that precedes the objects.
    {LINKS_LIBRARY | NO_UNDEFINED,
     HAS_DASHES | FOR_MUSL,
     {"--push-state", "--as-needed", "@libmprof_link.so", "--pop-state"}},
    {LINKS_LIBRARY | NO_UNDEFINED | HAS_DASHES,
     FOR_MUSL,
     {"--push-state", "--no-as-needed", "@libmprof_link.so", "--pop-state"}},
    {0, 0, {NULL}},
};

// What the command line for clang depends on, and its arguments so far.
struct command {
  struct arguments user;
  struct clang clang;
  bool is_cxx; // this is mprof-clang++
  const char *prefix, *library_dir;
  const char *runtime_dir; // of the target
  char **words;
  int count;
};

static bool has(const struct command *c, unsigned facts) {
  return (c->user.facts & facts) != 0;
}

static void add(struct command *c, const char *word) {
  c->words[c->count++] = (char *)word;
}

static void add_user(struct command *c) {
  for (char **word = c->user.kept; *word != NULL; word++)
    add(c, *word);
}

static void add_parts(struct command *c, const struct part *part) {
  for (; part->with != 0; part++) {
    if ((c->user.facts & part->with) != part->with || has(c, part->without))
      continue;
    for (const char *const *p = part->arguments; *p != NULL; p++) {
      const char *word = *p;
      if (*word == '@')
        word = text_of("%s/%s", c->runtime_dir, word + 1);
      add(c, "-Xlinker");
      add(c, word);
    }
  }
}

// Adds an option of the pass. -Xclang, because clang would also pass a plain
// -mllvm to the assembler, which does not know these options.
static void add_for_pass(struct command *c, const char *option) {
  add(c, "-Xclang");
  add(c, "-mllvm");
  add(c, "-Xclang");
  add(c, option);
}

// Adds the flags for compiling.
static void add_pass(struct command *c) {
  const char *const *flags = c->user.for_pass;
  if (!has(c, HAS_PLUGIN))
    add(c, text_of("-fplugin=%s/libMProf.so", c->library_dir));
  if (!has(c, HAS_PASS_PLUGIN))
    add(c, text_of("-fpass-plugin=%s/libMProf.so", c->library_dir));
  // This adds no debug information by itself. With -g1, it adds the linkage
  // names of functions. Otherwise an inlined member of a C++ class would have
  // a name without its class.
  add(c, "-fdebug-info-for-profiling");
  add(c, "-D__MPROF__=1");
  add(c, "-idirafter");
  add(c, text_of("%s/" INCLUDEDIR, c->prefix));

  if (flags[FLAG_IGNORELIST] != NULL) {
    const char *file = strchr(flags[FLAG_IGNORELIST], '=') + 1;
    if (access(file, R_OK) != 0)
      errx(1, "error: cannot read the file '%s' of -fmprof-ignorelist", file);
  }
  // MProf cannot find the unwind tables of a program with musl.
  if (has(c, FOR_MUSL) && flags[FLAG_UNWIND] != NULL &&
      strcmp(flags[FLAG_UNWIND], "-fmprof-unwind=tables") == 0)
    errx(1, "error: -fmprof-unwind=tables needs glibc: leave this flag out");
  for (int i = 0; i < PASS_FLAGS; i++)
    if (flags[i] != NULL && strncmp(flags[i], "-fno-", 5) == 0)
      add_for_pass(c, text_of("-%s=false", flags[i] + strlen("-fno-")));
    else if (flags[i] != NULL)
      add_for_pass(c, text_of("-%s", flags[i] + strlen("-f")));
  for (int kind = 0; kind < KINDS; kind++)
    if (!(c->user.kinds & 1U << kind))
      add_for_pass(c, text_of("-mprof-%s=false", kind_names[kind]));
}

// Finds the runtime for the target. Objects for another processor need none.
static void find_runtime(struct command *c) {
  const char *hint = NULL, *processor = PROCESSOR;
  c->runtime_dir = c->library_dir;
  if (c->user.target != NULL) {
    if (has(c, FOR_OTHERS) || !has(c, FOR_X86_64 | FOR_AARCH64))
      errx(1,
           "error: -fmprof supports Linux on x86-64 and arm64 (the targets "
           "x86_64-linux-gnu, x86_64-linux-musl and aarch64-linux-gnu), not %s",
           c->user.target);
    processor = has(c, FOR_X86_64) ? "x86_64" : "aarch64";
  }
  if (has(c, FOR_MUSL)) {
    c->runtime_dir = text_of("%s/musl", c->library_dir);
    hint = "install musl-tools and rebuild MProf";
  } else if (strcmp(processor, PROCESSOR) != 0) {
    c->runtime_dir =
        text_of("%s/mprof/%s-linux-gnu", c->library_dir, processor);
    if (!has(c, LINKS_NOTHING))
      hint = text_of("build and install MProf's runtime for %s-linux-gnu",
                     processor);
  }
  const char *file = text_of("%s/libmprof_rt.a", c->runtime_dir);
  if (hint != NULL && access(file, F_OK) != 0)
    errx(1, "error: cannot find %s: %s", file, hint);
}

// Finds out what the program is linked with.
static void choose_parts(struct command *c) {
  unsigned *facts = &c->user.facts;
  // MProf has no interceptors for musl. Calls must reach the program's own
  // wrapper of malloc, or that of a sanitizer.
  if (c->user.intercepts && c->user.kinds & 1 << KIND_HEAP &&
      !has(c, NO_LIBRARIES | FOR_MUSL | WRAPS_ALLOCATOR | MALLOC_SANITIZER))
    *facts |= INTERCEPTS;
  // In a static program that is linked by mprof-clang, the user's C++ library
  // comes before the interceptors. The linker does not search it again for
  // libmprof_rt_cxx.a.
  if (c->is_cxx)
    *facts |= CXX_LIBRARY;
  else if (has(c, IS_STATIC))
    *facts &= ~CXX_LIBRARY;
}

// Adds the user's arguments and the flags of MProf.
static void add_profiled(struct command *c) {
  clang_check(&c->clang);
  find_runtime(c);
  choose_parts(c);
  // Nobody has tried whether MProf reads the stacks of such programs.
  if (has(c, SAFE_STACK))
    errx(1, "error: this version cannot combine -fmprof with "
            "-fsanitize=safe-stack");
  // A clang of a glibc system does not find musl's headers and libraries by
  // itself. musl.cfg names their directories.
  if (has(c, FOR_MUSL) && !has(c, NAMES_LIBC))
    add(c, text_of("--config=%s/" DATADIR "/mprof/musl.cfg", c->prefix));
  add(c, "--start-no-unused-arguments");
  add_pass(c);
  add_parts(c, first);
  if (has(c, HAS_DASHES))
    add_parts(c, last);
  add(c, "--end-no-unused-arguments");
  add_user(c);
  if (!has(c, HAS_DASHES))
    add_parts(c, last);
}

static void print_help(const struct clang *clang) {
  printf("\nOPTIONS OF MPROF:\n"
         "  -fmprof[=KIND,...]      Profile these kinds: " KINDS_TEXT "\n"
         "  -fno-mprof[=KIND,...]   Do not profile these kinds\n"
         "  -fmprof-ignorelist=FILE Do not count the functions and files that "
         "FILE lists\n"
         "  -fmprof-nested=MODE     Blocks to count if allocators call each "
         "other: written,\n"
         "                          outermost, each\n"
         "  -fmprof-unwind=WAY      How to follow stacks: tables, frames\n"
         "  -fmprof-coroutines      Let stacks continue into awaiting C++20 "
         "coroutines\n"
         "  -fmprof-alloc-size      Treat functions with alloc_size as "
         "allocators\n"
         "  -fno-mprof-types        Put no types of blocks into the debug "
         "information\n"
         "  -fno-mprof-intercept    Do not count allocations of code without "
         "-fmprof\n"
         "Compile and link with the same options. %s runs %s;\n"
         "MPROF_CLANG chooses another clang.\n",
         program_invocation_short_name, clang->name);
}

// Returns the directory below which this program is installed.
static const char *find_prefix(void) {
  char *path = realpath("/proc/self/exe", NULL);
  if (path == NULL)
    err(1, "error: cannot read /proc/self/exe");
  *strrchr(path, '/') = '\0';
  const char *prefix = realpath(text_of("%s/" BIN_TO_PREFIX, path), NULL);
  if (prefix == NULL)
    err(1, "error: cannot find %s/" BIN_TO_PREFIX, path);
  return prefix;
}

int main(int argc, char **argv) {
  const char *name = program_invocation_short_name;
  const size_t length = strlen(name);
  struct command c = {.user = arguments_read(argc, argv)};
  c.is_cxx = length >= 2 && strcmp(name + length - 2, "++") == 0;
  c.prefix = find_prefix();
  c.library_dir = text_of("%s/" LIBDIR, c.prefix);
  c.clang = clang_find(text_of("%s/mprof", c.library_dir), c.is_cxx);
  c.words = zeroed((size_t)argc + MAX_ADDED, sizeof *c.words);

  const char *first_word = c.user.kept[0];
  const bool is_front_end =
      first_word != NULL && strncmp(first_word, "-cc1", 4) == 0;
  add(&c, c.clang.path);
  if (c.clang.needs_mode)
    add(&c, "--driver-mode=g++");
  if (has(&c, PRINTS_VERSION | PRINTS_HELP) && !is_front_end) {
    // clang's output comes first, because build systems read its first line.
    add_user(&c);
    const int status = clang_run(&c.clang, c.words);
    if (status == 0 && has(&c, PRINTS_HELP))
      print_help(&c.clang);
    else if (status == 0)
      puts("MProf version " VERSION);
    return status;
  }
  if (is_front_end || c.user.kinds == 0 || !has(&c, HAS_INPUT))
    add_user(&c);
  else
    add_profiled(&c);
  execv(c.clang.path, c.words);
  err(1, "error: cannot run %s", c.clang.name);
}
