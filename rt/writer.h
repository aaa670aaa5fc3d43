// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a snapshot to files. One writer runs at a time, under writer_lock, with
// the guard set; none allocates from the program's heap. Their memory comes
// from mprof_os_map and is returned.

#ifndef MPROF_RT_WRITER_H
#define MPROF_RT_WRITER_H

#include "custom_profile.h"
#include "snapshot.h"
#include "stuck.h"
#include "thread_stacks.h"

// Shown in what is written. CMake gives the project's.
#ifndef MPROF_VERSION
#define MPROF_VERSION "0.1.0"
#endif

// --- infile.c: a whole file of /proc, which has no size beforehand ---

struct mprof_infile {
  char *data; // terminated by 0
  size_t len, mapped_bytes;
};
// 0 or an errno value. Free it with mprof_infile_free.
int mprof_infile_read(struct mprof_infile *f, const char *path);
void mprof_infile_free(struct mprof_infile *f);
// The program's arguments with blanks between, cut to len; "" if unknown.
void mprof_command_line(char *buf, size_t len);

// --- outfile.c: a file that appears under its name only when complete ---

// Longest path of an output file, with its 0.
#define MPROF_PATH_MAX 1024
#define MPROF_OUTFILE_BUFFER 65536
// The same of one with a patience: what a reader has not taken yet.
#define MPROF_OUTFILE_BACKLOG (4 * MPROF_OUTFILE_BUFFER)

// Too large for a stack of 16 KiB: keep it in memory from mprof_os_map.
struct mprof_outfile {
  int fd;
  int error;         // the first errno value; later writes do nothing
  uint64_t dev, ino; // what fd was when it was opened
  uint64_t written;
  bool is_gzip;
  bool is_lent; // the descriptor is not ours, and has no name
  bool is_new;  // never replaces a file
  // Of one that is lent and has a reader: how long that may take nothing.
  int patience_ms;   // 0: for ever
  uint64_t reserved; // bytes, from the file's begin
  size_t buffered;
  uint32_t crc;
  uint32_t plain_len; // of all data, modulo 2^32, for gzip's trailer
  char path[MPROF_PATH_MAX];
  char temp[MPROF_PATH_MAX + 64];
  size_t buf_bytes;
  unsigned char *buf;
};
// Opens path's temporary name (O_EXCL|O_NOFOLLOW|O_CLOEXEC, 0600), never as
// descriptor 0 to 2, and above those that programs close in a loop if the limit
// allows it. gzip: data goes out in stored blocks. 0 or errno;
// EOPNOTSUPP if path is a device or the like, which a rename would destroy.
int mprof_outfile_open(struct mprof_outfile *f, const char *path, bool gzip);
// From here on files that are opened never replace another: closing gives
// EEXIST instead; or they do again. Guarded by writer_lock.
void mprof_outfile_keep_others(bool keep);
// The same file by a descriptor above 2: one of those would be taken for the
// program's, where it is closed. An error stays as it is.
long mprof_outfile_move_up(long fd);
// To a descriptor of the caller's, which stays open. patience_ms: if it is a
// pipe or the like. 0 or errno.
int mprof_outfile_open_fd(struct mprof_outfile *f, int fd, int patience_ms);
// Sends of what is buffered what a reader takes now, or at first within that
// time. True if nothing is left, and of a file without a reader.
bool mprof_outfile_send(struct mprof_outfile *f, int timeout_ms);
// Sees to it that so many more bytes can be written to a file that is not lent,
// where its file system can. 0 or errno, EFBIG above the size that the process
// may give it; what was not used is given back.
int mprof_outfile_reserve(struct mprof_outfile *f, uint64_t bytes);
// Writes what is buffered, not in gzip. 0 or the first errno value so far.
int mprof_outfile_flush(struct mprof_outfile *f);
// Begins a file that is neither lent nor in gzip anew, without what was written
// and without its error. 0 or errno.
int mprof_outfile_restart(struct mprof_outfile *f);
// Text to stderr. 0 or errno; EBADF if it is closed or not what it was.
int mprof_outfile_open_stderr(struct mprof_outfile *f);
void mprof_outfile_put(struct mprof_outfile *f, const void *data, size_t len);
void mprof_outfile_text(struct mprof_outfile *f, const char *s);
void mprof_outfile_dec(struct mprof_outfile *f, uint64_t v);
void mprof_outfile_hex(struct mprof_outfile *f, uint64_t v); // without 0x
// In a forked child: the file is the parent's.
void mprof_outfile_forget(struct mprof_outfile *f);
// Finishes, closes and renames; on an error removes the temporary file. 0 or
// the first errno value.
int mprof_outfile_close(struct mprof_outfile *f);

