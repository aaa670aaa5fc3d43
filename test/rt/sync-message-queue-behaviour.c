// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: calls on System V and POSIX message queues behave with MProf as
// without it. Their results, data and errno do not differ. This also holds if
// the program is compiled with _FORTIFY_SOURCE.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: %mprof_clang -fmprof -O2 -D_FORTIFY_SOURCE=2 -D_FILE_OFFSET_BITS=64 \
// RUN:   -pthread -I%src/test/Inputs %s -o checked
// RUN: timeout 600 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 600 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./app > on.txt
// RUN: diff plain.txt on.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 600 ./checked > checked.txt
// RUN: diff plain.txt checked.txt
//
// CHECK: end

#define _GNU_SOURCE
#include "sync-calls.h"

#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>

static int queue = -1;
static mqd_t posix = (mqd_t)-1;
static struct {
  long type;
  char text[8];
} message;

static void msgrcv_one(void *who) {
  SHOW_NUMBER_AS(who, msgrcv(queue, &message, 8, 0, 0));
}
static void mq_receive_one(void *who) {
  char text[8];
  SHOW_NUMBER_AS(who, mq_receive(posix, text, sizeof(text), NULL));
}
static void mq_timedreceive_one(void *who) {
  char text[8];
  struct timespec late = after(60000);
  SHOW_NUMBER_AS(who, mq_timedreceive(posix, text, sizeof(text), NULL, &late));
}

static void use_messages(void) {
  queue = msgget(IPC_PRIVATE, 0600);
  if (queue < 0) {
    say("msgget: errno %s", error_name(errno));
    return;
  }
  message.type = 3;
  memcpy(message.text, "three", 6);
  SHOW_NUMBER(msgsnd(queue, &message, 6, 0));
  message.type = 2;
  memcpy(message.text, "two", 4);
  SHOW_NUMBER(msgsnd(queue, &message, 4, IPC_NOWAIT));
  SHOW_NUMBER(msgrcv(queue, &message, 8, 2, 0));
  say("type %ld, text %s", message.type, message.text);
  SHOW_NUMBER(msgrcv(queue, &message, 2, 0, 0));
  SHOW_NUMBER(msgrcv(queue, &message, 2, 0, MSG_NOERROR));
  say("type %ld, text %.2s", message.type, message.text);
  SHOW_NUMBER(msgrcv(queue, &message, 8, 0, IPC_NOWAIT));
  SHOW_NUMBER(msgrcv(-1, &message, 8, 0, 0));
  SHOW_NUMBER(msgsnd(-1, &message, 8, 0));
  message.type = 0;
  SHOW_NUMBER(msgsnd(queue, &message, 8, 0));
  handle_with(0);
  interrupt(msgrcv_one, SYS_msgrcv);
  struct thread t;
  start(&t, msgrcv_one, "queue removed");
  until_blocked(t.tid, SYS_msgrcv, NULL, 0);
  NEED(msgctl(queue, IPC_RMID, NULL) == 0);
  finish(&t);
}

static void use_posix_messages(void) {
  char name[40];
  unsigned priority = 0;
  snprintf(name, sizeof(name), "/mprof.test.%d", getpid());
  struct mq_attr attr;
  memset(&attr, 0, sizeof(attr));
  attr.mq_maxmsg = 1;
  attr.mq_msgsize = 8;
  posix = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
  if (posix == (mqd_t)-1) {
    say("mq_open: errno %s", error_name(errno));
    return;
  }
  mq_unlink(name);
  struct timespec past = {1, 0}, soon = after(10);
  SHOW_NUMBER(mq_send(posix, "message", 8, 5));
  SHOW_NUMBER(mq_timedsend(posix, "message", 8, 5, &past));
  SHOW_NUMBER(mq_timedsend(posix, "message", 8, 5, &soon));
  SHOW_NUMBER(mq_timedsend(posix, "message", 8, 5, &negative));
  SHOW_NUMBER(mq_send(posix, "too long a message", 18, 5));
  SHOW_NUMBER(mq_receive(posix, buffer, 8, &priority));
  say("priority %u", priority);
  say_got();
  SHOW_NUMBER(mq_receive(posix, buffer, 1, NULL));
  SHOW_NUMBER(mq_timedreceive(posix, buffer, 8, NULL, &past));
  SHOW_NUMBER(mq_timedreceive(posix, buffer, 8, NULL, &negative));
  SHOW_NUMBER(mq_receive(-1, buffer, 8, NULL));
  SHOW_NUMBER(mq_send(-1, "", 1, 0));
  handle_with(0);
  interrupt(mq_receive_one, SYS_mq_timedreceive);
  interrupt(mq_timedreceive_one, SYS_mq_timedreceive);
  mq_close(posix);
}

int main(void) {
  use_messages();
  use_posix_messages();
  say("end");
  return 0;
}
