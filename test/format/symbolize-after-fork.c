// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a process may fork while MProf looks up the names of frames. The
// child can look up names of its own frames, and does not keep the parent's
// mprof alive: it has no socket of it.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && timeout 600 ./app

#include "core.h"
#include "snap.h"

#include "process/process.h"
#include "symbolize/symbolize.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void leaf(void) { __asm__ volatile("nop"); }

static void look(const struct mprof_frame *f, void *arg) {
  *(bool *)arg = strcmp(f->function, "leaf") == 0;
}

static void name_leaf(void) {
  bool has_name = false;
  CHECK(mprof_symbolize(snap_pc(leaf, 1), look, &has_name));
  CHECK(has_name);
}

static int count_sockets(void) {
  struct stat st;
  int n = 0;
  for (int fd = 0; fd < 1024; fd++)
    n += fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
  return n;
}

int main(void) {
  CHECK(mprof_process_ready());
  writer_enter();
  CHECK_EQ(mprof_symbolize_begin(true), 0);
  const int before = count_sockets();
  name_leaf();
  CHECK(count_sockets() > before);
  int go[2], stopped[2], status;
  CHECK_EQ(pipe(go), 0);
  CHECK_EQ(pipe(stopped), 0);
  char c;
  // Skips the runtime's fork handlers, as if another thread named the frames.
  pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) {
    CHECK_EQ(close(stopped[1]), 0); // so that a failing parent ends the read
    mprof_symbolize_forget();
    CHECK_EQ(count_sockets(), before);
    CHECK_EQ(mprof_symbolize_begin(true), 0);
    name_leaf();
    mprof_symbolize_end();
    CHECK_EQ(write(go[1], "", 1), 1);
    // The child lives until the parent has stopped its helper.
    CHECK_EQ(read(stopped[0], &c, 1), 1);
    _exit(3);
  }
  CHECK_EQ(read(go[0], &c, 1), 1);
  name_leaf();
  mprof_symbolize_end();
  writer_leave();
  CHECK_EQ(write(stopped[1], "", 1), 1);
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  return 0;
}