// --- path.c ---

// Expands %p %e %h %t %% of pattern; appends ".<pid>" if there is no %p, so
// that a child never overwrites its parent's file. Another % is said on stderr
// and kept. 0 or ENAMETOOLONG.
int mprof_path_expand(char *buf, size_t cap, const char *pattern);
// The same of the option log_path, or of its default where that is stderr: what
// is no text has files all the same.
int mprof_path_base(char *buf, size_t cap);
bool mprof_path_is_stderr(void);
// The same for another option, and appends nothing: *has_pid gets whether there
// was a %p.
int mprof_path_fill(char *buf, size_t cap, const char *option,
                    const char *pattern, bool *has_pid);
// The base name of the program's file.
void mprof_path_program(struct mprof_text *t);

// --- maps.c: what is mapped where ---

struct mprof_mapping {
  uintptr_t start, limit;
  uint64_t offset; // in the file
  uintptr_t bias;  // less this, addresses are those in the ELF file
  char file[256];
  char build_id[41]; // lower-case hex, "" if none; longer ones are cut
  // Set by epochs.h. It was there for what is gone by an unload after from, up
  // to to. What was unloaded is shown shift above where it was.
  uint32_t from, to;
  uintptr_t shift;
  int64_t noted_ns; // when it was there, CLOCK_REALTIME
  // A writer's own.
  bool has_names; // some frame in it has a function
  uint64_t id;
  struct mprof_mapping *next;
};
struct mprof_maps {
  struct mprof_mapping *v; // executable ones; v[0] is the main program's
  size_t len;              // that are there
  size_t past_len;         // behind them: those that were, last ones last
  size_t mapped_bytes;
};
// Reads /proc/self/maps, and nothing of the past. 0 or errno. Free with
// mprof_maps_free.
int mprof_maps_read(struct mprof_maps *m);
void mprof_maps_free(struct mprof_maps *m);
// Where files show a return address of a bucket that is gone by that unload, 0
// for none: no two modules share such an address.
mprof_pc mprof_maps_shown(const struct mprof_maps *m, mprof_pc pc,
                          uint32_t gone);
// The mapping of an address that is shown.
const struct mprof_mapping *mprof_maps_find(const struct mprof_maps *m,
                                            uintptr_t addr);
// The build id of an ELF file that is mapped as a whole, not as loaders do.
bool mprof_maps_file_build_id(const void *data, size_t len, char out[41]);

// --- symbolize.c ---

struct mprof_frame {
  const char *function; // demangled; "" if unknown
  const char *file;     // "" if unknown
  unsigned line;
  const char *module; // file name of the mapping, "" if unknown
  bool is_library;    // module is not the program's own file
  uintptr_t offset;   // in the module
};
// Starts naming frames; with names through the external llvm-symbolizer, else
// or where there is none, which is said once, by module and offset only, and so
// if the process is AT_SECURE. 0 or an errno value. Between the two calls
// memory and a process are held, and no address is asked for twice; a begin
// inside another's shares what it has.
int mprof_symbolize_begin(bool names);
void mprof_symbolize_end(void);
// From here on it names modules and offsets only; or as before. Guarded by
// writer_lock.
void mprof_symbolize_turn_off(bool off);
// In a forked child: as if nothing had begun. Another thread of the parent may
// have been anywhere in it, so memory is leaked on purpose.
void mprof_symbolize_forget(void);
// As mprof_maps_shown.
mprof_pc mprof_symbolize_shown(mprof_pc pc, uint32_t gone);
// Calls fn for each frame at a return address, innermost first; inlined ones
// are those before the last. The address must lie in a mapping; if not, fn is
// not called and the result is false.
bool mprof_symbolize(mprof_pc pc,
                     void (*fn)(const struct mprof_frame *, void *), void *arg);

// --- skip.c ---

