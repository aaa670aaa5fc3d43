// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the allocation log. (Go: tracealloc, tracefree,
// tracegc)
//
// The log has no function names. To find the names, the runtime would have to
// read files, and so allocate memory in the middle of an allocation. So a frame
// is written as an address and an offset in a module. A list of the modules
// precedes the first record with an address in one of them.
// The command mprof log adds the function names afterwards.
//
//   # MProf allocation log 1, pid 71, part 1, begun 1763760000000000000
//   # heap_rate 1
//   # modules 2
//   # module 0x401000-0x402000 0x400000 9f0b36ab /home/x/app
//   # module ...
//   tracealloc(0x7f3a5c0012a0, 0x40)
//   thread 71 [0.000412]:
//   	0x401163 app+0x1163
//   	0x4011a0 app+0x11a0
//
//   tracefree(0x7f3a5c0012a0, 0x40)
//   ...
//
// A module line has the module's address range, load bias, build ID and file.
// The arguments of tracealloc and tracefree are the address and the size of the
// block. A third argument is `custom` for a block of the program's own
// allocator, and `gc` for an object of a garbage collector. A tracefree line
// without a size belongs to a block that is not counted.
//
// The time in brackets is in seconds since the log began. Records have
// ascending times. The address of a frame lies inside the call instruction.

#include "heap/alloc_log.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "heap/event.h"
#include "options/flags.h"
#include "process/process.h"
#include "symbolize/maps.h"
#include "symbolize/module_unloads.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "thread/threads.h"
#include "unwind/python.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

// Beginning of the first line of each log, by which an earlier log is
// recognized.
#define LOG_MAGIC "# MProf allocation log"

// --- the file ---

// The file of the log is locked with flock while it is open, so that two
// processes with the same path do not overwrite each other's records. Only an
// earlier log or an empty file is overwritten, so that a mistyped path destroys
// no other file.
//
// Some programs close all descriptors that they have not opened, including the
// log's descriptor. The kernel may then give the same number to a file of the
// program. So each write first checks that the descriptor still refers to the
// log's file.
static struct {
  int fd;            // descriptor of the log file; -1: not open
  uint64_t dev, ino; // identify the log file
  uint64_t written;  // bytes written to the file
  char path[MPROF_PATH_MAX];
  char old_path[MPROF_PATH_MAX + 2]; // path.1, the name of the rotated log
} file = {.fd = -1};

static void say(const char *what, int error) {
  char text[MPROF_PATH_MAX + 256];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "alloc_log: ");
  mprof_text_str(&t, what);
  mprof_text_str(&t, " ");
  mprof_text_str(&t, file.path);
  if (error != 0) {
    mprof_text_str(&t, ": ");
    mprof_text_errno(&t, error);
  }
  mprof_text_str(&t, "; logging stops");
  mprof_message(text);
}

// Closes the descriptor of the log file. The file keeps its name and contents.
static void forget_file(void) {
  if (file.fd >= 0)
    mprof_sys_close(file.fd);
  file.fd = -1;
}

static bool is_open(void) { return file.fd >= 0; }

static bool fail(const char *what, int error) {
  forget_file();
  say(what, error);
  return false;
}

// Returns whether fd still refers to the log's file.
static bool is_ours(int fd) { return mprof_sys_has_id(fd, file.dev, file.ino); }

static long open_path(int flags) {
  return mprof_outfile_move_up(mprof_sys_open(
      file.path,
      O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600));
}

// Returns whether the file is empty or an earlier allocation log, so that it
// may be overwritten.
static bool may_be_replaced(int fd) {
  char head[sizeof(LOG_MAGIC) - 1];
  long n = mprof_sys_read(fd, head, sizeof(head));
  return n == 0 || (n == (long)sizeof(head) &&
                    memcmp(head, LOG_MAGIC, sizeof(head)) == 0);
}

static bool open_new(int flags) {
  if (mprof_os_is_special(file.path))
    return fail("cannot log to a path that is not a regular file:", 0);
  long fd = open_path(O_CREAT | flags);
  if (fd < 0)
    return fail("cannot open", (int)fd);
  file.fd = (int)fd;
  file.written = 0;
  if (mprof_sys_flock(file.fd) == -EWOULDBLOCK)
    return fail("another process logs to the same file (put %p in the path):",
                0);
  if (!may_be_replaced(file.fd))
    return fail("cannot overwrite a file that is not an allocation log:", 0);
  long error = mprof_sys_ftruncate(file.fd, 0);
  if (error == 0)
    error = mprof_sys_fstat_id(file.fd, &file.dev, &file.ino);
  return error == 0 || fail("cannot write to", (int)error);
}

