// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces the system call by which MProf reads the frames of coroutines.
// qemu-user does not have it. Word by word, because the memory may end.

#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" {
bool mprof_sys_readable(uintptr_t addr);
size_t __wrap_mprof_sys_copy(void *to, uintptr_t from, size_t len);

size_t __wrap_mprof_sys_copy(void *to, uintptr_t from, size_t len) {
  size_t n = 0;
  for (; n + 8 <= len && mprof_sys_readable(from + n); n += 8)
    memcpy(static_cast<char *>(to) + n, reinterpret_cast<void *>(from + n), 8);
  return n;
}
}