// What a stack's skip leaves out: so many whole frames, and so many functions
// of the next one, the innermost first. With names between
// mprof_symbolize_begin and its end; without, a frame counts as one function.
struct mprof_skipped {
  uint32_t frames;
  unsigned functions;
};
struct mprof_skipped mprof_stack_skipped(const struct mprof_bucket *b,
                                         bool has_names);

// --- wrappers.c ---

// Longer names of functions than that, with the 0, are no wrapper's.
#define MPROF_WRAPPER_NAME 512

// Whether a function (demangled, with parameters) was marked mprof_wrapper.
bool mprof_is_wrapper(const char *function);
// The same; then out gets its name without result, parameters and template
// arguments, which the expression below matches.
bool mprof_wrapper_name(struct mprof_text *out, const char *function);
// An expression for the name that matches it with template arguments or not,
// and nothing if it is too long.
void mprof_wrapper_pattern(struct mprof_text *out, const char *name);
// Calls fn for each registered wrapper's name, under registry_lock.
void mprof_each_wrapper(void (*fn)(const char *name, void *arg), void *arg);

// --- stacks.c: sums over the buckets of equal stacks ---

// Whose labels a stack's samples have.
struct mprof_stack_labels {
  uint16_t most; // the set with the greatest sample; 0: none has labels
  bool differ;   // not all have these
  uint16_t first;
  int64_t weight; // of that sample
};

struct mprof_stack_sum {
  const struct mprof_bucket *bucket; // one with the stack
  struct mprof_mem_estimate sum;
  uint64_t alloc_samples, inuse_samples;
  struct mprof_stack_labels labels;
};
struct mprof_stacks {
  struct mprof_stack_sum *v;
  struct mprof_stack_sum **sorted; // len pointers into v, in any order
  size_t len, mapped_bytes;
  struct mprof_mem_estimate total;
  uint64_t samples, sample_frees;
};
// 0 or ENOMEM. Free it with mprof_stacks_free.
int mprof_stacks_group(struct mprof_stacks *g,
                       const struct mprof_mem_snapshot *s);
void mprof_stacks_free(struct mprof_stacks *g);
// Why a snapshot has no samples, for people; NULL if it has some.
const char *mprof_stacks_why_none(const struct mprof_stacks *g, uint64_t rate);

// The same of the heapx profile, of stacks that it has anything of.
struct mprof_heapx_sum {
  const struct mprof_bucket *bucket; // one with the stack
  struct mprof_heapx_estimate sum;
};
struct mprof_heapx_stacks {
  struct mprof_heapx_sum *v;
  struct mprof_heapx_sum **sorted; // len pointers into v, in any order
  size_t len, mapped_bytes;
  struct mprof_heapx_estimate total;
};
// 0 or ENOMEM. Free it with mprof_heapx_stacks_free.
int mprof_heapx_stacks_group(struct mprof_heapx_stacks *g,
                             const struct mprof_mem_snapshot *s);
void mprof_heapx_stacks_free(struct mprof_heapx_stacks *g);
// Whether there is anything to tell.
bool mprof_heapx_has_any(const struct mprof_heapx_estimate *e);

struct mprof_wait_sum {
  const struct mprof_bucket *bucket; // that of the lock waited for the longest
  int64_t count, cycles;
  size_t locks; // different ones that are known
  struct mprof_stack_labels labels;
};
struct mprof_wait_stacks {
  struct mprof_wait_sum *v;
  struct mprof_wait_sum **sorted; // len pointers into v, most cycles first
  size_t len, mapped_bytes;
  int64_t count, cycles; // of all
};
// Of a snapshot that is not by stack; by_labels: a sum for each set of labels
// that a stack has. 0 or ENOMEM. Free it with mprof_wait_stacks_free.
int mprof_wait_stacks_group(struct mprof_wait_stacks *g,
                            const struct mprof_wait_snapshot *s,
                            bool by_labels);
void mprof_wait_stacks_free(struct mprof_wait_stacks *g);

// --- summary.c: what the end of a process tells of ---