// Opens the file that the option alloc_log names. is_child tells whether the
// process is a forked child. A child opens no file if the path lacks %p,
// because its parent writes to the same path. If the file cannot be opened,
// reports the error on stderr and returns false.
static bool open_file(bool is_child) {
  bool has_pid;
  int error = mprof_path_fill(file.path, sizeof(file.path), "alloc_log",
                              mprof_flags.alloc_log, &has_pid);
  if (error != 0)
    return fail("cannot open", error);
  if (is_child && !has_pid)
    return fail(
        "a forked child cannot log to its parent's file (put %p in the path):",
        0);
  struct mprof_text t = MPROF_TEXT(file.old_path);
  mprof_text_str(&t, file.path);
  mprof_text_str(&t, ".1");
  return open_new(0);
}

// Opens the log file again after the program has closed its descriptor. Returns
// false if the path no longer names the log file.
static bool reopen(void) {
  long fd = open_path(0);
  file.fd = -1; // not closed: the program may now use the old descriptor number
  if (fd < 0)
    return fail(
        "the program closed the log file, which cannot be opened again:",
        (int)fd);
  file.fd = (int)fd;
  if (!is_ours(file.fd))
    return fail(
        "the program closed the log file, and another file now has its path:",
        0);
  mprof_sys_flock(file.fd);
  return true;
}

// Appends the text t to the file and empties t. After an error, reports the
// error on stderr and closes the file, so that no further error is reported.
static void write_file(struct mprof_text *t) {
  size_t len = t->len;
  t->len = 0;
  if (file.fd < 0 || (!is_ours(file.fd) && !reopen()))
    return;
  int error = mprof_os_write_all(file.fd, t->buf, len);
  if (error != 0)
    fail("cannot write to", error);
  file.written += len;
}

// Returns whether the file has reached the size of the option alloc_log_mb. The
// caller must then rotate the file.
static bool is_full(void) {
  return file.written >= mprof_flags.alloc_log_mb << 20;
}

// Renames the file to PATH.1 and opens a new file. After an error, reports the
// error on stderr and returns false.
static bool rotate(void) {
  long error = mprof_sys_rename(file.path, file.old_path);
  if (error != 0)
    return fail("cannot append .1 to the name of", (int)error);
  forget_file();
  return open_new(O_EXCL);
}

// --- the text of a record ---

// Size of the buffer for one record. A record with the deepest stack that the
// option stack_depth allows nearly fills the buffer.
#define BUFFER_BYTES 65536u
// Maximum length of a line.
#define LINE_BYTES 1024u
// Maximum number of remembered addresses that lie in no module. A record with a
// remembered address does not cause the list of modules to be read again.
#define UNKNOWN_PCS 64u

static struct {
  struct mprof_lock lock; // log_lock: guards all other fields
  struct mprof_text text; // the record being written
  uint64_t begun;         // ticks
  _Atomic uint64_t part; // the log's part number; 0: no log; also read unlocked
  int64_t begun_ns;      // start of the log in nanoseconds of CLOCK_REALTIME
  _Atomic uint64_t records; // records in all parts; also read unlocked
  uint64_t lost_told;       // lost events already reported by "# lost" lines
  struct mprof_maps maps;   // modules listed in the current part of the log
  uint32_t unloads;         // number of module unloads when `maps` was read
  uintptr_t unknown[UNKNOWN_PCS]; // ring of addresses in no module
  size_t unknown_len;             // number of addresses ever put in unknown[]
} logged = {.lock = MPROF_LOCK_INIT(MPROF_RANK_LOG)};

static void put(const char *s) { mprof_text_str(&logged.text, s); }
static void put_dec(uint64_t v) { mprof_text_dec(&logged.text, v); }
static void put_hex(uint64_t v) {
  put("0x");
  mprof_text_hex(&logged.text, v);
}

static bool has_room(void) {
  return logged.text.cap - logged.text.len > LINE_BYTES;
}

// --- modules ---

static void put_module(const struct mprof_mapping *m) {
  put("# module ");
  put_hex(m->start);
  put("-");
  put_hex(m->limit);
  put(" ");
  put_hex(m->bias);
  put(" ");
  put(m->build_id[0] == '\0' ? "-" : m->build_id);
  put(" ");
  mprof_text_clean(&logged.text, m->file, strlen(m->file));
  put("\n");
}

static void put_modules(void) {
  put("# modules ");
  put_dec(logged.maps.len);
  put("\n");
  for (size_t i = 0; i < logged.maps.len; i++) {
    if (!has_room())
      write_file(&logged.text);
    put_module(&logged.maps.v[i]);
  }
}

