// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: if MProf does not know the version of the interpreter, or if the
// interpreter's structures are not as they should be, the stacks keep the
// interpreter's function, nothing crashes, and the profile tells how many
// stacks lack their functions of Python. Structures as they should be give the
// functions of Python, also if the call is in the cold part of the function.
//
// The program exports the symbols of an interpreter, and has structures as
// CPython 3.11 has them.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %gcc -O2 -g -rdynamic -DVERSION=0x030b02f0 %s -o known -pthread
// RUN: %gcc -O1 -g -rdynamic -DVERSION=0x030f00f0 %s -o unknown -pthread
// RUN: %gcc -O1 -g -rdynamic -DVERSION=0x030d00f0 %s -o offsets -pthread
//
// RUN: nm known | grep -q 'EvalFrameDefault.cold' && strip known
// RUN: for case in right cold; do \
// RUN:   %run{heap_rate=1:log_path=$case.%%p} LD_PRELOAD=%preload ./known $case && \
// RUN:   FileCheck --check-prefix=RIGHT %s < $case.*.txt || exit 1; done
// RIGHT-NOT: without {{its|their}} functions of Python
// RIGHT: #1 {{.*}} in inner {{.*}}fake.py:12
// RIGHT-NEXT: #2 {{.*}} in outer {{.*}}fake.py:12
//
// RUN: for case in no-state no-frames bad-frame odd-frame bad-code bad-name \
// RUN:   bad-type bad-table bad-mark few many; do \
// RUN:   %run{heap_rate=1:log_path=$case.%%p} LD_PRELOAD=%preload ./known $case && \
// RUN:   FileCheck --check-prefix=WRONG %s < $case.*.txt || exit 1; done
// RUN: for program in unknown offsets; do \
// RUN:   %run{heap_rate=1:log_path=$program.%%p} LD_PRELOAD=%preload ./$program right && \
// RUN:   FileCheck --check-prefix=WRONG %s < $program.*.txt || exit 1; done
// WRONG-NOT: fake.py
// WRONG: #1 {{.*}} in _PyEval_EvalFrameDefault
// WRONG: 1 stack without its functions of Python

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The offsets of version 3.13, which are too large. Version 3.11 has none.
uint64_t _PyRuntime[64] = {0x7970677562656478, VERSION, 0,
                           [3 ... 63] = 1 << 20};
char PyCode_Type[64], PyUnicode_Type[64];
const unsigned long Py_Version = VERSION;

static void *volatile kept;
static volatile int numbers[20];
__attribute__((noinline)) static void allocate(void) { kept = malloc(12345); }
__attribute__((noinline, cold)) static void allocate_rarely(int i) {
  kept = malloc(12345);
  numbers[i] = i;
}

// The compiler moves the rare calls to a part of their own.
#define RARE(i)                                                                \
  if (numbers[i] == n)                                                         \
    allocate_rarely(i);
#define RARE_4(i) RARE(i) RARE(i + 1) RARE(i + 2) RARE(i + 3)
__attribute__((noinline)) void _PyEval_EvalFrameDefault(int n) {
  RARE_4(0) RARE_4(4) RARE_4(8) RARE_4(12) RARE_4(16) if (n == 0) allocate();
  __asm__ volatile("");
}

union object {
  char bytes[256];
  void *words[32];
};

static void put(union object *o, unsigned offset, const void *value) {
  memcpy(o->bytes + offset, &value, sizeof(value));
}

static void put_text(union object *o, const char *text) {
  const uint32_t state = 1 << 2 | 1 << 5 | 1 << 6; // kind, compact, ascii
  const int64_t len = (int64_t)strlen(text);
  put(o, 8, PyUnicode_Type);
  memcpy(o->bytes + 16, &len, sizeof(len));
  memcpy(o->bytes + 32, &state, sizeof(state));
  memcpy(o->bytes + 48, text, (size_t)len);
}

static union object state, cframe, frames[3], codes[2], file, names[2], table;

// Makes frame i run code i, and be called by frame i + 1.
static void put_frame(int i, const char *name) {
  put(&frames[i], 32, &codes[i]);
  put(&frames[i], 48, &frames[i + 1]);
  put(&frames[i], 56, codes[i].bytes + 184 + 2);
  put(&codes[i], 8, PyCode_Type);
  put(&codes[i], 112, &file);
  put(&codes[i], 128, &names[i]);
  put(&codes[i], 136, &table);
  codes[i].bytes[72] = 10; // first line
  put_text(&names[i], name);
}

static void set_up(void) {
  const uintptr_t id = (uintptr_t)pthread_self();
  const int64_t len = 2;
  memcpy(state.bytes + 152, &id, sizeof(id));
  put(&state, 56, &cframe);
  put(&cframe, 8, &frames[0]);
  put_frame(0, "inner");
  put_frame(1, "outer");
  put(&frames[1], 48, NULL);
  frames[1].bytes[68] = 1; // is_entry
  put_text(&file, "fake.py");
  memcpy(table.bytes + 16, &len, sizeof(len));
  table.bytes[32] = (char)(0x80 | 12 << 3 | 1); // 2 instructions, 2 lines later
}

static void damage(const char *what) {
  static const void *const nowhere = (void *)8192;
  if (strcmp(what, "no-frames") == 0)
    put(&cframe, 8, NULL);
  if (strcmp(what, "bad-frame") == 0)
    put(&frames[0], 48, nowhere);
  if (strcmp(what, "odd-frame") == 0)
    put(&frames[0], 48, frames[1].bytes + 1);
  if (strcmp(what, "bad-code") == 0)
    put(&frames[1], 32, nowhere);
  if (strcmp(what, "bad-name") == 0)
    put(&codes[1], 128, nowhere);
  if (strcmp(what, "bad-type") == 0)
    put(&codes[1], 8, PyUnicode_Type);
  if (strcmp(what, "bad-table") == 0)
    table.bytes[32] = 0;
  if (strcmp(what, "bad-mark") == 0)
    frames[0].bytes[68] = 77;
  if (strcmp(what, "few") == 0)
    frames[1].bytes[68] = 0;
  if (strcmp(what, "many") == 0)
    frames[0].bytes[68] = 1;
}

int main(int argc, char **argv) {
  pthread_key_t key;
  (void)argc;
  set_up();
  damage(argv[1]);
  pthread_key_create(&key, NULL);
  if (strcmp(argv[1], "no-state") != 0)
    pthread_setspecific(key, &state);
  for (int i = 0; i < 20; i++)
    numbers[i] = -1;
  numbers[5] = 5;
  _PyEval_EvalFrameDefault(strcmp(argv[1], "cold") == 0 ? 5 : 0);
  return 0;
}
