// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the descriptor of an output file is above 2, and above the numbers
// that programs close in a loop if the limit allows that. If the program
// nevertheless closes the descriptor and opens a file with the same number, the
// runtime writes nothing into this file. The runtime does not close the file,
// returns -EBADF and leaves no temporary file.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app
// RUN: ./app
// RUN: test "$(ls -A)" = "$(printf 'app\nown')"
// RUN: test ! -s own

#include "core.h"

#include "file/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static char data[3 * MPROF_OUTFILE_BUFFER];
static struct mprof_outfile f;

static void open_file(bool gzip) {
  CHECK_EQ(mprof_outfile_open(&f, "file", gzip), 0);
  mprof_outfile_put(&f, data, sizeof(data));
}

// From here on the number belongs to a file of the program.
static void take_number(void) {
  const int own = open("own", O_WRONLY | O_CREAT | O_APPEND, 0600);
  CHECK(own >= 0);
  CHECK_EQ(dup2(own, f.fd), f.fd);
  close(own);
}

static void give_back(void) {
  CHECK(fcntl(f.fd, F_GETFD) >= 0); // still open
  close(f.fd);
}

static void write_to_another(bool gzip) {
  open_file(gzip);
  take_number();
  mprof_outfile_put(&f, data, sizeof(data));
  CHECK_EQ(mprof_outfile_close(&f), -EBADF);
  give_back();
  open_file(gzip); // only the end is still to be written
  take_number();
  CHECK_EQ(mprof_outfile_close(&f), -EBADF);
  give_back();
}

static void begin_another_anew(void) {
  open_file(false);
  take_number();
  CHECK_EQ(mprof_outfile_restart(&f), -EBADF);
  CHECK_EQ(mprof_outfile_close(&f), -EBADF);
  give_back();
}

static void lend_another(void) {
  const int lent = open("lent", O_WRONLY | O_CREAT | O_EXCL, 0600);
  CHECK_EQ(mprof_outfile_open_fd(&f, lent, 0), 0);
  take_number();
  mprof_outfile_put(&f, data, sizeof(data));
  CHECK_EQ(mprof_outfile_close(&f), -EBADF);
  give_back();
  unlink("lent");
}

int main(void) {
  const struct rlimit limit = {256, 256};
  open_file(false);
  CHECK(f.fd >= 512);
  CHECK_EQ(mprof_outfile_close(&f), 0);
  CHECK_EQ(unlink("file"), 0);
  for (int gzip = 0; gzip <= 1; gzip++)
    write_to_another(gzip);
  begin_another_anew();
  lend_another();
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  close(0);
  close(1);
  open_file(false);
  CHECK(f.fd > 2 && f.fd < 256);
  CHECK_EQ(mprof_outfile_close(&f), 0);
  CHECK_EQ(unlink("file"), 0);
  write_to_another(false);
  return 0;
}
