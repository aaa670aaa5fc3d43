// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linux system calls that bypass libc. The functions do not set errno, are not
// cancellation points and take no lock. So all of them may be called in hooks
// and in signal handlers. A negative result is -errno.

#ifndef MPROF_RT_SYS_OS_H
#define MPROF_RT_SYS_OS_H

#include "sys/arch.h"
#include "sys/base.h"

// Makes a system call, as mprof_syscall_here does. May be a function of its
// own.
static inline long mprof_syscall(long nr, long a, long b, long c, long d,
                                 long e, long f) {
  return mprof_syscall_here(nr, a, b, c, d, e, f);
}

static inline long mprof_syscall3(long nr, long a, long b, long c) {
  return mprof_syscall(nr, a, b, c, 0, 0, 0);
}
static inline long mprof_syscall4(long nr, long a, long b, long c, long d) {
  return mprof_syscall(nr, a, b, c, d, 0, 0);
}

// Size in bytes of a thread's name, including the terminating 0 (Linux).
#define MPROF_THREAD_NAME 16

long mprof_sys_open(const char *path, int flags, int mode);
long mprof_sys_read(int fd, void *buf, size_t len);
long mprof_sys_pread(int fd, void *buf, size_t len, uint64_t offset);
long mprof_sys_write(int fd, const void *buf, size_t len);
long mprof_sys_close(int fd);
long mprof_sys_rename(const char *from, const char *to);
// Renames file `from` to `to`. Returns 0 or -errno. Returns -EEXIST if `to`
// exists.
long mprof_sys_rename_new(const char *from, const char *to);
bool mprof_sys_exists(const char *path);
long mprof_sys_ftruncate(int fd, long len);
// Locks the file that is open as fd (LOCK_EX), without waiting. Returns
// -EWOULDBLOCK if the file is locked through another open file description.
long mprof_sys_flock(int fd);
long mprof_sys_unlink(const char *path);
long mprof_sys_fcntl(int fd, int cmd, long arg);
// Reads the target of the symbolic link path into buf. Returns the length of
// the target. The text in buf has no terminating 0.
long mprof_sys_readlink(const char *path, char *buf, size_t len);
// Returns whether fd refers to a terminal.
bool mprof_sys_is_terminal(int fd);
// Stores the device and inode numbers of the file that is open as fd. Both
// numbers together identify the file. Returns 0 or -errno. If a seccomp filter
// refuses all system calls that read the numbers, stores 0 for every open
// descriptor. The statistic `unchecked` counts such cases.
long mprof_sys_fstat_id(int fd, uint64_t *dev, uint64_t *ino);
// Stores the device and inode numbers of the file that path names. Returns 0 or
// -errno.
long mprof_sys_path_id(const char *path, uint64_t *dev, uint64_t *ino);
// What changes if the content of the file at a path changes.
struct mprof_file_state {
  int64_t changed_ns; // last change of the file or of its inode (st_ctim)
  uint64_t size, inode;
};
// Returns 0 or -errno.
long mprof_sys_file_state(const char *path, struct mprof_file_state *s);
// Returns whether descriptor fd refers to the file with these device and inode
// numbers. If a seccomp filter refuses all system calls that read the numbers,
// returns true for every open descriptor.
bool mprof_sys_has_id(int fd, uint64_t dev, uint64_t ino);
// Reserves disk space for `bytes` bytes from offset on, without changing the
// file's length. To release reserved space behind the file's end, call
// mprof_sys_ftruncate with the file's present length. Returns 0 or -errno.
long mprof_sys_reserve(int fd, uint64_t offset, uint64_t bytes);
// Waits until fd accepts data or has an error. Returns 1 if fd is ready, 0
// after timeout_ms milliseconds, or -errno.
long mprof_sys_poll_out(int fd, int timeout_ms);
// Returns the number of hard links to the file `path`, or 0 if the number is
// unknown. For a directory, the number includes "." and the ".." of each
// subdirectory. fd: the directory of a relative path, or AT_FDCWD. If the path
// is empty: the open file itself.
uint64_t mprof_sys_links(int fd, const char *path);
// Returns the mode (st_mode) of a file, or -errno. fd: AT_FDCWD, or the
// descriptor of the file if path is empty.
long mprof_sys_mode(int fd, const char *path);
// Sets the file position of fd to the start of the file.
long mprof_sys_rewind(int fd);
// Sets the file position of fd to `offset`. Returns 0 or -errno.
long mprof_sys_seek(int fd, uint64_t offset);
int mprof_sys_getpid(void);
int mprof_sys_gettid(void);
// Stores the calling thread's name in the MPROF_THREAD_NAME bytes at name, with
// a terminating 0.
void mprof_sys_own_name(char *name);
void mprof_sys_set_own_name(const char *name);
void mprof_sys_sleep_ms(unsigned ms);
void mprof_sys_yield(void);
// Sleeps for some 50 us, so that other threads can run. A thread that waits for
// many others should prefer this to mprof_sys_yield. The kernel counts each
// yield as a whole time slice that the thread has used. So after many yields, a
// thread that competes with many others does not run for a long time.
void mprof_sys_doze(void);
// Sets the calling thread's mask of blocked signals. Bit s - 1 of the mask
// stands for signal s, as in the kernel. Returns the previous mask.
uint64_t mprof_sys_set_signal_mask(uint64_t mask);
// Sends signal sig with a value to thread tid of this process. Returns 0 or
// -errno.
long mprof_sys_queue(int tid, int sig, uint64_t value);
// A directory entry in the kernel's format. (Linux: linux_dirent64, which no
// user-space header declares)
struct mprof_dirent {
  uint64_t inode;
  int64_t offset;
  uint16_t length; // length of this entry in bytes
  uint8_t type;
  char name[];
};
// Reads entries of the directory fd into buf. Returns the total length of these
// entries in bytes, 0 at the end of the directory, or -errno.
long mprof_sys_getdents(int fd, void *buf, size_t len);
// Sends sig to the calling thread again. info: the siginfo_t of the earlier
// signal, which the new signal gets, too. Returns 0 or -errno.
long mprof_sys_resend(int sig, void *info);
// Returns whether thread tid of this process still exists. Returns true if a
// seccomp filter refuses the system call.
bool mprof_sys_thread_alive(int tid);
// Does the same for thread tid of process pid.
bool mprof_sys_thread_of(int pid, int tid);
// How often the kernel has switched to another thread because this one waited,
// or although it could run.
struct mprof_thread_switches {
  uint64_t waits, preemptions;
  // Processor time when the kernel last updated it: at least when the thread
  // last waited.
  uint64_t cpu_ns;
};
// Returns the numbers of the calling thread.
struct mprof_thread_switches mprof_sys_own_switches(void);
// Returns the processor time in nanoseconds that thread tid has used, or 0 if
// the thread no longer exists.
uint64_t mprof_sys_thread_ran_ns(int tid);
// Creates a timer on the processor time of thread tid. It sends this thread the
// signal sig with that value. Returns 0 or -errno: -EINVAL if the thread has
// ended.
long mprof_sys_timer_create(int tid, int sig, uint64_t value, int *timer);
// Starts the timer: first_ns nanoseconds from now, and then each period_ns.
long mprof_sys_timer_set(int timer, uint64_t first_ns, uint64_t period_ns);
void mprof_sys_timer_delete(int timer);
// Stores the processors on which thread tid may run in mask: bit i of the array
// stands for processor i. bytes: size of mask, a multiple of 8. Returns false
// if the kernel has more processors than bits, or if the thread has ended.
bool mprof_sys_affinity(int tid, uint64_t *mask, size_t bytes);
// Returns whether the eight bytes at addr can be read. The kernel makes the
// check, so no fault can occur.
bool mprof_sys_readable(uintptr_t addr);
// The calling thread's alternate stack for signal handlers, [start, start +
// bytes). bytes is 0 if the thread has none.
struct mprof_alt_stack {
  uintptr_t start, bytes;
  bool is_active; // the thread runs on it
};
// Returns whether the kernel has filled *s.
bool mprof_sys_alt_stack(struct mprof_alt_stack *s);
// Copies len bytes of this process at `from` to `to`. Returns the number of
// bytes that could be read. The kernel makes the copy, so no fault can occur,
// even if another thread unmaps the memory meanwhile. Returns 0 if a seccomp
// filter forbids the call.
size_t mprof_sys_copy(void *to, uintptr_t from, size_t len);
// Does the same. Returns the number of bytes or -errno, which is -EFAULT if the
// first byte cannot be read.
long mprof_sys_try_copy(void *to, uintptr_t from, size_t len);
uint64_t mprof_sys_random(void);
int64_t mprof_sys_realtime_ns(void);
// Returns the smaller one of RLIMIT_AS and RLIMIT_DATA in bytes, or UINT64_MAX
// if there is no limit. RLIMIT_AS limits the process's address space.
// RLIMIT_DATA limits the heap and all private memory that can be written.
uint64_t mprof_sys_memory_limit(void);
// Returns the limit of file sizes (RLIMIT_FSIZE) in bytes, or UINT64_MAX if
// there is no limit.
uint64_t mprof_sys_file_size_limit(void);
// Executes a memory barrier on all running threads of the process, so that
// these threads see all stores that the caller has made before. Returns 0 or
// -errno.
long mprof_sys_membarrier(void);