static void read_modules(void) {
  logged.unloads = mprof_unloads_unloads();
  logged.unknown_len = 0;
  mprof_maps_free(&logged.maps);
  if (mprof_maps_read(&logged.maps) != 0)
    // If the mappings cannot be read, the log shows frames without modules.
    logged.maps = (struct mprof_maps){0};
}

// Returns whether pc lies in no listed module and is not in the ring `unknown`.
// The ring is needed because stacks of code without frame pointers may contain
// arbitrary values. Without the ring, each repetition of such a value would
// cause the list of modules to be read again.
static bool is_news(uintptr_t pc) {
  if (mprof_python_has(pc) || mprof_maps_find(&logged.maps, pc) != NULL)
    return false;
  size_t n =
      logged.unknown_len < UNKNOWN_PCS ? logged.unknown_len : UNKNOWN_PCS;
  for (size_t i = 0; i < n; i++)
    if (logged.unknown[i] == pc)
      return false;
  return true;
}

static void remember_unknown(uintptr_t pc) {
  if (is_news(pc))
    logged.unknown[logged.unknown_len++ % UNKNOWN_PCS] = pc;
}

// Reads the modules again and writes their list to the log, in two cases: a
// module was unloaded, or the stack has an address for which is_news returns
// true.
static void learn_modules(const mprof_pc *stack, size_t n) {
  bool has_news = logged.unloads != mprof_unloads_unloads();
  for (size_t i = 0; i < n && !has_news; i++)
    has_news = is_news(stack[i] - 1);
  if (!has_news)
    return;
  read_modules();
  put_modules();
  for (size_t i = 0; i < n; i++)
    remember_unknown(stack[i] - 1);
}

// --- parts of the log ---

static void put_head(void) {
  put(LOG_MAGIC " 1, pid ");
  put_dec((unsigned)mprof_sys_getpid());
  put(", part ");
  put_dec(++logged.part);
  put(", begun ");
  put_dec((uint64_t)logged.begun_ns);
  put("\n# heap_rate ");
  put_dec(mprof_sample_rate());
  put("\n");
  put_modules();
}

static void begin_log(void) {
  logged.text.len = 0;
  logged.part = logged.records = logged.lost_told = 0;
  logged.begun = mprof_clock_now();
  logged.begun_ns = mprof_sys_realtime_ns();
  mprof_clock_ticks_per_second(); // slow at the first call, so call it now
  read_modules();
  put_head();
  write_file(&logged.text);
}

bool mprof_alloc_log_init(void) {
  if (mprof_flags.alloc_log[0] == '\0')
    return false;
  if (!mprof_flags.heap) {
    mprof_message("alloc_log: nothing is logged because heap=0 is set");
    return false;
  }
  if (!open_file(false))
    return false;
  logged.text.buf = mprof_os_map(BUFFER_BYTES);
  if (logged.text.buf == NULL) {
    mprof_message(
        "alloc_log: nothing is logged because the system is out of memory");
    forget_file();
    return false;
  }
  logged.text.cap = BUFFER_BYTES;
  begin_log();
  return is_open();
}

void mprof_alloc_log_leave(void) {
  mprof_lock_reset(&logged.lock);
  logged.part = 0;
  forget_file();
}

bool mprof_alloc_log_start_in_child(void) {
  if (logged.text.buf == NULL || !open_file(true))
    return false;
  begin_log();
  return is_open();
}

const char *mprof_alloc_log_path(uint64_t *records) {
  *records = atomic_load_explicit(&logged.records, memory_order_relaxed);
  return logged.part > 0 ? file.path : NULL;
}

// --- records ---

static void put_block(const char *what, const void *ptr,
                      const struct mprof_bucket *b, enum mprof_log_kind kind) {
  put(what);
  put_hex((uintptr_t)ptr);
  if (b != NULL) {
    put(", ");
    put_hex(b->size);
  }
  if (kind != MPROF_LOG_HEAP)
    put(kind == MPROF_LOG_GC ? ", gc" : ", custom");
  put(")\n");
}

static void put_thread(void) {
  put("thread ");
  put_dec((unsigned)mprof_sys_gettid());
  put(" [");
  mprof_text_fixed(&logged.text,
                   mprof_clock_ns(mprof_clock_now() - logged.begun) / 1000, 6);
  put("]:\n");
}

static void put_frame(uintptr_t pc) {
  const struct mprof_mapping *m = mprof_maps_find(&logged.maps, pc);
  struct mprof_python_line python;
  put("\t");
  put_hex(pc);
  if (mprof_python_find(pc + 1, &python)) {
    put(" ");
    mprof_text_clean(&logged.text, python.function, strlen(python.function));
    put(" ");
    mprof_text_clean(&logged.text, python.file, strlen(python.file));
    put(":");
    put_dec(python.line);
  }
  if (m != NULL) {
    const char *slash = strrchr(m->file, '/');
    const char *name = slash == NULL ? m->file : slash + 1;
    put(" ");
    mprof_text_clean(&logged.text, name, strlen(name));
    put("+");
    put_hex(pc - m->bias);
  }
  put("\n");
}

