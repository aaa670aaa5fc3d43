// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/answer.h"
#include "common/memory.h"

#include "names/cut_name.h"
#include "names/debug_file.h"
#include "names/jit_names.h"
#include "names/unpack.h"
#include "names/variable.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// --- messages ---

static void put(FILE *out, const void *bytes, size_t length) {
  fwrite(bytes, 1, length, out);
}

static void put_text(FILE *out, const char *text) {
  put(out, text, strlen(text) + 1);
}

// Writes the problem, if there is one to be shown, and frees it.
static void put_problem(FILE *out, char *problem) {
  if (!problem || !*problem) {
    free(problem);
    return;
  }
  fputc(MESSAGE_PROBLEM, out);
  put_text(out, problem);
  free(problem);
}

static void put_frames(void *arg, size_t index, const struct name_frame *frames,
                       size_t count) {
  FILE *out = arg;
  const uint32_t numbers[] = {(uint32_t)index, (uint32_t)count};
  size_t left = MPROF_CUT_ALL;
  fputc(MESSAGE_FRAMES, out);
  put(out, numbers, sizeof numbers);
  for (size_t i = 0; i < count; i++) {
    const struct name_frame *f = &frames[i];
    const int64_t lines[] = {f->line, f->start_line};
    char *name = plain_name(f->function), *file = text_of("%s", f->file);
    mprof_cut_frame(name, file, mprof_cut_room(left, count - 1 - i));
    left -= strlen(name) + strlen(file);
    put(out, lines, sizeof lines);
    put_text(out, name);
    put_text(out, file);
    free(name);
    free(file);
  }
}

static void put_used(void *arg, const char *path, const char *name) {
  FILE *out = arg;
  fputc(MESSAGE_USED, out);
  put_text(out, path);
  put_text(out, name);
}

// --- locks ---

// Returns the address of a byte of the file that is mapped as code, or
// UINT64_MAX. The byte may be before the segment, in its first page.
static uint64_t address_of(Elf *elf, uint64_t offset) {
  const uint64_t page = 4096;
  size_t count;
  GElf_Phdr p;
  if (elf_getphdrnum(elf, &count) != 0)
    return UINT64_MAX;
  for (size_t i = 0; i < count; i++)
    if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD &&
        p.p_flags & PF_X && offset >= (p.p_offset & -page) &&
        offset < p.p_offset + p.p_filesz)
      return p.p_vaddr + (offset - p.p_offset);
  return UINT64_MAX;
}

// Finds the global variables that are locks or contain them.
static void find_locks(const struct job *job, Elf *elf, FILE *out) {
  struct symbols symbols = symbols_of_elf(elf);
  for (uint32_t i = 0; i < job->lock_count; i++) {
    const struct lock_query *q = &job->locks[i];
    const uint64_t mapped = address_of(elf, q->offset);
    char *name = mapped == UINT64_MAX
                     ? NULL
                     : variable_name(&symbols, mapped + q->after);
    if (!name)
      continue;
    fputc(MESSAGE_LOCK, out);
    put(out, &i, sizeof i);
    put_text(out, name);
    free(name);
  }
  symbols_free(&symbols);
}

static void open_and_find_locks(const struct job *job, int fd, FILE *out) {
  fd = unpack(fd);
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
  if (elf && elf_kind(elf) == ELF_K_ELF)
    find_locks(job, elf, out);
  elf_end(elf);
  close(fd);
}

// --- the job ---

void answer(const struct job *job, const struct places *places, FILE *out) {
  if (profile_file_is_jit(job->path)) {
    put_problem(out,
                jit_names_find(&(struct jit_query){.mapping = job->path,
                                                   .sysroot = places->sysroot,
                                                   .until_ns = job->until_ns,
                                                   .addresses = job->offsets,
                                                   .count = job->count},
                               put_frames, out));
    return;
  }
  struct place place;
  char *problem = places_find(places, job->path, job->build_id, &place);
  if (!problem && job->lock_count) {
    open_and_find_locks(job, place.fd, out);
    free(place.path);
    return;
  }
  struct debug_file *f =
      problem ? NULL : debug_file_open(&place, places, &problem);
  put_problem(out, problem);
  if (!f)
    return;
  debug_file_frames(f, job->offsets, job->count, job->has_addresses, put_frames,
                    out);
  debug_file_used(f, put_used, out);
  debug_file_close(f);
}
