// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the executable mappings from /proc/self/maps. Also reads the build IDs
// of the mapped files, by which tools identify the files. dl_iterate_phdr is
// not used, because it takes the loader's lock and does not list code that was
// mapped without the loader.

#define _GNU_SOURCE 1

#include "symbolize/maps.h"

#include "file/outfile.h"
#include "symbolize/symbolizer_protocol.h"
#include "sys/message.h"
#include "sys/os.h"
#include "unwind/rules.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>

// --- the kernel's list ---

static const char path[] = "/proc/self/maps";
static struct mprof_own_fd kept = MPROF_NO_FD; // guarded by writer_lock

// Reads the list. Returns 0 or -errno. Free *f with mprof_procfile_free.
static int read_list(struct mprof_procfile *f) {
  const int error = mprof_procfile_read(f, path);
  return error != 0 && mprof_own_fd_is_open(&kept)
             ? mprof_procfile_read_again(f, kept.fd)
             : error;
}

void mprof_maps_file_keep_open(void) {
  if (!mprof_own_fd_is_open(&kept))
    mprof_own_fd_set(&kept, mprof_sys_open(path, O_RDONLY | O_CLOEXEC, 0));
}

void mprof_maps_file_forget(void) { mprof_own_fd_close(&kept); }

// --- reading a line, and the header of its file ---

// One line of /proc/self/maps.
struct line {
  uintptr_t start, limit;
  uint64_t offset;
  bool is_readable, is_executable;
  const char *name;
  size_t name_len;
};

// The mapping with the last ELF header that was read. Executable mappings of
// the same file come after this mapping in /proc/self/maps. The bias and the
// build ID of these executable mappings are read from this header.
struct header {
  uintptr_t start, limit; // start is 0: no header was read
  const char *name;
  size_t name_len;
};

// --- lines ---

static bool parse_number(const char **p, const char *end, unsigned base,
                         uint64_t *v) {
  const char *begin = *p;
  for (*v = 0; *p < end; (*p)++) {
    unsigned char c = (unsigned char)**p;
    unsigned digit = c >= '0' && c <= '9'   ? c - '0'
                     : c >= 'a' && c <= 'f' ? c - 'a' + 10u
                                            : 16u;
    if (digit >= base)
      break;
    *v = *v * base + digit;
  }
  return *p > begin;
}

static bool parse_char(const char **p, const char *end, char c) {
  if (*p == end || **p != c)
    return false;
  ++*p;
  return true;
}

// Parses a line "start-limit perms offset major:minor inode   name".
static bool parse_line(const char *p, const char *end, struct line *l) {
  uint64_t start, limit, ignored;
  if (!parse_number(&p, end, 16, &start) || !parse_char(&p, end, '-') ||
      !parse_number(&p, end, 16, &limit) || !parse_char(&p, end, ' ') ||
      end - p < 5)
    return false;
  l->start = start;
  l->limit = limit;
  l->is_readable = p[0] == 'r';
  l->is_executable = p[2] == 'x';
  p += 4;
  if (!parse_char(&p, end, ' ') || !parse_number(&p, end, 16, &l->offset) ||
      !parse_char(&p, end, ' ') || !parse_number(&p, end, 16, &ignored) ||
      !parse_char(&p, end, ':') || !parse_number(&p, end, 16, &ignored) ||
      !parse_char(&p, end, ' ') || !parse_number(&p, end, 10, &ignored))
    return false;
  while (p < end && *p == ' ')
    p++;
  l->name = p;
  l->name_len = (size_t)(end - p);
  return l->start < l->limit;
}

// Stores the file name of a mapping in m->file.
static void set_file(struct mprof_mapping *m, const struct line *l) {
  static const char dots[] = "...", deleted[] = " (deleted)";
  struct mprof_text t = MPROF_TEXT(m->file);
  const char *name = l->name;
  size_t len = l->name_len;
  if (len >= sizeof(deleted) && memcmp(name + len - (sizeof(deleted) - 1),
                                       deleted, sizeof(deleted) - 1) == 0)
    len -= sizeof(deleted) - 1;
  // If the path is too long, keep its end, which is the more useful part.
  if (len > t.cap - 1) {
    size_t keep = t.cap - sizeof(dots);
    mprof_text_str(&t, dots);
    name += len - keep;
    len = keep;
  }
  mprof_text_mem(&t, name, len);
}

