// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "arguments.h"

#include "common/memory.h"

#include <err.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// A text that matches the pattern, one of a shell with extglob, states the
// facts.
struct rule {
  unsigned facts;
  const char *pattern; // NULL after the last rule
};

// For all arguments, also the values of options.
static const struct rule any_word[] = {
    {HAS_PLUGIN, "@(*-fplugin=*libMProf.so*|--config=*mprof?(-program).cfg)"},
    {HAS_PASS_PLUGIN,
     "@(*-fpass-plugin=*libMProf.so*|--config=*mprof?(-program).cfg)"},
    {HAS_RUNTIME, "@(*libmprof_rt.a*|--config=*mprof?(-program).cfg)"},
    {HAS_INTERCEPTORS, "@(*libmprof_intercept*|--config=*mprof-program.cfg)"},
    {NO_UNDEFINED, "@(*-z?(,)defs*|*-no-undefined*|?(-Wl,)defs)"},
    {WRAPS_ALLOCATOR,
     "*--wrap[=,]@(malloc|calloc|realloc|free|aligned_alloc|posix_memalign|"
     "memalign|_Zn|_Zd)*"},
    {0, NULL},
};

static const struct rule options[] = {
    {PRINTS_VERSION, "--version"},
    {PRINTS_HELP, "@(-help|--help|--help-hidden)"},
    {LINKS_NOTHING,
     "@(-c|-S|-E|-M|-MM|-fsyntax-only|--analyze|--precompile|--compile|"
     "--assemble|--preprocess|--dependencies|--user-dependencies|-emit-ast|"
     "-emit-interface-stubs|-extract-api|-verify-pch|-dump*|?(-)-print-*)"},
    {LINKS_OBJECT, "@(-r|-Wl,-r|-Wl,--relocatable)"},
    {LINKS_LIBRARY, "@(-shared|--shared|-Wl,-shared)"},
    {IS_STATIC, "@(-static|--static|-static-pie)"},
    {NAMES_LIBC, "@(--sysroot=*|-nostdinc|-nostdlibinc|--config=*)"},
    {NO_LIBRARIES, "@(-nostdlib|--no-standard-libraries|-nodefaultlibs)"},
    {NO_CXX_LIBRARY, "-nostdlib++"},
    {CXX_LIBRARY, "@(-lstdc++|-lc++)"},
    {HAS_INPUT | HAS_PROGRAM, "-l*"},
    {HAS_DASHES, "--"},
    {0, NULL},
};

// The next argument is the value of these options, even if it begins with "-".
static const char with_value[] =
    "@(-[oDUILFTuzeAlBbJG]|-arch|--param|-include|-include-pch|-imacros|"
    "-idirafter|-iquote|-isystem|-isysroot|-iprefix|-iwithprefix|"
    "-iwithprefixbefore|-iframework|-ivfsoverlay|-M[FTQJ]|-Xclang|-Xlinker|"
    "-Xassembler|-Xpreprocessor|-Xanalyzer|-mllvm|-mthread-model|"
    "-working-directory|-serialize-diagnostics|-dumpdir|-rpath|"
    "-dependency-file|-dependency-dot|-gcc-toolchain|-ccc-gcc-name)";

static const struct rule targets[] = {
    {FOR_X86_64, "@(x86_64|amd64)-*linux*"},
    {FOR_AARCH64, "@(aarch64|arm64)-*linux*"},
    {FOR_MUSL, "*-musl*"},
    {FOR_OTHERS, "@(*x32|*ilp32|*android*|*ohos*|-m*|@(aarch|arm)64-*-musl*)"},
    {0, NULL},
};

static const struct rule linkers[] = {
    {WITH_GOLD, "?(*/)@(gold|ld.gold*)"},
    {0, NULL},
};

const char *const kind_names[KINDS] = {"heap", "block", "mutex",
                                       "threadcreate"};

// The result, and the state of the only pass over the arguments.
static struct arguments result;
static enum { OPTION, VALUE, TARGET, LANGUAGE, FILES } next;
static const char *language = ""; // of the last -x; for the inputs after it
static const char *linker = "";
static const char *linker_path;   // wins over linker
static const char *wrong_target;  // -m32 or -mx32; wins over --target
static unsigned sanitizers;       // bit 0: safe-stack; the others bring malloc
static const char *response_file; // the one that is read, or NULL

