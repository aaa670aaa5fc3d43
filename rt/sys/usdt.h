// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places for probes of other tools (USDT: user-level statically defined
// tracing). A place is a nop, and a note in the ELF section .note.stapsdt. The
// note tells a tool such as bpftrace, perf or gdb the address of the nop, where
// the arguments are, and the address of a semaphore. While the tool observes
// the place, the kernel or the tool adds 1 to the semaphore, in memory. Code
// that costs time runs only while the semaphore is not 0.
//
// The kernel finds the semaphore by its offset in the file. So a semaphore must
// be in a section with data, not in .bss.

#ifndef MPROF_RT_SYS_USDT_H
#define MPROF_RT_SYS_USDT_H

#include "sys/arch.h"
#include "sys/base.h"

// The section of the semaphores. Other implementations use the same name.
#define MPROF_USDT_DATA __attribute__((section(".probes")))

// Format of a note (SystemTap's sdt.h): sizes of the name and of the data, type
// 3, the name "stapsdt", then the addresses of the nop, of a base section and
// of the semaphore, and the texts: provider, name, places of the arguments. The
// base section tells tools by how much prelink has moved the file.
#define MPROF_USDT_NOTE(Provider, Name, Semaphore, Args)                       \
  "990: nop\n"                                                                 \
  ".pushsection .note.stapsdt,\"\",@note\n"                                    \
  ".balign 4\n"                                                                \
  ".4byte 992f-991f, 994f-993f, 3\n"                                           \
  "991: .asciz \"stapsdt\"\n"                                                  \
  "992: .balign 4\n"                                                           \
  "993: .8byte 990b, _.stapsdt.base, " Semaphore "\n"                          \
  ".asciz \"" Provider "\", \"" Name "\", \"" Args "\"\n"                      \
  "994: .balign 4\n"                                                           \
  ".popsection\n"                                                              \
  ".ifndef _.stapsdt.base\n"                                                   \
  ".pushsection .stapsdt.base,\"aG\",@progbits,.stapsdt.base,comdat\n"         \
  ".weak _.stapsdt.base\n"                                                     \
  ".hidden _.stapsdt.base\n"                                                   \
  "_.stapsdt.base: .space 1\n"                                                 \
  ".size _.stapsdt.base, 1\n"                                                  \
  ".popsection\n"                                                              \
  ".endif\n"

// A place with one argument, and with three arguments, of 8 bytes each.
// Semaphore: a text for the assembler, the semaphore's address.
#define MPROF_USDT_1(Provider, Name, Semaphore, A)                             \
  MPROF_USDT_PLACE_1(                                                          \
      MPROF_USDT_NOTE(Provider, Name, Semaphore, MPROF_USDT_ARGS_1), A)
#define MPROF_USDT_3(Provider, Name, Semaphore, A, B, C)                       \
  MPROF_USDT_PLACE_3(                                                          \
      MPROF_USDT_NOTE(Provider, Name, Semaphore, MPROF_USDT_ARGS_3), A, B, C)

#endif // MPROF_RT_SYS_USDT_H
