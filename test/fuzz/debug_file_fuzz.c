// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: whatever bytes a program, its debug file, its split debug information
// or a bundle has, the process that finds names does not read outside of the
// file, and ends. Its messages are well-formed. An error inside of libdw or
// libelf is none of MProf, and costs only the names of this file: the fuzzer
// continues after it. A leak inside of these libraries is none of MProf, too.
// The tool reads the build of a program, as mprof doctor
// shows it, in its own process; there an error of libelf is one of MProf.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir new
// RUN: %S/Inputs/debug_file_seeds.sh %clang
// RUN: T=%src/tools/mprof && %clang -std=gnu11 -D_GNU_SOURCE -g -O1 \
// RUN:   %fuzzer \
// RUN:   -I$T -I%src/tools -I%src/rt %s %tools_fuzzed -o fuzz \
// RUN:   -Wl,--wrap=elf_begin,--wrap=elf_end,--wrap=dwarf_begin_elf \
// RUN:   -Wl,--wrap=dwarf_end,--wrap=dwfl_begin,--wrap=dwfl_end \
// RUN:   -ldw -lelf -lz -lzstd
// RUN: %S/Inputs/run.sh -runs=2000 -max_len=8192 new

#include "common/demangle.h"
#include "files/archive.h"
#include "names/answer.h"
#include "names/elf_info.h"
#include "names/limits.h"
#include "names/lock_names.h"
#include "names/names.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);
void __lsan_ignore_object(const void *p);
int __sanitizer_install_malloc_and_free_hooks(
    void (*at_malloc)(const volatile void *, size_t),
    void (*at_free)(const volatile void *));
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition))                                                          \
      abort();                                                                 \
  } while (0)

// The descriptors to which the symbolic links of debug_file_seeds.sh point.
enum { INPUT_FD = 100, UNIT_FD = 101 };

// --- replaced files of the tool ---

void limits_begin(bool waits) { (void)waits; }
void limits_allow(uint64_t size) { (void)size; }
char *demangle(const char *name) { return *name == 'Z' ? strdup(name) : NULL; }

// Answers in this process.
struct slice worker_ask(const struct job *job, const struct places *places) {
  struct slice s = {0};
  FILE *out = open_memstream((char **)&s.at, &s.length);
  answer(job, places, out);
  fputc(MESSAGE_END, out);
  fclose(out);
  return s;
}

// The tool's process has a limit for its memory, and malloc returns NULL.
const char *__asan_default_options(void) {
  return "allocator_may_return_null=1:max_allocation_size_mb=64";
}

// --- errors of libdw and libelf ---

// If a file is damaged, the libraries may lose memory of their own.
const char *__lsan_default_suppressions(void) {
  return "leak:libelf\nleak:libdw\n";
}

// So LeakSanitizer cannot see if MProf does not end what it has begun. The
// linker redirects (--wrap) the calls to these functions.
static int begun;

#define COUNT(type, begin, parameters, arguments, end, result)                 \
  type *__real_##begin parameters;                                             \
  type *__wrap_##begin parameters;                                             \
  type *__wrap_##begin parameters {                                            \
    type *p = __real_##begin arguments;                                        \
    begun += p != NULL;                                                        \
    return p;                                                                  \
  }                                                                            \
  result __real_##end(type *p);                                                \
  result __wrap_##end(type *p);                                                \
  result __wrap_##end(type *p) {                                               \
    begun -= p != NULL;                                                        \
    return __real_##end(p);                                                    \
  }
COUNT(Elf, elf_begin, (int fd, Elf_Cmd command, Elf *of), (fd, command, of),
      elf_end, int)
COUNT(Dwarf, dwarf_begin_elf, (Elf * elf, Dwarf_Cmd command, Elf_Scn *group),
      (elf, command, group), dwarf_end, int)
COUNT(Dwfl, dwfl_begin, (const Dwfl_Callbacks *callbacks), (callbacks),
      dwfl_end, void)

// The blocks that were allocated since the input began. The errors below lose
// them.
static const volatile void *blocks[1 << 18];
static size_t block_count;

static void note_block(const volatile void *p, size_t size) {
  (void)size;
  if (block_count < sizeof blocks / sizeof *blocks)
    blocks[block_count++] = p;
}
static void ignore_free(const volatile void *p) { (void)p; }

// LeakSanitizer ignores a block that is not there any more.
static void forget_blocks(void) {
  for (size_t i = 0; i < block_count; i++)
    __lsan_ignore_object((const void *)blocks[i]);
}

static sigjmp_buf before_input;
static struct sigaction asan_action[NSIG];
static size_t library_errors;

// Returns whether the innermost function that is not libc's is one of libdw or
// libelf.
static bool is_in_library(void) {
  void *stack[64];
  const int count = backtrace(stack, 64);
  bool is_below_signal = false;
  for (int i = 0; i < count; i++) {
    Dl_info info;
    if (!dladdr(stack[i], &info) || !info.dli_fname)
      continue;
    const bool is_libc = strstr(info.dli_fname, "/libc.so") != NULL;
    // The first functions are those of this file, then comes libc's.
    if (is_below_signal && !is_libc)
      return strstr(info.dli_fname, "/libdw.so") ||
             strstr(info.dli_fname, "/libelf.so");
    is_below_signal |= is_libc;
  }
  return false;
}