// --- build ids ---

// Copies len bytes at the address `at`, which must be in the mapping of h.
// Returns false if the bytes are not readable or not in the mapping.
//
// Another thread may unload the file's library meanwhile, and a page of the
// mapping is unreadable if the file was truncated after it was mapped. The
// function does not read the file instead, because another file may have the
// same name by now.
static bool copy_in(const struct header *h, uintptr_t at, void *buf,
                    size_t len) {
  return at >= h->start && at <= h->limit && len <= h->limit - at &&
         mprof_os_copy(buf, at, len);
}

// Searches the ELF notes in the len bytes at the address `at` for the build ID.
// Stores the build ID in out as a hexadecimal string. Returns false if there is
// no build ID.
static bool read_notes(const struct header *h, uintptr_t at, uint64_t len,
                       char out[41]) {
  static const char gnu[4] = "GNU";
  while (len >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    char name[4];
    if (!copy_in(h, at, &note, sizeof(note)))
      return false;
    uint64_t name_size = (note.n_namesz + 3ull) & ~3ull;
    uint64_t desc_size = (note.n_descsz + 3ull) & ~3ull;
    uint64_t size = sizeof(note) + name_size + desc_size;
    if (size > len)
      return false;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(gnu) &&
        copy_in(h, at + sizeof(note), name, sizeof(name)) &&
        memcmp(name, gnu, sizeof(gnu)) == 0) {
      unsigned char id[20];
      size_t n = note.n_descsz < sizeof(id) ? note.n_descsz : sizeof(id);
      if (!copy_in(h, at + sizeof(note) + name_size, id, n))
        return false;
      for (size_t i = 0; i < n; i++) {
        out[2 * i] = "0123456789abcdef"[id[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
      }
      out[2 * n] = '\0';
      return n > 0;
    }
    at += size;
    len -= size;
  }
  return false;
}

// Computes the load bias of a file, which is the difference between an address
// in memory and the same address in the ELF file.
static bool find_bias(const struct header *h, const Elf64_Ehdr *e,
                      uintptr_t *bias) {
  for (unsigned i = 0; i < e->e_phnum; i++) {
    Elf64_Phdr p;
    if (!copy_in(h, h->start + e->e_phoff + i * sizeof(p), &p, sizeof(p)))
      return false;
    if (p.p_type == PT_LOAD) {
      *bias = h->start - ((p.p_vaddr - p.p_offset) & -mprof_sys_page_size());
      return true;
    }
  }
  return false;
}

static bool read_header(const struct header *h, Elf64_Ehdr *e) {
  return copy_in(h, h->start, e, sizeof(*e)) &&
         memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 &&
         e->e_ident[EI_CLASS] == ELFCLASS64 &&
         e->e_phentsize == sizeof(Elf64_Phdr) &&
         e->e_phoff <= h->limit - h->start;
}

static void read_elf(const struct header *h, struct mprof_mapping *m) {
  Elf64_Ehdr e;
  if (!read_header(h, &e) || !find_bias(h, &e, &m->bias))
    return;
  for (unsigned i = 0; i < e.e_phnum; i++) {
    Elf64_Phdr p;
    if (!copy_in(h, h->start + e.e_phoff + i * sizeof(p), &p, sizeof(p)))
      return;
    if (p.p_type == PT_NOTE &&
        read_notes(h, m->bias + p.p_vaddr, p.p_memsz, m->build_id))
      return;
  }
}

bool mprof_maps_file_build_id(const void *data, size_t len, char out[41]) {
  const struct header h = {.start = (uintptr_t)data,
                           .limit = (uintptr_t)data + len};
  Elf64_Ehdr e;
  if (!copy_in(&h, h.start, &e, sizeof(e)) ||
      memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_phoff > len)
    return false;
  for (unsigned i = 0; i < e.e_phnum; i++) {
    Elf64_Phdr p;
    if (!copy_in(&h, h.start + e.e_phoff + i * sizeof(p), &p, sizeof(p)))
      return false;
    if (p.p_type == PT_NOTE &&
        read_notes(&h, h.start + p.p_offset, p.p_filesz, out))
      return true;
  }
  return false;
}

// --- /proc/self/maps ---

static bool has_header(const struct header *h, const struct line *l) {
  return h->start != 0 && h->name_len == l->name_len &&
         memcmp(h->name, l->name, l->name_len) == 0;
}

// Finds the loadable segment that contains addr, of the file whose ELF header
// is in the mapping h. Returns false if there is none.
static bool find_segment(const struct header *h, uintptr_t addr, Elf64_Phdr *p,
                         uintptr_t *bias) {
  Elf64_Ehdr e;
  if (!read_header(h, &e) || !find_bias(h, &e, bias))
    return false;
  for (unsigned i = 0; i < e.e_phnum; i++) {
    if (!copy_in(h, h->start + e.e_phoff + i * sizeof(*p), p, sizeof(*p)))
      return false;
    uintptr_t start = *bias + (p->p_vaddr & -mprof_sys_page_size());
    if (p->p_type == PT_LOAD && addr >= start &&
        addr < *bias + p->p_vaddr + p->p_memsz)
      return true;
  }
  return false;
}

static bool is_in_segment(const struct header *h, uintptr_t addr) {
  Elf64_Phdr p;
  uintptr_t bias;
  return find_segment(h, addr, &p, &bias);
}

// The name may end with a newline.
static bool is_file_name(const char *name) {
  return name[0] == '/' && !mprof_jit_is_memory(name);
}

bool mprof_maps_is_file(const struct mprof_mapping *m) {
  return is_file_name(m->file);
}

bool mprof_maps_may_have_names(const struct mprof_mapping *m) {
  return m->is_jit || mprof_maps_is_file(m);
}

// A program may move its code into other memory at the same address, such as
// large pages. If the mapping l is such memory, makes l a mapping of the file
// whose ELF header is in h.
static void undo_move(const struct header *h, struct line *l) {
  Elf64_Phdr p;
  uintptr_t bias;
  if (h->start == 0 || is_file_name(l->name) ||
      !find_segment(h, l->start, &p, &bias) || (p.p_flags & PF_X) == 0)
    return;
  l->offset = l->start - bias - p.p_vaddr + p.p_offset;
  l->name = h->name;
  l->name_len = h->name_len;
}

// Stores l in *h if the mapping l contains the ELF header of a file. The header
// is at offset 0 of the file. Many linkers place the header in a mapping that
// is not executable, before the executable mappings.
//
// In a small file, other segments may begin in the first page of the file. The
// mappings of these segments also have offset 0. These mappings do not replace
// *h, because is_in_segment finds that they are segments of the file whose
// header is already in *h.
static void track_header(struct header *h, const struct line *l) {
  if (!l->is_readable || l->offset != 0 || l->name_len == 0 ||
      (has_header(h, l) && is_in_segment(h, l->start)))
    return;
  *h = (struct header){l->start, l->limit, l->name, l->name_len};
}

// Makes *m a mapping of code that the program has made at run time. pprof looks
// for no file with such a name. Names are found by the address itself.
static void set_jit(struct mprof_mapping *m) {
  struct mprof_text t = MPROF_TEXT(m->file);
  mprof_text_str(&t, MPROF_JIT_FILE " ");
  mprof_text_dec(&t, (uint64_t)mprof_sys_getpid());
  mprof_text_str(&t, "]");
  m->is_jit = true;
  m->bias = 0;
}

static void add(struct mprof_maps *m, const struct header *h,
                const struct line *l) {
  struct mprof_mapping *v = &m->v[m->len++];
  *v = (struct mprof_mapping){.start = l->start,
                              .limit = l->limit,
                              .offset = l->offset,
                              .bias = l->start - l->offset,
                              .is_jit = mprof_jit_is_memory(l->name)};
  if (v->is_jit) {
    set_jit(v);
    mprof_jit_add(l->start, l->limit);
    return;
  }
  set_file(v, l);
  if (has_header(h, l))
    read_elf(h, v);
}

static size_t count_lines(const struct mprof_procfile *f) {
  size_t n = 0;
  const char *p = f->data, *end = f->data + f->len;
  while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
    n++;
    p++;
  }
  return n;
}

