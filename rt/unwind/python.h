// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shows the functions of Python that CPython's interpreter runs (option
// python_frames). One function of C, _PyEval_EvalFrameDefault, interprets the
// code of all functions of Python. So each return address in it is replaced by
// the functions of Python that this call of it runs:
//
//     stack of the thread          with functions of Python
//       malloc's caller              malloc's caller
//       list_extend                  list_extend
//       _PyEval_EvalFrameDefault     load       service.py:12
//                                    main       service.py:40
//       PyEval_EvalCode              PyEval_EvalCode
//       main                         main
//
// A function of Python has no return address. So each line of its code that is
// in a stack gets an address in a range that no module has (python_lines.c).
//
// The functions take no lock and may run in signal handlers.

#ifndef MPROF_RT_UNWIND_PYTHON_H
#define MPROF_RT_UNWIND_PYTHON_H

#include "sys/base.h"
#include "unwind/unwind.h"

// The code of the interpreter's function; empty if there is no interpreter.
// Written once, when the interpreter is found: begin first.
struct mprof_python {
  uintptr_t begin;
  _Atomic uintptr_t end;
};
extern MPROF_HIDDEN struct mprof_python mprof_python;

// Returns whether the process has an interpreter.
static inline bool mprof_python_is_on(void) {
  return atomic_load_explicit(&mprof_python.end, memory_order_acquire) != 0;
}

// Looks for an interpreter in the program and its libraries, unless it is known
// already. Takes the loader's lock, so call this function only at start, and
// where the program calls the loader anyway.
void mprof_python_look(void);

// Replaces the interpreter's function in the n return addresses at pcs, which
// are a stack. Returns the new number of addresses, at most depth, which is the
// size of the array at pcs. *end: why the stack ends. tid: the thread that has
// the stack, or 0 for the calling thread in an event, which is a call of the
// program. From other threads, stacks are read only from 3.11 on.
// Sets *has_python if the stack has functions of Python. Leaves the stack as it
// is, and counts it as a loss, if there is any doubt about them.
size_t mprof_python_insert(mprof_pc *pcs, size_t n, size_t depth,
                           enum mprof_stack_end *end, bool *has_python,
                           int tid);

// --- the lines ---

// Number of lines that there can be.
#define MPROF_PYTHON_LINES (1u << 16)
// The range of the addresses. They begin above those of all programs, and do
// not use the bits 56 to 63 (pprof.c).
#define MPROF_PYTHON_BEGIN ((uintptr_t)0xf0 << 48)
#define MPROF_PYTHON_END                                                       \
  (MPROF_PYTHON_BEGIN + (uintptr_t)MPROF_PYTHON_LINES * 16)

// Name of the module of these addresses in profiles. No reader finds a file of
// this name, so no reader tries to find their names.
#define MPROF_PYTHON_MODULE "[python]"

static inline bool mprof_python_has(mprof_pc pc) {
  return pc - MPROF_PYTHON_BEGIN < MPROF_PYTHON_END - MPROF_PYTHON_BEGIN;
}

// Returns the index of the line for which the address pc stands, which is less
// than MPROF_PYTHON_LINES.
static inline size_t mprof_python_index(mprof_pc pc) {
  return (pc - MPROF_PYTHON_BEGIN) / 16 % MPROF_PYTHON_LINES;
}

// Maximum sizes of the names in bytes, with the final 0.
enum { MPROF_PYTHON_NAME = 256, MPROF_PYTHON_FILE = 512 };

struct mprof_python_line {
  const char *function, *file; // in UTF-8
  unsigned line;               // 0: unknown
  unsigned start_line;         // of the function
};
// Returns the address that stands for the line, and copies its texts. Returns 0
// if there are too many lines.
mprof_pc mprof_python_address(const struct mprof_python_line *line);
// Stores in *line the line for which the address pc stands. Its texts stay in
// memory. Returns false if pc stands for no line.
bool mprof_python_find(mprof_pc pc, struct mprof_python_line *line);

#endif // MPROF_RT_UNWIND_PYTHON_H