struct stack {
  const mprof_pc *pcs;
  size_t len;
  bool is_cut;
};

static void put_stack(const struct stack *s) {
  size_t i = 0;
  for (; i < s->len && has_room(); i++)
    put_frame(s->pcs[i] - 1);
  if (s->is_cut || i < s->len)
    put("\t[truncated]\n");
}

static void put_losses(void) {
  uint64_t lost = mprof_stat_get(MPROF_STAT_log_events);
  if (lost == logged.lost_told)
    return;
  put("# lost ");
  put_dec(lost - logged.lost_told);
  put("\n");
  logged.lost_told = lost;
}

// Tell ThreadSanitizer about log_lock. ThreadSanitizer does not see the
// runtime's locks. Without these calls, ThreadSanitizer would report a data
// race, because several threads write to the buffer. Only the address of
// __tsan_init is tested, because the dynamic linker looks up each tested
// function at the start of each program.
extern void __tsan_init(void) __attribute__((weak));
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static void lock_log(void) {
  mprof_lock_acquire(&logged.lock);
  if (__tsan_init)
    __tsan_acquire(&logged.lock);
}

static void unlock_log(void) {
  if (__tsan_init)
    __tsan_release(&logged.lock);
  mprof_lock_release(&logged.lock);
}

// Begins a record: takes log_lock and writes the lines that must precede the
// record, such as a list of the modules of the stack s. The caller then writes
// the record's lines and calls `end`. Returns false, without holding log_lock,
// if the log is closed or belongs to the parent process.
static bool begin(const struct stack *s) {
  // A child of vfork or clone may share the parent's memory. Such a child must
  // not write, because the log belongs to the parent.
  if (!mprof_process_is_own())
    return false;
  lock_log();
  if (is_open()) {
    learn_modules(s->pcs, s->len);
    put_losses();
    return true;
  }
  unlock_log();
  mprof_alloc_log_lose();
  return false;
}

static void end(void) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_LOG));
  write_file(&logged.text);
  logged.records++;
  if (is_open() && is_full() && rotate()) {
    put_head();
    write_file(&logged.text);
  }
  unlock_log();
}

// Returns the stack of the calling thread. The first frame of the stack is the
// caller of the function whose frame address is `frame`. If `frame` is 0, the
// first frame is the caller of the runtime's entry. Unwinds with call frame
// information, because the caller may be uninstrumented code.
static struct stack stack_at(uintptr_t frame) {
  struct stack s = {.len = 0};
  struct mprof_thread *t = mprof_thread_self(true);
  if (t == NULL)
    return s;
  if (frame == 0)
    frame = mprof_entry_frame(&t->range, (uintptr_t)__builtin_frame_address(0));
  enum mprof_stack_end end = MPROF_STACK_CUT_CHAIN;
  if (frame != 0)
    s.len = mprof_unwind_cfi(&t->range, frame, t->scratch->stack,
                             t->scratch->depth, &end);
  s.pcs = t->scratch->stack;
  s.is_cut = end != MPROF_STACK_COMPLETE;
  return s;
}

static void log_block(const char *what, const struct mprof_bucket *b,
                      const void *ptr, enum mprof_log_kind kind,
                      const struct stack *s) {
  if (!begin(s))
    return;
  put_block(what, ptr, b, kind);
  put_thread();
  put_stack(s);
  put("\n");
  end();
}

void mprof_alloc_log_alloc(const struct mprof_bucket *b, const void *ptr,
                           enum mprof_log_kind kind) {
  const struct stack s = {b->stack, b->stack_len,
                          b->end != MPROF_STACK_COMPLETE};
  log_block("tracealloc(", b, ptr, kind, &s);
}

void mprof_alloc_log_free(const struct mprof_bucket *b, const void *ptr,
                          enum mprof_log_kind kind, uintptr_t frame) {
  if (b == NULL && mprof_sample_rate() != 1)
    return;
  const struct stack s = stack_at(frame);
  log_block("tracefree(", b, ptr, kind, &s);
}

void mprof_alloc_log_collection(uintptr_t frame) {
  const struct stack s = stack_at(frame);
  if (!begin(&s))
    return;
  put("tracegc()\n");
  put_thread();
  put_stack(&s);
  put("end tracegc\n\n");
  end();
}

void mprof_alloc_log_lose(void) { mprof_stat_add(MPROF_STAT_log_events, 1); }
