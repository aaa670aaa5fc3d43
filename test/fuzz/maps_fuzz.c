// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the reader of mappings gets any text of /proc/self/maps and any bytes
// of an ELF file in memory and on disk. It does not read outside of mapped
// memory, write outside of its table or run for ever. Each entry of the table
// is a non-empty mapping with a file name. Its build id is valid or empty. The
// reader of memory with code made at run time gets the same texts.
//
// An input is the text, a null byte, and the bytes of an ELF file. The ELF file
// lies at IMAGE, where the text can name it. The reader is compiled unchanged:
// this program defines the functions of os_file.c, and the linker redirects
// (--wrap) the calls that map memory and that ask whether a page is readable.
// Only the pages of the ELF file are readable.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir seeds new
// RUN: printf 'int f(void) { return 1; }\nint v = 1;\n' > elf.c
// RUN: %clang -O1 -shared -nostdlib -Wl,--build-id,-z,noseparate-code \
// RUN:   -Wl,-z,max-page-size=4096 -s elf.c -o elf.so
// RUN: gcc -O1 -shared -nostdlib -s elf.c -o elf2.so \
// RUN:   -Wl,--build-id=0x00112233445566778899aabbccddeeff00112233445566778899aabb
// RUN: %python -B %S/Inputs/maps_seeds.py seeds elf.so elf2.so
// RUN: printf '"%%s"\n' '\x7fELF' 20000000-20004000 r-xp 00000000 /lib/elf.so \
// RUN:   > words
// RUN: %clang -std=c11 -D_GNU_SOURCE -g -O1 -DMPROF_RUNTIME \
// RUN:   %fuzzer \
// RUN:   -I%src/include -I%rt %s %rt/symbolize/maps.c %rt/sys/message.c %rt/sys/text.c \
// RUN:   %rt/sys/os_linux.c %rt/sys/stats.c %rt/sys/clock.c %rt/unwind/jit_code.c -Wl,--wrap=mprof_os_map,--wrap=mprof_os_unmap \
// RUN:   -o fuzz
// RUN: %S/Inputs/run.sh -runs=40000 -max_len=8192 -dict=words new

#include "symbolize/maps.h"

#include "file/outfile.h"
#include "sys/os.h"
#include "unwind/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Where the ELF file lies, and its largest size.
#define IMAGE ((uint8_t *)0x20000000)
enum { IMAGE_SIZE = 4 * MPROF_PAGE };

void *__wrap_mprof_os_map(size_t size);
// No object files are registered, and no child is forked.
bool mprof_jit_object_rule(uintptr_t pc, struct mprof_cfa_rule *r,
                           bool *is_settled) {
  return (void)pc, (void)r, (void)is_settled, false;
}
void mprof_jit_objects_reset(void) {}

void __wrap_mprof_os_unmap(void *p, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
  const char *text;
  size_t text_size;
  const uint8_t *file; // the copy that mprof_maps_file_build_id reads
  size_t file_size;
} input;

// A block of exactly this size, so that AddressSanitizer finds reads beyond it.
static void *copy_of(const void *data, size_t size) {
  void *copy = malloc(size + (size == 0));
  memcpy(copy, data, size);
  return copy;
}

// --- in place of os_file.c, outfile.c and the system calls ---

int mprof_procfile_read(struct mprof_procfile *f, const char *path) {
  (void)path;
  char *data = calloc(1, input.text_size + 1);
  memcpy(data, input.text, input.text_size);
  *f = (struct mprof_procfile){
      .data = data, .len = input.text_size, .mapped_bytes = input.text_size};
  return 0;
}

int mprof_procfile_read_again(struct mprof_procfile *f, int fd) {
  (void)fd;
  return mprof_procfile_read(f, "");
}

int mprof_own_fd_set(struct mprof_own_fd *d, long fd) {
  (void)d;
  return (int)fd;
}

bool mprof_own_fd_is_open(const struct mprof_own_fd *d) {
  (void)d;
  return false;
}

void mprof_own_fd_close(struct mprof_own_fd *d) { (void)d; }

void mprof_procfile_free(struct mprof_procfile *f) {
  free(f->data);
  f->data = NULL;
}

void *__wrap_mprof_os_map(size_t size) { return calloc(1, size); }

// Some addresses are in a module.
struct mprof_code_range mprof_eh_module(uintptr_t pc) {
  return (struct mprof_code_range){pc % 3 == 0, pc % 3 == 0};
}

void __wrap_mprof_os_unmap(void *p, size_t size) {
  (void)size;
  free(p);
}

static bool is_readable(uintptr_t page) {
  return page - (uintptr_t)IMAGE < IMAGE_SIZE ||
         (page < (uintptr_t)input.file + input.file_size &&
          page + MPROF_PAGE > (uintptr_t)input.file);
}

uintptr_t mprof_sys_page_size(void) { return MPROF_PAGE; }

// AddressSanitizer checks each byte, unlike the kernel.
bool mprof_os_copy(void *to, uintptr_t from, size_t len) {
  for (uintptr_t page = from & -(uintptr_t)MPROF_PAGE; page < from + len;
       page += MPROF_PAGE)
    if (!is_readable(page))
      return false;
  memcpy(to, (const void *)from, len);
  return true;
}

// --- properties ---

static void check(bool holds) {
  if (!holds)
    abort();
}

static void check_build_id(const char *id, size_t size) {
  const size_t length = strnlen(id, size);
  check(length < size && length % 2 == 0 &&
        strspn(id, "0123456789abcdef") == length);
}

static void check_maps(void) {
  struct mprof_maps maps;
  check(mprof_maps_read(&maps) == 0);
  check(maps.past_len == 0 && maps.len * sizeof(*maps.v) < maps.mapped_bytes);
  for (size_t i = 0; i < maps.len; i++) {
    const struct mprof_mapping *m = &maps.v[i];
    check(m->start < m->limit);
    const size_t length = strnlen(m->file, sizeof(m->file));
    check(length > 0 && length < sizeof(m->file));
    check_build_id(m->build_id, sizeof(m->build_id));
    const struct mprof_mapping *found = mprof_maps_find(&maps, m->start);
    check(found != NULL);
    check(found->is_jit ? found == &maps.v[maps.len]
                        : found <= m && m->start < found->limit &&
                              m->start >= found->start);
  }
  mprof_jit_look(1, true);
  mprof_maps_free(&maps);
}

static void check_file(void) {
  char id[41] = "";
  const bool is_found =
      mprof_maps_file_build_id(input.file, input.file_size, id);
  check_build_id(id, sizeof(id));
  check(!is_found || id[0] != '\0');
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  const void *p =
      mmap(IMAGE, IMAGE_SIZE, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  check(p == IMAGE);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *null = memchr(data, 0, size);
  input.text = (const char *)data;
  input.text_size = null ? (size_t)(null - data) : size;
  const uint8_t *file = null ? null + 1 : data + size;
  input.file_size = (size_t)(data + size - file);
  if (input.file_size > IMAGE_SIZE)
    input.file_size = IMAGE_SIZE;
  // As the loader does, zeros follow the file up to the end of the mapping.
  memset(IMAGE, 0, IMAGE_SIZE);
  memcpy(IMAGE, file, input.file_size);
  uint8_t *copy = copy_of(file, input.file_size);
  input.file = copy;
  check_maps();
  check_file();
  free(copy);
  return 0;
}
