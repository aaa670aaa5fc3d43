// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a custom profile has the values that were added and not removed, by
// the stack that added them. This also holds if mprof_profile_add is called in
// tail position. The program can write the profile at any time in both formats.
// At exit the profile is written to a file and has a section in the report.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{log_path=x} ./app 2> err
// RUN: %mprof_read --symbolize now.pb.gz | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < now.txt
// RUN: %mprof_read --symbolize x.*.conn.pb.gz | FileCheck %s --check-prefix=EXIT
// RUN: %mprof_read x.*.file.pb.gz | FileCheck %s --check-prefix=NONE
// RUN: FileCheck %s --check-prefix=REPORT < x.*[0-9].txt
// RUN: FileCheck %s --check-prefix=LINE < err
// RUN: %run{log_path=y:format=1:report=0} ./app
// RUN: FileCheck %s --check-prefix=LAST < y.*.conn.txt
//
// CHECK: sample_types: conn/count{{$}}
// CHECK-NEXT: period: conn/count 1{{$}}
// CHECK-NOT: sample:
// CHECK: sample: 30 : dial <- main{{$}}
// CHECK-NEXT: sample: 5 : accept_one <- serve <- main{{$}}
// CHECK-NOT: sample:
//
// TEXT: {{^}}conn profile: total 35{{$}}
// TEXT-NEXT: {{^}}30 @ 0x[[#%x,]] 0x[[#%x,]]{{$}}
// TEXT-NEXT: {{^}}#	0x[[#%x,]]	dial	{{.*}}custom-profiles.c:[[#]]{{$}}
// TEXT-NEXT: {{^}}#	0x[[#%x,]]	main	{{.*}}custom-profiles.c:[[#]]{{$}}
// TEXT-EMPTY:
// TEXT-NEXT: {{^}}5 @ 0x
// TEXT: {{^}}--- Memory map: ---{{$}}
//
// EXIT: sample: 1 : accept_one <- serve <- main{{$}}
// EXIT-NOT: sample:
// NONE: sample_types: file/count{{$}}
// NONE-NOT: sample:
// LAST: {{^}}conn profile: total 1{{$}}
//
// REPORT: {{^}}Profile conn: values added and not removed{{$}}
// REPORT: {{^}}Total:     1 value, 1 stack{{$}}
// REPORT: {{^}}1. 1 value{{$}}
// REPORT-NEXT: #0 {{.*}} in accept_one {{.*}}custom-profiles.c:
// REPORT-NEXT: #1 {{.*}} in serve
// REPORT: {{^}}Profile file: values added and not removed{{$}}
// REPORT: {{^}}Total:     0 values, 0 stacks{{$}}
// REPORT: {{^}}SUMMARY: MProf: conn: 1 values, 1 stacks{{$}}
// REPORT: {{^}}SUMMARY: MProf: file: 0 values, 0 stacks{{$}}
// The process id decides whether the line is shortened.
// LINE: conn{{(.pb.gz)?}} (1 value, 1 stack)
// LINE-SAME: file{{(.pb.gz)?}} (0 values, 0 stacks)

#include <mprof/mprof.h>

#include <errno.h>

#include "records.h"

static struct mprof_profile *conn, *file;

__attribute__((noinline)) static int dial(uintptr_t id) {
  return mprof_profile_add(conn, id, 0);
}
__attribute__((noinline)) static int accept_one(uintptr_t id) {
  return mprof_profile_add(conn, id, 0);
}
__attribute__((noinline)) static void serve(void) {
#pragma clang loop unroll(disable)
  for (uintptr_t id = 0; id < 5; id++)
    CHECK(accept_one(id) == 0);
}

int main(void) {
  CHECK(mprof_profile_new("conn", &conn) == 0 && conn);
  CHECK(mprof_profile_new("file", &file) == 0 && file && file != conn);
  CHECK(mprof_profile_lookup("conn") == conn);
  CHECK(mprof_profile_count(conn) == 0);
  serve(); // 0 is a valid descriptor
  for (uintptr_t id = 0; id < 30; id++)
    CHECK(dial(UINTPTR_MAX - id) == 0);
  CHECK(mprof_profile_count(conn) == 35);

  // Adding a value twice does no harm, whichever function adds it.
  CHECK(dial(3) == EEXIST && accept_one(3) == EEXIST);
  CHECK(mprof_profile_count(conn) == 35);
  CHECK(mprof_profile_remove(conn, 1000) == ENOENT);

  // Each profile has values of its own.
  CHECK(mprof_profile_remove(file, 3) == ENOENT);
  CHECK(mprof_profile_add(file, 3, 0) == 0);
  CHECK(mprof_profile_count(file) == 1 && mprof_profile_count(conn) == 35);
  CHECK(mprof_profile_remove(file, 3) == 0);

  errno = 7;
  CHECK(mprof_write_profile("conn", "now.pb.gz", 0) == 0);
  CHECK(mprof_profile_write(conn, "now.txt", 1) == 0);
  CHECK(errno == 7);

  for (uintptr_t id = 0; id < 30; id++)
    CHECK(mprof_profile_remove(conn, UINTPTR_MAX - id) == 0);
  for (uintptr_t id = 1; id < 5; id++)
    CHECK(mprof_profile_remove(conn, id) == 0);
  CHECK(mprof_profile_remove(conn, 4) == ENOENT);
  CHECK(mprof_profile_count(conn) == 1);
  return 0;
}