struct timespec;
// Sleeps until another thread wakes this thread by a futex call for word.
// Returns at once if *word is not equal to value. A signal also ends the sleep.
void mprof_sys_futex_wait(atomic_uint *word, unsigned value);
// Sleeps as mprof_sys_futex_wait does, but at most for ms milliseconds.
void mprof_sys_futex_wait_ms(atomic_uint *word, unsigned value, uint64_t ms);
void mprof_sys_futex_wake(atomic_uint *word); // wakes one waiter
void mprof_sys_futex_wake_all(atomic_uint *word);
// Wakes all threads that sleep on word, including threads of other processes.
void mprof_sys_futex_wake_shared(atomic_uint *word);

// Writes the len bytes at buf, with several system calls if necessary. Repeats
// a call that was interrupted (EINTR). Returns 0 or -errno. A failed write
// raises neither SIGPIPE nor SIGXFSZ, because these signals would end the
// program.
int mprof_os_write_all(int fd, const void *buf, size_t len);
// Writes *left bytes as mprof_os_write_all does. Sets *left to the number of
// bytes that were not written. Returns 0 or -errno.
int mprof_os_write(int fd, const void *buf, size_t *left);

// Adds nice to the nice value of the calling process.
void mprof_sys_lower_own_priority(int nice);
// Returns the effective user id of the process if it is not the same as at the
// start of the program, otherwise -1.
long mprof_sys_new_user(void);

