// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: an output file replaces a symbolic link instead of following it, and
// is readable only by its owner. Its descriptor is above those of the standard
// streams. The name of the temporary file is short enough, however long the
// final name is. An output file never replaces a device.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app \
// RUN:   -Wl,--wrap=mprof_sys_open
// RUN: ./app <&- 1>&-

#include "core.h"

#include "file/outfile.h"
#include "sys/message.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mprof_outfile f;

static int write_file(const char *path) {
  int error = mprof_outfile_open(&f, path, false);
  if (error != 0)
    return error;
  CHECK(f.fd > 2);
  CHECK_EQ(fcntl(f.fd, F_GETFD), FD_CLOEXEC);
  mprof_outfile_text(&f, "new\n");
  return mprof_outfile_close(&f);
}

// A file or link that already has the temporary name is neither used nor
// followed.
long __real_mprof_sys_open(const char *path, int flags, int mode);
long __wrap_mprof_sys_open(const char *path, int flags, int mode);
long __wrap_mprof_sys_open(const char *path, int flags, int mode) {
  const int want = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  if (flags & O_CREAT)
    CHECK_EQ(flags, want);
  return __real_mprof_sys_open(path, flags, mode);
}

int main(void) {
  struct stat st;
  umask(0);
  mprof_message_init();
  CHECK_EQ(write_file("plain"), 0);
  CHECK_EQ(stat("plain", &st), 0);
  CHECK_EQ(st.st_mode & 07777, 0600);
  CHECK_EQ(st.st_size, 4);

  CHECK_EQ(symlink("target", "link"), 0);
  CHECK_EQ(write_file("link"), 0);
  CHECK(stat("target", &st) != 0);
  CHECK(lstat("link", &st) == 0 && S_ISREG(st.st_mode));

  char name[300];
  memset(name, 'n', sizeof(name));
  name[255] = '\0';
  CHECK_EQ(write_file(name), 0);
  CHECK_EQ(stat(name, &st), 0);
  name[255] = 'n';
  name[256] = '\0';
  CHECK_EQ(write_file(name), -ENAMETOOLONG);

  CHECK_EQ(write_file("missing/file"), -ENOENT);
  CHECK_EQ(write_file(""), -ENOENT);
  CHECK_EQ(mkdir("dir", 0700), 0);
  CHECK_EQ(write_file("dir"), -EISDIR);
  CHECK_EQ(write_file("plain/file"), -ENOTDIR);
  CHECK_EQ(write_file("/dev/null"), -EOPNOTSUPP);
  CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));

  // A different file that has got descriptor 2 since the start is not stderr.
  close(2);
  CHECK_EQ(open("plain", O_WRONLY), 0);
  CHECK_EQ(dup2(0, 2), 2);
  CHECK_EQ(mprof_outfile_open_stderr(&f), -EBADF);
  mprof_message_always("must not be written");
  CHECK_EQ(stat("plain", &st), 0);
  return st.st_size != 4;
}