static bool matches(const char *text, const char *pattern) {
  return fnmatch(pattern, text, FNM_EXTMATCH) == 0;
}

static void add_facts(const struct rule *rule, const char *text) {
  for (; rule->pattern != NULL; rule++)
    if (matches(text, rule->pattern))
      result.facts |= rule->facts;
}

// Returns what follows `start` in the text, or NULL.
static const char *after(const char *text, const char *start) {
  const size_t length = strlen(start);
  return strncmp(text, start, length) == 0 ? text + length : NULL;
}

// Adds the kinds of the list, or removes them. The list is a part of the flag.
static void change_kinds(const char *flag, const char *list, bool adds) {
  if (*list == '\0')
    errx(1, "error: '%s' names no kind: the kinds are " KINDS_TEXT, flag);
  while (*list != '\0') {
    const char *name = strndup(list, strcspn(list, ","));
    unsigned bits = 0;
    for (int kind = 0; kind < KINDS; kind++)
      if (strcmp(name, kind_names[kind]) == 0)
        bits = 1U << kind;
    if (bits != 0)
      result.kinds = adds ? result.kinds | bits : result.kinds & ~bits;
    else if (strcmp(name, "trace") != 0)
      errx(1, "error: unknown kind '%s' in '%s': the kinds are " KINDS_TEXT,
           name, flag);
    else if (adds) // profiles may need the same kinds, so never removes them
      result.kinds |=
          1 << KIND_BLOCK | 1 << KIND_MUTEX | 1 << KIND_THREADCREATE;
    list += strlen(name);
    list += *list == ',';
  }
}

// flag is -fsanitize=NAME,... or -fno-sanitize=NAME,...
static void change_sanitizers(const char *flag) {
  static const char *const names[] = {"safe-stack", "address", "thread",
                                      "memory",     "leak",    "hwaddress"};
  const bool adds = after(flag, "-fno-") == NULL;
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    if (!matches(flag,
                 text_of("*[=,]@(%s%s)?(,*)", names[i], adds ? "" : "|all")))
      continue;
    sanitizers = adds ? sanitizers | 1U << i : sanitizers & ~(1U << i);
  }
}

// Reads a flag of MProf, which begins with -fmprof or -fno-mprof.
static void read_flag(const char *flag) {
  static const char *const patterns[PASS_FLAGS] = {
      [FLAG_IGNORELIST] = "-fmprof-ignorelist=*",
      [FLAG_NESTED] = "-fmprof-nested=@(written|outermost|each)",
      [FLAG_UNWIND] = "-fmprof-unwind=@(frames|tables)",
      [FLAG_COROUTINES] = "-f?(no-)mprof-coroutines",
      [FLAG_ALLOC_SIZE] = "-f?(no-)mprof-alloc-size",
      [FLAG_TYPES] = "-f?(no-)mprof-types",
  };
  const char *value, *off = after(flag, "-fno-mprof");
  const char *rest = off != NULL ? off : after(flag, "-fmprof");
  for (int i = 0; i < PASS_FLAGS; i++)
    if (matches(flag, patterns[i])) {
      result.for_pass[i] = off == NULL || i == FLAG_TYPES ? flag : NULL;
      return;
    }
  if (*rest == '\0')
    result.kinds = off == NULL ? (1 << KINDS) - 1 : 0;
  else if (*rest == '=')
    change_kinds(flag, rest + 1, off == NULL);
  else if (strcmp(rest, "-intercept") == 0)
    result.intercepts = off == NULL;
  else if ((value = after(flag, "-fmprof-nested=")) != NULL)
    errx(1,
         "error: unknown value '%s' of -fmprof-nested: the values are written, "
         "outermost and each",
         value);
  else if ((value = after(flag, "-fmprof-unwind=")) != NULL)
    errx(1,
         "error: unknown value '%s' of -fmprof-unwind: the values are frames "
         "and tables",
         value);
  else
    errx(1, "error: unknown argument: '%s'", flag);
}