// --- sockets and files in memory ---

struct pollfd;

// Creates a stream socket (AF_UNIX, AF_INET or AF_INET6). The socket is closed
// by exec, and its calls never block.
long mprof_sys_socket(int family);
long mprof_sys_bind(int fd, const void *address, size_t len);
long mprof_sys_listen(int fd, int backlog);
long mprof_sys_connect(int fd, const void *address, size_t len);
// Accepts a connection. The new descriptor is closed by exec, and its calls
// never block.
long mprof_sys_accept(int fd);
// Stores the socket's own address, of at most len bytes.
long mprof_sys_own_address(int fd, void *address, size_t len);
// Sets the integer option `name` of `level` (SOL_SOCKET, IPPROTO_TCP, ...).
long mprof_sys_set_option(int fd, int level, int name, int value);
// Stores in *uid the effective user id of the process at the other end of a
// Unix socket.
long mprof_sys_peer_uid(int fd, unsigned *uid);
// how: SHUT_WR or SHUT_RDWR.
long mprof_sys_shutdown(int fd, int how);
// Send and receive without blocking, and without SIGPIPE.
long mprof_sys_send(int fd, const void *data, size_t len);
long mprof_sys_receive(int fd, void *data, size_t len);
// Sends up to len bytes of the file, from *offset on, to the socket, and adds
// the number of sent bytes to *offset. The caller must block SIGPIPE.
long mprof_sys_send_file(int socket, int file, uint64_t *offset, size_t len);
// Waits until one of n descriptors is ready, at most timeout_ms milliseconds;
// -1: no limit. Returns the number of ready descriptors.
long mprof_sys_poll(struct pollfd *fds, size_t n, int64_t timeout_ms);
long mprof_sys_fchmod(int fd, unsigned mode);
// Creates a file in memory, which ends when its last descriptor is closed. The
// file can grow up to max_bytes; a write beyond this size fails with -EPERM.
long mprof_sys_memory_file(const char *name, uint64_t max_bytes);
// Returns the present position in the file, in bytes from its start.
long mprof_sys_position(int fd);
unsigned mprof_sys_effective_uid(void);

