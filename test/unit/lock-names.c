// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: mprof_name_lock gives a lock a name, changes it or removes it. The
// name is cut between two characters and shown with the lock's address. The
// number of names is bounded. A forked child keeps the names. A wrong call
// returns an error number.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "waits.h"

#include "lock_wait/hooked.h"
#include "mprof/mprof.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/tls.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *label(uintptr_t address) {
  static char text[128];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_guard_enter();
  mprof_lock_label(&t, address);
  mprof_guard_leave();
  return text;
}

static int name(uintptr_t address, const char *s) {
  return mprof_name_lock((const void *)address, s);
}

int main(void) {
  waits_start();
  errno = 77;
  CHECK_EQ(name(0, "x"), EINVAL);
  CHECK_EQ(name(0, NULL), EINVAL);
  CHECK_EQ(name(0x1000, NULL), 0); // no name to remove
  CHECK_STR(label(0x1000), "0x1000");
  mprof_os_fail_map(1);
  CHECK_EQ(name(0x1000, "x"), ENOMEM);
  mprof_os_fail_map(0);
  CHECK_STR(label(0x1000), "0x1000");

  CHECK_EQ(name(0x1000, "queue"), 0);
  CHECK_EQ(name(0x1040, "cache"), 0);
  CHECK_STR(label(0x1000), "queue (0x1000)");
  CHECK_STR(label(0x1040), "cache (0x1040)");
  CHECK_EQ(name(0x1000, "other"), 0);
  CHECK_STR(label(0x1000), "other (0x1000)");
  CHECK_EQ(name(0x1000, NULL), 0);
  CHECK_STR(label(0x1000), "0x1000");
  CHECK_STR(label(0x1040), "cache (0x1040)");

  // Characters that would break a line or a file become '?'.
  CHECK_EQ(name(0x1000, "a\nb\xff"
                        "c"),
           0);
  CHECK_STR(label(0x1000), "a?b?c (0x1000)");
  char text[100] = "";
  memset(text, 'x', 62);
  strcpy(text + 62, "\xc3\xa4"); // the 63rd and 64th byte
  CHECK_EQ(name(0x1000, text), 0);
  CHECK_EQ(strcspn(label(0x1000), " "), 62);
  text[62] = text[63] = 'y';
  CHECK_EQ(name(0x1000, text), 0);
  CHECK_EQ(strcspn(label(0x1000), " "), 63);

  mprof_guard_enter();
  CHECK_EQ(name(0x1000, "x"), EBUSY);
  mprof_guard_leave();

  pid_t pid = fork();
  if (pid == 0) {
    CHECK_STR(label(0x1040), "cache (0x1040)");
    CHECK_EQ(name(0x1080, "child"), 0);
    _exit(0);
  }
  int status;
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  CHECK_EQ(status, 0);

  // Two locks have names already.
  for (uintptr_t i = 0; i < 4094; i++)
    CHECK_EQ(name(0x10000 + i * 64, "many"), 0);
  CHECK_EQ(name(0x20, "one too many"), ENOMEM);
  CHECK_EQ(name(0x1040, "changed"), 0);
  CHECK_EQ(name(0x10000 + 77 * 64, NULL), 0);
  CHECK_EQ(name(0x20, "fits"), 0);
  CHECK_STR(label(0x20), "fits (0x20)");
  CHECK_STR(label(0x10000 + 78 * 64), "many (0x11380)");
  CHECK_EQ(errno, 77);
  return 0;
}
