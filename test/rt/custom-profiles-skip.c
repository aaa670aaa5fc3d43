// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the argument skip of mprof_profile_add omits that many functions of
// the stack, including inlined functions, in files and in the report. A value
// whose stack has no function left is shown under lostProfileEvent.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -g1 -I%src/test/Inputs %s -o app
// RUN: %run{log_path=x} ./app
// RUN: %mprof_read --symbolize x.*.skip.pb.gz | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < skip.txt
// RUN: FileCheck %s --check-prefix=REPORT < x.*[0-9].txt
//
// CHECK: sample: 4 : lostProfileEvent{{$}}
// CHECK-NEXT: sample: 1 : note <- track <- open_it <- main{{$}}
// CHECK-NEXT: sample: 1 : track <- open_it <- main{{$}}
// CHECK-NEXT: sample: 1 : open_it <- main{{$}}
// CHECK-NEXT: sample: 1 : main{{$}}
// CHECK-NEXT: sample: 1 : lostProfileEvent{{$}}
// CHECK-NEXT: sample: 1 : lostProfileEvent{{$}}
//
// TEXT: {{^}}skip profile: total 10{{$}}
// TEXT-NEXT: {{^}}4 @ 0x1{{$}}
// TEXT-NEXT: {{^}}#	lostProfileEvent{{$}}
// TEXT: {{^}}1 @ 0x[[#%x,]] 0x[[#%x,]]{{$}}
// TEXT-NEXT: {{^}}#	0x[[#%x,]]	note
// TEXT: {{^}}1 @ 0x[[#%x,]] 0x[[#%x,]]{{$}}
// TEXT-NEXT: {{^}}#	0x[[#%x,]]	track
// TEXT: {{^}}1 @ 0x[[#%x,]] 0x[[#%x,]]{{$}}
// TEXT-NEXT: {{^}}#	0x[[#%x,]]	open_it
// TEXT: {{^}}1 @ 0x[[#%x,]]{{$}}
// TEXT-NEXT: {{^}}#	0x[[#%x,]]	main
//
// REPORT: {{^}}1. 4 values{{$}}
// REPORT-NEXT: lostProfileEvent no frame is left, because the skip count of mprof_profile_add is too large{{$}}
// REPORT: {{^}}3. 1 value{{$}}
// REPORT-NEXT: #0 {{.*}} in track

#include <mprof/mprof.h>

#include "records.h"

static struct mprof_profile *p;

static inline __attribute__((always_inline)) void note(uintptr_t id, int skip) {
  CHECK(mprof_profile_add(p, id, skip) == 0);
}
static inline __attribute__((always_inline)) void track(uintptr_t id,
                                                        int skip) {
  note(id, skip);
}
__attribute__((noinline)) static void open_it(uintptr_t id, int skip) {
  track(id, skip);
}

int main(void) {
  CHECK(mprof_profile_new("skip", &p) == 0);
  for (int i = 0; i < 4; i++)
    open_it((uintptr_t)i, 47674);      // a skip that is too large by itself
  for (int skip = 0; skip < 6; skip++) // 4 and 5 leave no function
    open_it((uintptr_t)skip + 10, skip);
  CHECK(mprof_write_profile("skip", "skip.txt", 1) == 0);
  return 0;
}