// Returns whether the line may be of executable code or of an ELF header. Most
// lines are of data, and need not be parsed.
static bool may_matter(const char *p, const char *end) {
  // The kernel pads the offset with zeros: "start-limit r--p 00000000 08:01 ".
  static const char zero[] = " 00000000 ", no_file[] = "00:00 ";
  enum { PERMS = 4, ZERO = sizeof(zero) - 1, NO_FILE = sizeof(no_file) - 1 };
  p = memchr(p, ' ', (size_t)(end - p));
  if (p == NULL || end - p <= 1 + PERMS + ZERO + NO_FILE)
    return false;
  p++;
  return p[2] == 'x' || (p[0] == 'r' && memcmp(p + PERMS, zero, ZERO) == 0 &&
                         memcmp(p + PERMS + ZERO, no_file, NO_FILE) != 0);
}

static void parse(struct mprof_maps *m, const struct mprof_procfile *f) {
  struct header h = {0};
  const char *p = f->data, *end = f->data + f->len;
  while (p < end) {
    const char *eol = memchr(p, '\n', (size_t)(end - p));
    if (eol == NULL)
      break;
    struct line l;
    if (may_matter(p, eol) && parse_line(p, eol, &l)) {
      track_header(&h, &l);
      // Skip [vsyscall], which is not code of the process and cannot be read.
      if (l.is_executable && l.start <= INTPTR_MAX) {
        undo_move(&h, &l);
        add(m, &h, &l);
      }
    }
    p = eol + 1;
  }
}

