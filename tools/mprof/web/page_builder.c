// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "web/page_builder.h"

#include "common/clock.h"
#include "common/helper_fork.h"
#include "common/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 60000, ERROR_MAX = 4096 };

struct web_page *web_page_use(struct web_page *page) {
  if (page)
    page->uses++;
  return page;
}

void web_page_release(struct web_page *page) {
  if (!page || --page->uses > 0)
    return;
  free(page->at);
  free(page);
}

// Returns the content of the file with a null byte behind it. Closes the file.
static char *take_file(int fd, size_t *length) {
  struct stat st;
  char *at = NULL;
  if (fstat(fd, &st) == 0) {
    at = zeroed((size_t)st.st_size + 1, 1);
    for (*length = 0; *length < (size_t)st.st_size;) {
      const ssize_t n =
          pread(fd, at + *length, (size_t)st.st_size - *length, (off_t)*length);
      if (n <= 0)
        break;
      *length += (size_t)n;
    }
  }
  close(fd);
  return at;
}

static void set_error(struct page_builder *b, char *text) {
  free(b->error);
  b->error = text;
}

_Noreturn static void be_child(const struct page_builder *b, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  signal(SIGINT, SIG_IGN); // the server ends the child
  signal(SIGTERM, SIG_DFL);
  signal(SIGHUP, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  // Ends with the server, also if that is killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent || dup2(b->page_fd, STDOUT_FILENO) < 0 ||
      dup2(b->error_fd, STDERR_FILENO) < 0)
    _exit(127);
  const int status = b->make(b->arg, b->attempts);
  _exit(fflush(stdout) == 0 ? status : 127);
}

bool page_builder_start(struct page_builder *b) {
  if (b->child)
    return true;
  const pid_t parent = getpid();
  b->attempts++;
  b->started_ms = clock_now_ms();
  b->page_fd = memfd_create("mprof-page", MFD_CLOEXEC);
  b->error_fd = memfd_create("mprof-errors", MFD_CLOEXEC);
  b->child = b->page_fd < 0 || b->error_fd < 0 ? -1 : helper_fork();
  if (b->child == 0)
    be_child(b, parent);
  if (b->child > 0)
    return true;
  set_error(b, text_of("the page cannot be made: %s", strerror(errno)));
  if (b->page_fd >= 0)
    close(b->page_fd);
  if (b->error_fd >= 0)
    close(b->error_fd);
  b->child = 0;
  return false;
}

// Takes the page, or the messages.
static void take(struct page_builder *b, int status) {
  size_t page_length = 0, length = 0;
  char *page = take_file(b->page_fd, &page_length),
       *error = take_file(b->error_fd, &length);
  b->child = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && page_length > 0) {
    web_page_release(b->page);
    b->page = zeroed(1, sizeof *b->page);
    *b->page = (struct web_page){1, b->attempts, page, page_length};
    set_error(b, NULL);
    free(error);
    return;
  }
  free(page);
  if (length == 0 || !error) {
    free(error);
    error = text_of("the page could not be made (status %d)", status);
  } else if (length > ERROR_MAX) {
    error[ERROR_MAX] = '\0';
  }
  set_error(b, error);
}

bool page_builder_is_busy(struct page_builder *b) {
  int status;
  if (!b->child)
    return false;
  const bool is_late = clock_now_ms() - b->started_ms > LIMIT_MS;
  if (is_late)
    kill(b->child, SIGKILL);
  const pid_t ended = waitpid(b->child, &status, is_late ? 0 : WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR))
    return true;
  take(b, ended < 0 ? 1 << 8 : status);
  if (is_late)
    set_error(b, text_of("the page took more than a minute"));
  return false;
}

void page_builder_end(struct page_builder *b) {
  if (b->child) {
    kill(b->child, SIGKILL);
    waitpid(b->child, NULL, 0);
    close(b->page_fd);
    close(b->error_fd);
    b->child = 0;
  }
  web_page_release(b->page);
  b->page = NULL;
  set_error(b, NULL);
}