struct mprof_summary {
  struct mprof_mem_snapshot heap;
  struct mprof_wait_snapshot block, mutex; // by lock
  struct mprof_thread_snapshot threads;    // as the options ask
  struct mprof_thread_snapshot created;    // all, by stack
  struct mprof_custom_snapshot custom[MPROF_CUSTOM_PROFILES]; // by number
  size_t custom_len;
  struct mprof_thread_stacks stacks; // grouped, with the option threads
  struct mprof_stuck stuck;          // with the option threadleak
  // Set by mprof_summary_group:
  struct mprof_stacks heap_stacks;
  struct mprof_heapx_stacks heapx_stacks;
  struct mprof_wait_stacks block_stacks, mutex_stacks;
  size_t thread_stacks; // that threads have
  // Worth telling of:
  bool has_heap, has_heapx, has_block, has_mutex, has_threads;
};
// 0 or ENOMEM. Free it with mprof_summary_free in either case.
int mprof_summary_take(struct mprof_summary *s);
// The second half of taking one, for tests: sums up what the snapshots have.
int mprof_summary_group(struct mprof_summary *s);
void mprof_summary_free(struct mprof_summary *s);
bool mprof_summary_has_stacks(const struct mprof_summary *s);

// --- drop_frames.c ---

// The expression for functions whose frames a reader leaves out, with those
// that allocate among them or not.
void mprof_drop_frames(struct mprof_text *t, bool allocators);

// What is shown as the stack of threads whose creation was not seen.
#define MPROF_UNKNOWN_CREATOR "[unknown creator]"

// The same where a skip has left nothing. (Go: lostProfileEvent)
#define MPROF_LOST_EVENT "lostProfileEvent"

// --- the formats. Each returns 0 or an errno value. ---

// profile.proto, gzipped. (Go: writeHeapProto)
int mprof_write_heap_pprof(const struct mprof_mem_snapshot *s, const char *path,
                           bool allocs_first);
int mprof_write_heapx_pprof(const struct mprof_mem_snapshot *s,
                            const char *path);
// The locks are labels, so of a snapshot that is not by stack.
int mprof_write_wait_pprof(const struct mprof_wait_snapshot *s,
                           const char *path);
int mprof_write_thread_pprof(const struct mprof_thread_snapshot *s,
                             const char *path);
// name: of the profile, which the file says; of grouped stacks.
int mprof_write_stacks_pprof(const struct mprof_thread_stacks *s,
                             const char *name, const char *path);
// Legacy text. (Go: writeHeapInternal, debug=1)
int mprof_write_heap_text(const struct mprof_mem_snapshot *s, const char *path);
// One of counts, in a form that Go has for those.
int mprof_write_heapx_text(const struct mprof_heapx_stacks *g,
                           const char *path);
// (Go: printCountCycleProfile, printCountProfile)
int mprof_write_wait_text(const struct mprof_wait_snapshot *s,
                          const char *path);
// The names are not shown, so of a snapshot by stack.
int mprof_write_thread_text(const struct mprof_thread_snapshot *s,
                            const char *path);
int mprof_write_custom_pprof(const struct mprof_custom_snapshot *s,
                             const char *path);
int mprof_write_custom_text(const struct mprof_custom_snapshot *s,
                            const char *path);
// The same of grouped stacks.
int mprof_write_stacks_text(const struct mprof_thread_stacks *s,
                            const char *name, const char *path);
// Each thread by itself, for people. (Go: writeGoroutineStacks)
int mprof_write_stacks_list(const struct mprof_thread_stacks *s,
                            const char *path);
// The exit report. path NULL: to stderr.
int mprof_write_report(const struct mprof_summary *s, const char *path);

// Heapsort: pointers go in the order that comes_before says. Does not allocate,
// as qsort may.
void mprof_sort(void **v, size_t n,
                bool (*comes_before)(const void *, const void *));

// --- free_number.c ---

// A number from first on that is not taken, by some log2(n) questions; max
// where none below it is found.
unsigned mprof_free_number(unsigned first, unsigned max,
                           bool (*is_taken)(void *arg, unsigned number),
                           void *arg);

// --- exit.c ---

// Writes what the options ask for at the end of the process, and says so in
// one line on stderr. Takes guard and writer_lock.
void mprof_write_at_exit(void);
// Whether the options ask for any; says it if not.
bool mprof_wants_files(void);
// Does it, with both taken.
void mprof_write_last_locked(void);

extern struct mprof_lock mprof_writer_lock;
// What the thread has that writes: its own code's frames come first on its
// stack, where all threads' are written. Guarded by writer_lock.
extern struct mprof_caller mprof_writer_caller;

#endif // MPROF_RT_WRITER_H