// --- files (os_file.c) ---
//
// The types and the protection of files, the contents of files of /proc and of
// pipes, and the program's command line.
// What is said above about system calls holds for these functions, too.

// Returns whether path names a special file, that is, an existing file that is
// neither a regular file nor a directory. An example is /dev/null. A special
// file must not be replaced by a rename.
bool mprof_os_is_special(const char *path);
// Returns whether path names a regular file.
bool mprof_os_is_file(const char *path);
// Returns whether both paths name the same file.
bool mprof_os_is_same_file(const char *a, const char *b);
// Returns whether fd refers to a regular file.
bool mprof_os_is_regular(int fd);
// Returns whether path is a regular file that this process may execute.
bool mprof_os_is_executable(const char *path);
// Returns whether only root or the user who started this process can change or
// replace the open file: this holds for the directories above it, too.
bool mprof_os_is_protected(int fd);
// Returns whether path is such a file that this process may execute. The
// directories of symbolic links must be protected, too.
bool mprof_os_is_trusted(const char *path);

// Copies the unread data of a pipe to buf without removing the data from the
// pipe. path: a path in /proc, such as /proc/self/fd/3, that names a read end
// of the pipe. Returns the length of the data or -errno. Returns -ENOBUFS if
// not all data could be copied. The function copies through a second pipe,
// which may be too small because of the user's limit for pipes.
long mprof_os_peek_pipe(const char *path, char *buf, size_t len);

// --- files of /proc ---

// A file in mapped memory, which grows while the file is read, because the size
// of a file of /proc is unknown before.
struct mprof_procfile {
  char *data; // contents of the file, followed by a 0
  size_t len, mapped_bytes;
};
// Reads the file path into *f. Returns 0 or -errno. Free *f with
// mprof_procfile_free.
int mprof_procfile_read(struct mprof_procfile *f, const char *path);
// Reads the file that is open as fd from its begin. Leaves fd open. Returns 0
// or -errno.
int mprof_procfile_read_again(struct mprof_procfile *f, int fd);
void mprof_procfile_free(struct mprof_procfile *f);
// Reads the begin of a file, at most cap - 1 bytes, into buf, and ends it with
// a 0. Returns the number of bytes, or -errno; buf is then empty.
long mprof_procfile_begin(const char *path, char *buf, size_t cap);
// The resident memory of the process in bytes; 0: it is unknown.
struct mprof_resident {
  uint64_t all;
  uint64_t anonymous; // without pages of files and shared memory
};
struct mprof_resident mprof_sys_resident(void);
// Writes the program's arguments to buf, separated by blanks. If the program
// has set a title (setproctitle), writes the first argument that the program
// had at start, and " ..." if there were more arguments. Truncates the text to
// len bytes, including the terminating 0. Writes "" if the arguments are
// unknown.
void mprof_command_line(char *buf, size_t len);
// Keeps a copy of the first argument, so that a later title can be recognised.
// argv: the arguments of main. Call at start, while no other thread runs.
// Without this call, mprof_command_line writes the present title.
void mprof_command_keep(char *const *argv);
// Writes the title that the program has given itself to buf, without padding,
// and returns true. Returns false if the program has set no title.
bool mprof_command_title(char *buf, size_t len);

// --- memory (os_memory.c) ---
//
// Memory mappings, and memory that may not be mapped. What is said above about
// system calls holds for these functions, too.

