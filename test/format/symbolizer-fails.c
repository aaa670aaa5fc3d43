// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if the command mprof does not work, frames have no names, and one
// message says why, and the file that mprof was asked about is counted. This
// holds if the program ends at once, sends a wrong reply, cannot be executed,
// is of another version or does not reply. A program that has not replied in
// time is never started again, also not in a forked child.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: for ms in 300 120000; do %unit -fno-sanitize=all -D_GNU_SOURCE \
// RUN:   -DMPROF_SYMBOLIZER_TIMEOUT_MS=$ms \
// RUN:   "-DMPROF_SYMBOLIZER_PLACES=\"$PWD\"" %s \
// RUN:   %rt/symbolize/symbolizers.c %rtlib -Wl,-z,muldefs -o app-$ms || exit 1; done
//
// The forked child prints the message again, unless mprof has not replied.
// DEFINE: %{app} = %run{symbolizer_cache=0} timeout 600 ./app-120000
// DEFINE: %{ended} = grep -c 'mprof ended unexpectedly when it looked up names in /.*/app-120000; its frames are shown without names$' err | grep -x 2
// RUN: printf "#!/bin/sh\necho >> '%t.dir/starts'\n" > begin
// RUN: (cat begin && echo 'exit 1') > mprof
// RUN: chmod +x mprof
// RUN: %{app} 2> err && %{ended} && wc -l < starts | grep -x 4 && rm starts
// RUN: (cat begin && echo 'printf =wrong >&0; exec sleep 100') > mprof
// RUN: %{app} 2> err && %{ended} && wc -l < starts | grep -x 4 && rm starts
// A busy machine may not start the program before the time is over.
// RUN: (cat begin && echo 'exec sleep 100') > mprof
// RUN: until test -e starts; do \
// RUN:   %run{symbolizer_cache=0} ./app-300 2> err || exit 1; done
// RUN: wc -l < starts | grep -x 1
// RUN: grep -c 'mprof took more than 30 s to look up names, and is not asked again' err | grep -x 1
// RUN: echo '#!/nowhere' > mprof
// RUN: %{app} 2> err
// RUN: grep -c "cannot execute $PWD/mprof; frames are shown without names" err | grep -x 2
// RUN: (cat begin && echo 'exec %build/bin/mprof serve-names old') > mprof
// RUN: rm -f starts && %{app} 2> err && wc -l < starts | grep -x 4 && rm starts
// RUN: grep -c "$PWD/mprof is of another version of MProf than this program; frames are shown without names" err | grep -x 2
// A program that ignores SIGCHLD learns the reason, too.
// RUN: %{app} ignores 2> err
// RUN: grep -c 'mprof is of another version' err | grep -x 2
//
// A working program at this path is used.
// RUN: rm starts
// RUN: echo 'exec %build/bin/mprof "$@"' | cat begin - > mprof
// RUN: %{app} works 2> err && test ! -s err
// RUN: wc -l < starts | grep -x 4
// A program that another user can change is not used.
// DEFINE: %{none} = %run{symbolizer_cache=0} PATH=/nowhere ./app-120000 none 2> err && grep -q 'found no mprof' err
// RUN: rm starts && chmod o+w mprof && %{none} && test ! -e starts
// Nor is one that another user can replace by another program, unless the
// directory is sticky.
// RUN: chmod o-w mprof && chmod o+w . && %{none}
// RUN: test ! -e starts
// RUN: chmod +t . && %{app} works 2> err && test -e starts
// RUN: chmod o-w,-t . && rm starts && chgrp 12 . && chmod g+w . && %{none}
// RUN: test ! -e starts

#include "core.h"
#include "snap.h"

#include "process/process.h"
#include "symbolize/symbolize.h"
#include "sys/stats.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void leaf(void) {
  __asm__ volatile(".fill 16, 1, 0x90"); // each is looked up once
}

static void look(const struct mprof_frame *f, void *arg) {
  *(bool *)arg = strcmp(f->function, "leaf") == 0 && f->line > 0;
}

static void find_names(int first, bool works) {
  bool has_name;
  writer_enter();
  CHECK_EQ(mprof_symbolize_begin(true), 0);
  for (int i = 0; i < 2; i++) {
    has_name = false;
    CHECK(mprof_symbolize(snap_pc(leaf, first + i), look, &has_name));
    CHECK_EQ(has_name, works);
  }
  mprof_symbolize_end();
  writer_leave();
}

int main(int argc, char **argv) {
  const bool works = argc > 1 && strcmp(argv[1], "works") == 0;
  const bool ignores = argc > 1 && strcmp(argv[1], "ignores") == 0;
  CHECK(mprof_process_ready());
  CHECK(signal(SIGCHLD, ignores ? SIG_IGN : SIG_DFL) != SIG_ERR);
  for (int i = 0; i < 3; i++)
    find_names(2 * i + 1, works);
  const bool fails = !works && !(argc > 1 && strcmp(argv[1], "none") == 0);
  CHECK_EQ(mprof_stat_get(MPROF_STAT_names_unread), fails ? 1 : 0);
  CHECK(signal(SIGCHLD, SIG_DFL) != SIG_ERR); // waitpid needs it
  pid_t pid = fork();
  if (pid == 0) {
    find_names(1, works);
    _exit(3);
  }
  int status;
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  return 0;
}