// If all inputs are headers, clang precompiles them and links nothing.
static void read_input(const char *word) {
  const bool is_header = matches(language, "?(none)")
                             ? matches(word, "*.@(h|H|hh|hp|hpp|hxx|h++)")
                             : matches(language, "*-header*");
  result.facts |= is_header ? HAS_INPUT : HAS_INPUT | HAS_PROGRAM;
}

static bool read_word(char *word);

// Reads the words of a response file. Clang itself replaces @FILE by them. If
// there is no such file, @FILE is an input. So is a response file in a response
// file, whose words are not read. Quotes separate words, which is enough here.
static void read_file(char *argument) {
  static const char separators[] = " \t\r\n\"'";
  struct stat status;
  FILE *file = NULL;
  char *text = NULL, *rest;
  size_t size = 0;
  if (response_file == NULL && stat(argument + 1, &status) == 0 &&
      S_ISREG(status.st_mode))
    file = fopen(argument + 1, "r");
  if (file == NULL) {
    read_input(argument);
    return;
  }
  result.facts |= HAS_INPUT;
  response_file = argument + 1;
  if (getdelim(&text, &size, '\0', file) > 0)
    for (char *word = strtok_r(text, separators, &rest); word != NULL;
         word = strtok_r(NULL, separators, &rest))
      read_word(word);
  // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the result refers to the text
  response_file = NULL;
  fclose(file);
}

static void read_option(char *word) {
  const char *value;
  add_facts(options, word);
  if (matches(word, with_value))
    next = VALUE;
  else if (*word == '@')
    read_file(word);
  else if (*word != '-' || word[1] == '\0')
    read_input(word);
  else if (strcmp(word, "--") == 0)
    next = FILES;
  else if (matches(word, "@(-x|--language)"))
    next = LANGUAGE;
  else if ((value = after(word, "-x")) || (value = after(word, "--language=")))
    language = value;
  else if (strcmp(word, "-target") == 0)
    next = TARGET;
  else if ((value = after(word, "--target=")))
    result.target = value;
  else if (matches(word, "-m?(x)32"))
    wrong_target = word;
  else if (matches(word, "-f?(no-)sanitize=*"))
    change_sanitizers(word);
  else if ((value = after(word, "--ld-path=")))
    linker_path = value;
  else if ((value = after(word, "-fuse-ld=")))
    linker = value;
}

// Returns whether the word is for clang, not a flag of MProf.
static bool read_word(char *word) {
  const int state = next;
  if (state == OPTION && matches(word, "-f?(no-)mprof*")) {
    if (response_file != NULL)
      errx(1,
           "error: %.*s must be on the command line, not in the response "
           "file %s",
           (int)strcspn(word, "="), word, response_file);
    read_flag(word);
    return false;
  }
  add_facts(any_word, word);
  if (state != FILES)
    next = OPTION;
  if (state == OPTION)
    read_option(word);
  else if (state == FILES)
    read_input(word);
  else if (state == LANGUAGE)
    language = word;
  else if (state == TARGET)
    result.target = word;
  return true;
}

struct arguments arguments_read(int argc, char **argv) {
  int count = 0;
  result.intercepts = true;
  result.kept = zeroed((size_t)argc + 1, sizeof *result.kept);
  for (int i = 1; i < argc; i++)
    if (read_word(argv[i]))
      result.kept[count++] = argv[i];
  add_facts(linkers, linker_path != NULL ? linker_path : linker);
  if (wrong_target != NULL)
    result.target = wrong_target;
  add_facts(targets, result.target != NULL ? result.target : "");
  if (sanitizers & 1)
    result.facts |= SAFE_STACK;
  if (sanitizers & ~1U)
    result.facts |= MALLOC_SANITIZER;

  if (!(result.facts & HAS_PROGRAM))
    result.facts |= LINKS_NOTHING;
  if (result.facts & LINKS_NOTHING)
    result.facts &= ~(LINKS_OBJECT | LINKS_LIBRARY);
  else if (result.facts & LINKS_OBJECT)
    result.facts &= ~LINKS_LIBRARY;
  else if (!(result.facts & LINKS_LIBRARY))
    result.facts |= LINKS_PROGRAM;
  return result;
}
