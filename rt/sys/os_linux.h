// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls without libc: no errno, no cancellation point, no lock. Results
// below 0 are -errno.

#ifndef MPROF_RT_SYS_OS_LINUX_H
#define MPROF_RT_SYS_OS_LINUX_H

#include "sys/base.h"

#define MPROF_THREAD_NAME 16 // bytes with the 0, as the kernel keeps names

long mprof_sys_open(const char *path, int flags, int mode);
long mprof_sys_read(int fd, void *buf, size_t len);
long mprof_sys_write(int fd, const void *buf, size_t len);
long mprof_sys_close(int fd);
long mprof_sys_rename(const char *from, const char *to);
// The same, but -EEXIST if there is a file named to.
long mprof_sys_rename_new(const char *from, const char *to);
bool mprof_sys_exists(const char *path);
long mprof_sys_ftruncate(int fd, long len);
// Takes the file's lock for this opening of it; -EWOULDBLOCK if another has it.
long mprof_sys_flock(int fd);
long mprof_sys_unlink(const char *path);
long mprof_sys_fcntl(int fd, int cmd, long arg);
// The length of the link's text, which is not terminated.
long mprof_sys_readlink(const char *path, char *buf, size_t len);
// What tells one open file from another. 0 or -errno.
long mprof_sys_fstat_id(int fd, uint64_t *dev, uint64_t *ino);
// Takes room on the disk for bytes from offset on, which the file's length does
// not show; and gives back what is behind its length. 0 or -errno.
long mprof_sys_reserve(int fd, uint64_t offset, uint64_t bytes);
// Waits until fd takes data, or has an error. 1, 0 for neither, or -errno.
long mprof_sys_poll_out(int fd, int timeout_ms);
// How many names an open file has, a directory's . and those of its directories
// included. 0 if that is not known.
uint64_t mprof_sys_links(int fd);
// Back to the file's begin.
long mprof_sys_rewind(int fd);
int mprof_sys_getpid(void);
int mprof_sys_gettid(void);
// The calling thread's name, 16 bytes with its 0.
void mprof_sys_own_name(char *name);
void mprof_sys_set_own_name(const char *name);
void mprof_sys_sleep_ms(unsigned ms);
void mprof_sys_yield(void);
// Sets the calling thread's mask of blocked signals, bit s - 1 for signal s, as
// the kernel has it. Returns the one before.
uint64_t mprof_sys_set_signal_mask(uint64_t mask);
// Queues sig with a value for thread tid of this process. 0 or -errno.
long mprof_sys_queue(int tid, int sig, uint64_t value);
// (Linux: linux_dirent64, which no header for programs has)
struct mprof_dirent {
  uint64_t inode;
  int64_t offset;
  uint16_t length; // of the entry
  uint8_t type;
  char name[];
};
// Entries of a directory as the kernel has them; their length, 0 at the end.
long mprof_sys_getdents(int fd, void *buf, size_t len);
// Sends sig to the calling thread, with a siginfo_t that it had. 0 or -errno.
long mprof_sys_resend(int sig, void *info);
// Whether thread tid of this process still exists.
bool mprof_sys_thread_alive(int tid);
// Processor time that it has used; 0 if it is gone.
uint64_t mprof_sys_thread_ran_ns(int tid);
// Whether eight bytes at addr can be read; asks the kernel, never faults.
bool mprof_sys_readable(uintptr_t addr);
uint64_t mprof_sys_random(void);
int64_t mprof_sys_realtime_ns(void);
// RLIMIT_AS in bytes, UINT64_MAX if there is none.
uint64_t mprof_sys_address_space_limit(void);
// The same of a file's bytes.
uint64_t mprof_sys_file_size_limit(void);
// Makes running threads see stores made before the call. 0 or -errno.
long mprof_sys_membarrier(void);

struct timespec;
void mprof_sys_futex_wait(atomic_uint *word, unsigned value);
// For so long at most.
void mprof_sys_futex_wait_for(atomic_uint *word, unsigned value,
                              const struct timespec *time);
void mprof_sys_futex_wait_ms(atomic_uint *word, unsigned value, uint64_t ms);
void mprof_sys_futex_wake(atomic_uint *word); // one waiter
void mprof_sys_futex_wake_all(atomic_uint *word);
// All, of other processes too.
void mprof_sys_futex_wake_shared(atomic_uint *word);

// Writes all of buf, through short writes and EINTR. 0 or an errno value. A
// failure raises no SIGPIPE and no SIGXFSZ: they would end the program.
int mprof_os_write_all(int fd, const void *buf, size_t len);
// The same; *left is the length, then what an error has left of it.
int mprof_os_write(int fd, const void *buf, size_t *left);
// Zeroed private memory, returned to the system by mprof_os_unmap; for what
// lives during one call only. NULL when there is none.
void *mprof_os_map(size_t len);
void mprof_os_unmap(void *p, size_t len);
// Address space without memory behind it, and memory into a part of it.
void *mprof_os_reserve(size_t len);
bool mprof_os_commit(void *p, size_t len, bool in_huge_pages);
// A forked child does not have that mapping.
void mprof_os_keep_from_children(void *p, size_t len);
// The i-th of the mappings that the above have made; *len 0: there is none now.
// False: neither are further ones. Of more than 256 some are left out.
bool mprof_os_own_map(size_t i, uintptr_t *start, size_t *len);
// Gives the memory back; the range reads as zeros after.
void mprof_os_discard(void *p, size_t len);
// The n-th call from now that asks for memory fails, and those after it do
// not; 0 for none. For tests.
void mprof_os_fail_map(int n);

#endif // MPROF_RT_SYS_OS_LINUX_H
