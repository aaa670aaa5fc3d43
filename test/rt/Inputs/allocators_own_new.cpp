// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators new and delete of the program. Blocks have a header, so that a
// foreign block is noticed. With FEW_FUNCTIONS there are only the operators
// that the standard builds the others on. The operators call malloc and free
// directly: MProf could not tell that calls in a helper function belong to
// them.

#include <cstdlib>
#include <new>

namespace {
struct alignas(16) Header {
  void *start;
  const void *mark;
};
const char mark = 0;

void *place(void *start, std::size_t align) {
  if (!start)
    throw std::bad_alloc();
  auto at =
      (reinterpret_cast<std::size_t>(start) + sizeof(Header) + align - 1) &
      -align;
  auto *h = reinterpret_cast<Header *>(at) - 1;
  h->start = start;
  h->mark = &mark;
  return h + 1;
}
void *start_of(void *p) {
  if (!p)
    return nullptr;
  auto *h = static_cast<Header *>(p) - 1;
  if (h->mark != &mark)
    __builtin_trap();
  h->mark = nullptr;
  return h->start;
}
} // namespace

extern "C" bool own_new_has(const void *p) {
  return (static_cast<const Header *>(p) - 1)->mark == &mark;
}

using std::align_val_t;
using std::nothrow_t;
using std::size_t;

void *operator new(size_t n) {
  return place(std::malloc(n + 16 + sizeof(Header)), 16);
}
void operator delete(void *p) noexcept { std::free(start_of(p)); }
void operator delete(void *p, size_t) noexcept { std::free(start_of(p)); }
void *operator new(size_t n, align_val_t a) {
  return place(std::malloc(n + size_t(a) + sizeof(Header)), size_t(a));
}
void operator delete(void *p, align_val_t) noexcept { std::free(start_of(p)); }
#ifndef FEW_FUNCTIONS
void operator delete(void *p, size_t, align_val_t) noexcept {
  std::free(start_of(p));
}
void *operator new[](size_t n) {
  return place(std::malloc(n + 16 + sizeof(Header)), 16);
}
void operator delete[](void *p) noexcept { std::free(start_of(p)); }
void operator delete[](void *p, size_t) noexcept { std::free(start_of(p)); }
void *operator new[](size_t n, align_val_t a) {
  return place(std::malloc(n + size_t(a) + sizeof(Header)), size_t(a));
}
void operator delete[](void *p, align_val_t) noexcept {
  std::free(start_of(p));
}
void operator delete[](void *p, size_t, align_val_t) noexcept {
  std::free(start_of(p));
}
void *operator new(size_t n, const nothrow_t &) noexcept {
  return place(std::malloc(n + 16 + sizeof(Header)), 16);
}
void *operator new[](size_t n, const nothrow_t &) noexcept {
  return place(std::malloc(n + 16 + sizeof(Header)), 16);
}
void *operator new(size_t n, align_val_t a, const nothrow_t &) noexcept {
  return place(std::malloc(n + size_t(a) + sizeof(Header)), size_t(a));
}
void *operator new[](size_t n, align_val_t a, const nothrow_t &) noexcept {
  return place(std::malloc(n + size_t(a) + sizeof(Header)), size_t(a));
}
void operator delete(void *p, const nothrow_t &) noexcept {
  std::free(start_of(p));
}
void operator delete[](void *p, const nothrow_t &) noexcept {
  std::free(start_of(p));
}
void operator delete(void *p, align_val_t, const nothrow_t &) noexcept {
  std::free(start_of(p));
}
void operator delete[](void *p, align_val_t, const nothrow_t &) noexcept {
  std::free(start_of(p));
}
#endif
