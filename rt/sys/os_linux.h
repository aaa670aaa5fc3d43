// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linux system calls that bypass libc: they do not set errno, are no
// cancellation points and take no lock. So all may be called in hooks and in
// signal handlers. A result below 0 is -errno.

#ifndef MPROF_RT_SYS_OS_LINUX_H
#define MPROF_RT_SYS_OS_LINUX_H

#include "sys/base.h"

#define MPROF_THREAD_NAME 16 // bytes of a thread's name with the 0 (Linux)

long mprof_sys_open(const char *path, int flags, int mode);
long mprof_sys_read(int fd, void *buf, size_t len);
long mprof_sys_write(int fd, const void *buf, size_t len);
long mprof_sys_close(int fd);
long mprof_sys_rename(const char *from, const char *to);
// Renames the file, but returns -EEXIST if a file named to exists.
long mprof_sys_rename_new(const char *from, const char *to);
bool mprof_sys_exists(const char *path);
long mprof_sys_ftruncate(int fd, long len);
// Locks this open file (LOCK_EX); -EWOULDBLOCK if another open file has the
// lock.
long mprof_sys_flock(int fd);
long mprof_sys_unlink(const char *path);
long mprof_sys_fcntl(int fd, int cmd, long arg);
// Returns the length of the link's text. The text has no terminating 0.
long mprof_sys_readlink(const char *path, char *buf, size_t len);
// Stores the device and inode numbers, which identify an open file. 0 or
// -errno.
long mprof_sys_fstat_id(int fd, uint64_t *dev, uint64_t *ino);
// Reserves disk space for bytes from offset on, without changing the file's
// length. mprof_sys_ftruncate to that length gives back space behind it. 0 or
// -errno.
long mprof_sys_reserve(int fd, uint64_t offset, uint64_t bytes);
// Waits until fd accepts data or has an error. Returns 1, or 0 after the
// timeout, or -errno.
long mprof_sys_poll_out(int fd, int timeout_ms);
// Returns the number of names (hard links) of an open file. For a directory it
// includes "." and the ".." of its subdirectories. 0: unknown.
uint64_t mprof_sys_links(int fd);
// Sets the file position to the start of the file.
long mprof_sys_rewind(int fd);
int mprof_sys_getpid(void);
int mprof_sys_gettid(void);
// Stores the calling thread's name, 16 bytes with its 0.
void mprof_sys_own_name(char *name);
void mprof_sys_set_own_name(const char *name);
void mprof_sys_sleep_ms(unsigned ms);
void mprof_sys_yield(void);
// Sets the calling thread's mask of blocked signals. Bit s - 1 stands for
// signal s, as in the kernel. Returns the previous mask.
uint64_t mprof_sys_set_signal_mask(uint64_t mask);
// Queues signal sig with a value for thread tid of this process. 0 or -errno.
long mprof_sys_queue(int tid, int sig, uint64_t value);
// (Linux: linux_dirent64, which no header for programs declares)
struct mprof_dirent {
  uint64_t inode;
  int64_t offset;
  uint16_t length; // of this entry in bytes
  uint8_t type;
  char name[];
};
// Reads entries of a directory in the kernel's format. Returns their total
// length in bytes, 0 at the end.
long mprof_sys_getdents(int fd, void *buf, size_t len);
// Sends sig to the calling thread with the siginfo_t of an earlier signal. 0 or
// -errno.
long mprof_sys_resend(int sig, void *info);
// Returns whether thread tid of this process still exists.
bool mprof_sys_thread_alive(int tid);
// Returns the processor time that the thread has used; 0 if it no longer
// exists.
uint64_t mprof_sys_thread_ran_ns(int tid);
// Returns whether eight bytes at addr can be read. Asks the kernel, so it never
// faults.
bool mprof_sys_readable(uintptr_t addr);
uint64_t mprof_sys_random(void);
int64_t mprof_sys_realtime_ns(void);
// Returns RLIMIT_AS in bytes, UINT64_MAX if there is no limit.
uint64_t mprof_sys_address_space_limit(void);
// Returns RLIMIT_FSIZE in bytes, UINT64_MAX if there is no limit.
uint64_t mprof_sys_file_size_limit(void);
// Makes running threads see all stores made before the call. 0 or -errno.
long mprof_sys_membarrier(void);

struct timespec;
// Sleeps while *word is value, until another thread wakes this one.
void mprof_sys_futex_wait(atomic_uint *word, unsigned value);
// Sleep like mprof_sys_futex_wait, but no longer than the given time.
void mprof_sys_futex_wait_for(atomic_uint *word, unsigned value,
                              const struct timespec *time);
void mprof_sys_futex_wait_ms(atomic_uint *word, unsigned value, uint64_t ms);
void mprof_sys_futex_wake(atomic_uint *word); // wakes one waiter
void mprof_sys_futex_wake_all(atomic_uint *word);
// Wakes all waiters, in other processes, too.
void mprof_sys_futex_wake_shared(atomic_uint *word);

// Writes all of buf, in several writes if necessary, and through EINTR. Returns
// 0 or -errno. A failure raises no SIGPIPE and no SIGXFSZ, which would
// end the program.
int mprof_os_write_all(int fd, const void *buf, size_t len);
// Writes like mprof_os_write_all. *left is the length; on an error, *left
// becomes the number of bytes that were not written.
int mprof_os_write(int fd, const void *buf, size_t *left);
// Returns zeroed private memory for the time of one call, or NULL.
// mprof_os_unmap gives it back to the system.
void *mprof_os_map(size_t len);
void mprof_os_unmap(void *p, size_t len);
// Reserves address space without memory. commit puts memory into a part of it
// and returns false if there is none.
void *mprof_os_reserve(size_t len);
bool mprof_os_commit(void *p, size_t len, bool in_huge_pages);
// Excludes a mapping from forked children.
void mprof_os_keep_from_children(void *p, size_t len);
// Stores the i-th entry of a table of the mappings that the functions above
// have made. *len is 0 if the entry is unused at present. Returns false if i is
// past the table's end. The table has 256 entries; if it is full, further
// mappings are left out.
bool mprof_os_own_map(size_t i, uintptr_t *start, size_t *len);
// Gives the memory back to the system. The range then reads as zeros.
void mprof_os_discard(void *p, size_t len);
// For tests: makes the n-th request for memory from now on fail, but not those
// after it. 0: no request fails.
void mprof_os_fail_map(int n);

#endif // MPROF_RT_SYS_OS_LINUX_H