static void on_signal(int signal) {
  if (is_in_library()) {
    library_errors++;
    siglongjmp(before_input, 1);
  }
  // The instruction runs again, and AddressSanitizer reports the error.
  sigaction(signal, &asan_action[signal], NULL);
}

static void print_errors(void) {
  fprintf(stderr, "%zu errors inside of libdw or libelf\n", library_errors);
}

// --- one input ---

static void check_text(void *arg, const char *text) {
  (void)arg;
  // Otherwise the messages would not be well-formed.
  CHECK(!strstr(text, "damaged or too large"));
}

static void check_file(void *arg, const char *path, const char *name) {
  (void)arg;
  CHECK(*path && strncmp(name, "files/", 6) == 0);
}

// Asks for the names of addresses in and around the code, and of locks.
static void find_names(const char *name, const char *build_id,
                       const struct places *places, enum names_mode mode) {
  struct profile *p = profile_new();
  char path[64];
  snprintf(path, sizeof path, "%s%s", *name == '/' ? "" : "/proc/self/cwd/",
           name);
  const uint32_t mapping = profile_mapping(
      p, &(struct mapping){.start = 0x100000,
                           .limit = 0x200000,
                           .file = profile_text(p, path),
                           .build_id = profile_text(p, build_id)});
  // The code of debug_file_seeds.sh begins at such an offset or address.
  for (uint64_t page = 0; page < 0x2000; page += 0x1000)
    for (uint64_t at = page + 0x228; at < page + 0x2a8; at += 4)
      profile_location(
          p, &(struct location){.address = 0x100000 + at, .mapping = mapping},
          NULL);
  p->types[p->type_count++] = (struct value_type){0};
  for (uint64_t at = 0x1200; at < 0x1400; at += 32) {
    char address[32];
    snprintf(address, sizeof address, "0x%lx", 0x100000 + at);
    const struct label label = {.key = profile_text(p, "lock"),
                                .str = profile_text(p, address)};
    profile_sample(p, NULL, 0, &label, 1, 1, (const int64_t[]){1});
  }
  const struct names_request request = {
      .places = *places, .mode = mode, .warn = check_text, .used = check_file};
  CHECK(names_find(p, &request) <= p->location_count);
  lock_names_find(p, places);
  profile_free(p);
}

static void read_bundle(const uint8_t *data, size_t size) {
  struct bytes bytes = {.at = malloc(size ? size : 1), .length = size};
  memcpy(bytes.at, data, size);
  struct archive *a = archive_read(&bytes);
  const struct places places = {.bundle = a};
  find_names("/none", "abcdef01", &places,
             size % 2 ? NAMES_FILES : NAMES_MISSING);
  archive_free(a);
}

static void set_content(int fd, const uint8_t *data, size_t size) {
  CHECK(ftruncate(fd, 0) == 0);
  CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  CHECK(__sanitizer_install_malloc_and_free_hooks(note_block, ignore_free));
  const int fds[] = {INPUT_FD, UNIT_FD};
  for (size_t i = 0; i < 2; i++)
    CHECK(dup2(memfd_create("input", 0), fds[i]) == fds[i]);
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE};
  const struct sigaction action = {.sa_handler = on_signal};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    CHECK(sigaction(signals[i], &action, &asan_action[signals[i]]) == 0);
  return atexit(print_errors);
}

static void read_input(const uint8_t *data, size_t size) {
  static const char *dirs[] = {"dir"};
  struct places places = {0};
  struct elf_info info;
  const uint8_t kind = *data++;
  size--;
  const bool is_unit = kind == '6' || kind == '7';
  set_content(is_unit ? UNIT_FD : INPUT_FD, data, size);
  set_content(is_unit ? INPUT_FD : UNIT_FD, NULL, 0);
  switch (kind) {
  case 'p':
    find_names("/proc/self/fd/100", "", &places, NAMES_MISSING);
    break;
  case 'a':
    find_names("/proc/self/fd/100", "", &places, NAMES_AT_ADDRESSES);
    elf_info_read("/proc/self/fd/100", &info);
    elf_info_free(&info);
    break;
  case '4':
  case '6':
    find_names("split4", "", &places, NAMES_MISSING);
    break;
  case '5':
  case '7':
    find_names("split5", "", &places, NAMES_MISSING);
    break;
  case 'g':
    places.debug_dirs.items = dirs;
    places.debug_dirs.count = 1;
    find_names("stripped", "abcdef01", &places, NAMES_MISSING);
    break;
  case 'b':
    read_bundle(data, size);
    break;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  block_count = 0;
  begun = 0;
  if (size == 0)
    return 0;
  if (sigsetjmp(before_input, 1) == 0) {
    read_input(data, size);
    CHECK(begun == 0);
  } else {
    forget_blocks();
  }
  memset(blocks, 0, block_count * sizeof *blocks); // blocks are not in use here
  return 0;
}
