// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: functions that were made at run time have the names and unwind tables
// of the object files in memory that the program has registered for GDB. Their
// stacks are complete without frame pointers. The names stay when the files are
// gone. Lists and files with wild pointers, sizes and circles cause no fault.
//
// REQUIRES: x86_64
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -g1 -fomit-frame-pointer -fno-builtin -rdynamic \
// RUN:   -I%S/Inputs %s -o app
// RUN: %run{heap_rate=1:log_path=x} LD_PRELOAD=%preload ./app
// RUN: %mprof traces --focus=good x.*.heap.pb.gz > good
// RUN: FileCheck --input-file=good %s
// CHECK: allocate jit.h
// CHECK-NEXT: {{^ *}}loaded{{$}}
// CHECK-NEXT: outer jit.h
// CHECK-NEXT: good jit-objects.c
// CHECK-NEXT: main jit-objects.c
// CHECK: allocate jit.h
// CHECK-NEXT: {{^ *}}tables in the file{{$}}
// CHECK-NEXT: outer jit.h
// CHECK-NEXT: good jit-objects.c
// CHECK-NEXT: main jit-objects.c
//
// A program that does not export the list, and is built with MProf.
// RUN: %mprof-clang -fmprof -O2 -g1 -fomit-frame-pointer -fno-builtin \
// RUN:   -I%S/Inputs %s -o built
// RUN: %run{heap_rate=1:log_path=y} ./built only
// RUN: %mprof traces --focus=good y.*.heap.pb.gz > built.traces
// RUN: FileCheck --input-file=built.traces %s
// RUN: grep 'in _Z6loadedv' y.*.txt

#include "jit.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

struct entry {
  struct entry *next, *before;
  const void *file;
  uint64_t size;
};
struct descriptor {
  uint32_t version, action;
  struct entry *relevant, *first;
} __jit_debug_descriptor = {1, 0, 0, 0};

__attribute__((noinline)) void __jit_debug_register_code(void) {
  __asm__ volatile("" ::: "memory");
}

static void add(struct entry *e) {
  e->next = __jit_debug_descriptor.first;
  if (e->next)
    e->next->before = e;
  __jit_debug_descriptor.first = __jit_debug_descriptor.relevant = e;
  __jit_debug_descriptor.action = 1;
  __jit_debug_register_code();
}

// The table for: push %rbp; mov $1,%ebp; call *%rdi; pop %rbp; ret
struct table {
  struct {
    uint32_t length, id;
    uint8_t rest[16]; // version, "", 1, -8, RA; CFA is rsp + 8, RA at CFA - 8
  } family;
  struct {
    uint32_t length, family;
    uint64_t begin, size;
    uint8_t rest[8]; // after 1 byte, CFA is rsp + 16, rbp at CFA - 16
  } entry;
  uint32_t end;
} __attribute__((packed));

enum { TEXT = 1, UNWIND, SYMBOLS, NAMES, SECTIONS };

struct object {
  Elf64_Ehdr head;
  Elf64_Shdr sections[SECTIONS];
  Elf64_Sym symbols[2];
  struct table table;
  char names[64];
};

static struct object *make_object(const void *code, const char *name,
                                  struct table *loaded) {
  struct object *o = calloc(1, sizeof(*o));
  memcpy(o->names, "\0.eh_frame", 11);
  strcpy(o->names + 11, name);
  o->table = (struct table){
      {20, 0, {1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1}},
      {28, 28, (uint64_t)code, MADE_BYTES, {0x41, 0x0e, 16, 0x86, 2}},
      0};
  o->symbols[1] = (Elf64_Sym){.st_name = 11,
                              .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                              .st_shndx = TEXT,
                              .st_size = MADE_BYTES};
  memcpy(o->head.e_ident, ELFMAG, SELFMAG);
  o->head.e_ident[EI_CLASS] = ELFCLASS64;
  o->head.e_type = ET_REL;
  o->head.e_shoff = offsetof(struct object, sections);
  o->head.e_shentsize = sizeof(Elf64_Shdr);
  o->head.e_shnum = SECTIONS;
  o->head.e_shstrndx = NAMES;
  o->sections[TEXT] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                   .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                   .sh_addr = (uint64_t)code,
                                   .sh_size = MADE_BYTES};
  o->sections[UNWIND] =
      (Elf64_Shdr){.sh_name = 1,
                   .sh_type = SHT_PROGBITS,
                   .sh_flags = SHF_ALLOC,
                   .sh_offset = offsetof(struct object, table),
                   .sh_size = sizeof(struct table)};
  if (loaded) {
    *loaded = o->table;
    memset(&o->table, 0xff, sizeof(o->table));
    o->sections[UNWIND].sh_addr = (uint64_t)loaded;
  }
  o->sections[SYMBOLS] =
      (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                   .sh_offset = offsetof(struct object, symbols),
                   .sh_size = sizeof(o->symbols),
                   .sh_link = NAMES};
  o->sections[NAMES] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                    .sh_offset = offsetof(struct object, names),
                                    .sh_size = sizeof(o->names)};
  return o;
}

static struct entry *register_object(struct object *o) {
  struct entry *e = calloc(1, sizeof(*e));
  *e = (struct entry){.file = o, .size = sizeof(*o)};
  add(e);
  return e;
}

__attribute__((noinline)) static void good(void) {
  static struct table loaded;
  made *a = make(without_frame_pointer), *b = make(without_frame_pointer);
  register_object(make_object((void *)a, "_Z6loadedv", &loaded));
  for (int i = 0; i < 2; i++) // so that the stacks have an order
    outer(a);
  struct object *o = make_object((void *)b, "tables in the file", NULL);
  register_object(o);
  outer(b);
  memset(o, 0, sizeof(*o)); // the file is gone
}

static void call_new(void) { outer(make(without_frame_pointer)); }

__attribute__((noinline)) static void hostile(void) {
  static const uint64_t odd[] = {0,
                                 1,
                                 63,
                                 64,
                                 1 << 20,
                                 UINT64_C(1) << 32,
                                 (UINT64_C(1) << 47) - 64,
                                 UINT64_C(1) << 63,
                                 UINT64_MAX - 100,
                                 UINT64_MAX};
  enum { ODD = sizeof(odd) / sizeof(*odd) };
  // Each word of an object in turn has an odd value.
  for (size_t word = 0; word < sizeof(struct object) / 8; word++) {
    made *f = make(without_frame_pointer);
    struct object *o = make_object((void *)f, "odd", NULL);
    struct entry *e = register_object(o);
    const uint64_t odd_value = odd[word % ODD];
    memcpy((char *)o + word * 8, &odd_value, 8);
    for (size_t i = 0; i < ODD; i++) {
      e->size = odd[i];
      call_new();
    }
    e->size = sizeof(*o);
    outer(f);
  }
  struct entry *e = register_object(calloc(1, sizeof(struct object)));
  struct entry *const next = e->next;
  for (size_t i = 0; i < ODD; i++) {
    e->file = (const void *)odd[i];
    call_new();
    e->next = (struct entry *)odd[i];
    call_new();
    e->next = e; // a circle
    call_new();
    e->next = next;
    __jit_debug_descriptor.first = (struct entry *)odd[i];
    call_new();
    __jit_debug_descriptor.first = e;
  }
  __jit_debug_descriptor.version = 7;
  call_new();
  __jit_debug_descriptor.version = 1;
}

int main(int argc, char **argv) {
  (void)argv;
  good();
  if (argc == 1)
    hostile();
  return 0;
}