// Moves the mapping of the main program to the front, because readers of
// profiles assume that the first mapping is the main program's.
static void move_main_first(struct mprof_maps *m) {
  uintptr_t entry = getauxval(AT_ENTRY);
  for (size_t i = 1; i < m->len; i++)
    if (entry >= m->v[i].start && entry < m->v[i].limit) {
      struct mprof_mapping main = m->v[i];
      memmove(m->v + 1, m->v, i * sizeof(main));
      m->v[0] = main;
      return;
    }
}

int mprof_maps_read(struct mprof_maps *m) {
  struct mprof_procfile f;
  memset(m, 0, sizeof(*m));
  int error = read_list(&f);
  if (error != 0)
    return error;
  m->mapped_bytes = (count_lines(&f) + 1) * sizeof(*m->v);
  m->v = mprof_os_map(m->mapped_bytes);
  if (m->v == NULL)
    error = -ENOMEM;
  else
    parse(m, &f);
  mprof_procfile_free(&f);
  if (error != 0)
    return error;
  move_main_first(m);
  set_jit(&m->v[m->len]);
  return 0;
}

int mprof_maps_copy(struct mprof_maps *to, const struct mprof_maps *from) {
  *to = *from;
  to->v = mprof_os_map(from->mapped_bytes);
  if (to->v == NULL)
    return -ENOMEM;
  memcpy(to->v, from->v, (from->len + from->past_len + 1) * sizeof(*to->v));
  return 0;
}

void mprof_maps_free(struct mprof_maps *m) {
  if (m->v != NULL)
    mprof_os_unmap(m->v, m->mapped_bytes);
  m->v = NULL;
}

static bool holds(const struct mprof_mapping *m, uintptr_t addr) {
  return addr >= m->start && addr < m->limit;
}

const struct mprof_mapping *mprof_maps_find(const struct mprof_maps *m,
                                            uintptr_t addr) {
  const size_t n = m->len + m->past_len;
  for (size_t i = 0; i < n; i++)
    if (holds(&m->v[i], addr))
      return &m->v[m->v[i].is_jit ? n : i];
  return m->v != NULL && mprof_jit_holds(addr) ? &m->v[n] : NULL;
}

mprof_pc mprof_maps_shown(const struct mprof_maps *m, mprof_pc pc,
                          uint32_t gone) {
  if (gone == 0)
    return mprof_jit_original(pc);
  for (size_t i = 0; i < m->len; i++)
    if (holds(&m->v[i], pc - 1) && m->v[i].from < gone)
      return pc;
  // Unloaded modules are sorted by their unload number (field `to`). Search for
  // the first unloaded module whose unload number is at least `gone`.
  size_t low = m->len, high = m->len + m->past_len;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (m->v[middle].to < gone)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < m->len + m->past_len; low++) {
    const struct mprof_mapping *v = &m->v[low];
    if (v->from < gone && holds(v, pc - 1 + v->shift))
      return pc + v->shift;
  }
  return mprof_jit_original(pc);
}