// Maps len bytes of zeroed private memory. Returns NULL on failure. Free the
// memory with mprof_os_unmap.
void *mprof_os_map(size_t len);
void mprof_os_unmap(void *p, size_t len);
// Maps memory as mprof_os_map does, but forked children share the memory.
void *mprof_os_map_shared(size_t len);
// mprof_os_reserve reserves address space without memory and returns NULL on
// failure. mprof_os_commit provides memory for a part of this address space,
// and returns false if the system has no memory. in_huge_pages: asks the kernel
// for huge pages.
void *mprof_os_reserve(size_t len);
bool mprof_os_commit(void *p, size_t len, bool in_huge_pages);
// Replaces the len bytes at p, which mprof_os_reserve has reserved, by address
// space without memory.
void mprof_os_reserve_again(void *p, size_t len);
// Maps len bytes of a file, from `offset` on, at p, which mprof_os_reserve has
// reserved. is_shared: changes reach the file. Returns 0 or -errno.
long mprof_os_map_file(void *p, size_t len, int fd, uint64_t offset,
                       bool is_shared);
// Replaces the len bytes of mapped memory at p, for example of a file, by
// private memory with the same contents. What another thread writes meanwhile
// is lost. Returns 0 or -errno.
long mprof_os_make_private(void *p, size_t len);
// Makes the kernel leave out the len bytes of mapped memory at p when it copies
// the process's memory for a forked child. The range is unmapped in the child.
void mprof_os_keep_from_children(void *p, size_t len);
// Reads entry i of the table of the runtime's own mappings, which mprof_os_map
// and mprof_os_reserve have made. Stores the mapping in *start and *len; *len
// is 0 if the entry is unused. Returns false if i is past the table's end. The
// table has 256 entries. When the table is full, further mappings are not
// recorded.
bool mprof_os_own_map(size_t i, uintptr_t *start, size_t *len);
// Gives the len bytes of memory at p back to the system. The range stays mapped
// and then reads as zeros, also if the system does not take the memory back.
void mprof_os_discard(void *p, size_t len);
// Provides the pages of the len bytes of mapped memory at p by one system call,
// so that the first accesses cause no page faults. Does nothing if the kernel
// is older than Linux 5.14, or if p is not the begin of one of the kernel's
// pages.
void mprof_os_populate(void *p, size_t len);
// Makes the n-th request for memory from now on fail, for tests. Later requests
// succeed again. n = 0: no request fails.
void mprof_os_fail_map(int n);

// Copies up to len bytes at address addr of this process to buf. The kernel
// makes the copy, so no fault can occur if another thread unmaps the memory.
// Returns the number of bytes that could be read, or -errno.
long mprof_os_peek(uintptr_t addr, void *buf, size_t len);
// Copies len bytes at address `from` of this process, which the program may
// unmap at any time. Returns false if not all of them are readable. The kernel
// makes the copy, so no fault can occur. Only if it refuses to do so (seccomp,
// no /proc), the function checks that each page is readable, and then reads.
// Async-signal-safe.
bool mprof_os_copy(void *to, uintptr_t from, size_t len);
// Returns whether the four bytes at addr, a multiple of 4, are in memory that
// must not be written. Returns false if a seccomp filter refuses the call.
bool mprof_sys_is_read_only(uintptr_t addr);
// Returns the program break, the end of the memory that brk changes.
uintptr_t mprof_sys_break(void);
// Returns the size in bytes of a segment of shared memory (shmget), or 0.
size_t mprof_sys_shm_size(int id);
// Returns the size in bytes of the kernel's pages.
uintptr_t mprof_sys_page_size(void);
// Stores in pages[i] whether page i of a mapping is in memory. Returns 0 or
// -errno.
long mprof_sys_mincore(uintptr_t start, size_t len, unsigned char *pages);
// Changes the access rights of the pages of a mapping to protection. Returns 0
// or -errno.
long mprof_sys_mprotect(uintptr_t start, size_t len, int protection);

#endif // MPROF_RT_SYS_OS_H
