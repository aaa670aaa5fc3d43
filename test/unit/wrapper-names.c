// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: functions are recognized as wrappers by name, whatever their result
// type, parameters and template arguments are. No other function is taken for a
// wrapper. The names stay known after their library is unloaded.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "symbolize/wrappers.h"
#include "sys/message.h"
#include "sys/tls.h"

#define REST "(\\[abi:.*\\])?(<.*>)?"
static void pattern(const char *name, const char *want) {
  char buf[512] = "";
  struct mprof_text t = MPROF_TEXT(buf);
  mprof_wrapper_pattern(&t, name);
  CHECK_STR(buf, want);
}

static unsigned names_seen;
static void count(const char *name, void *arg) {
  (void)name, (void)arg;
  names_seen++;
}

static bool is_wrapper(const char *name) {
  CHECK(mprof_guard_enter());
  const bool is = mprof_is_wrapper(name);
  mprof_guard_leave();
  return is;
}

int main(void) {
  static char first[] = "xmalloc";
  const char *const names[] = {first,
                               "ns::A::make",
                               "operator new",
                               "(anonymous namespace)::f",
                               "box<int>::operator()",
                               "user()::$_0::operator()",
                               "part.llvm.123",
                               "g"};
  struct __mprof_wrappers node = {.names = names, .count = 8};
  CHECK(!is_wrapper("xmalloc"));
  __mprof_register_wrappers(&node);
  for (int i = 0; i < 2; i++) {
    CHECK(is_wrapper("xmalloc"));
    CHECK(is_wrapper("xmalloc(unsigned long)"));
    CHECK(is_wrapper("xmalloc.cold"));
    CHECK(is_wrapper("xmalloc(int) [clone .llvm.12]"));
    CHECK(is_wrapper("ns::A::make(int)"));
    CHECK(is_wrapper("long* ns::A::make<long>(int)"));
    CHECK(is_wrapper("void ns::A::make<std::pair<int, int>, (char)0>()"));
    CHECK(is_wrapper("operator new(unsigned long, int)"));
    CHECK(is_wrapper("(anonymous namespace)::f(int)"));
    CHECK(is_wrapper("box<long>::operator()(int) const"));
    CHECK(is_wrapper("ns::A::make[abi:cxx11](int)"));
    CHECK(is_wrapper("decltype(fp(fp0)) ns::A::make<int>(int, int)"));
    CHECK(is_wrapper("decltype (fp((0))) ns::A::make<int>()"));
    CHECK(is_wrapper("user()::$_0::operator()(int) const"));
    CHECK(is_wrapper("user(int (*)()) const::$_0::operator()(int)"));
    CHECK(is_wrapper("part.llvm.123"));
    CHECK(is_wrapper("part"));
    CHECK(is_wrapper("int g<int>(int)"));
    CHECK(!is_wrapper("user()"));
    CHECK(!is_wrapper("user()::$_1::operator()(int)"));
    CHECK(!is_wrapper("decltype(xmalloc"));
    CHECK(!is_wrapper("decltype(ns::A::make(1)) user(int)"));
    CHECK(!is_wrapper("user[abi:"));
    CHECK(!is_wrapper("xmalloc2"));
    CHECK(!is_wrapper("my_xmalloc"));
    CHECK(!is_wrapper("ns::xmalloc(int)"));
    CHECK(!is_wrapper("operator new[](unsigned long)"));
    CHECK(!is_wrapper("box<long>::operator<(int)"));
    CHECK(!is_wrapper("A::make(int)"));
    CHECK(!is_wrapper(""));
    // In the second round, the module is unloaded and its strings are
    // overwritten.
    if (i == 0)
      __mprof_unregister_wrappers(&node);
    memset(first, '?', strlen(first));
  }
  // A library that is loaded again and again does not fill memory.
  strcpy(first, "xmalloc");
  for (int i = 0; i < 100; i++) {
    __mprof_register_wrappers(&node);
    __mprof_unregister_wrappers(&node);
  }
  CHECK(mprof_guard_enter());
  mprof_each_wrapper(count, NULL);
  CHECK_EQ(names_seen, 8);

  char out[512] = "";
  struct mprof_text t = MPROF_TEXT(out);
  CHECK(!mprof_wrapper_name(&t, "user()"));
  CHECK_STR(out, "");
  CHECK(mprof_wrapper_name(&t, "long* ns::A<int>::make<long>(int)"));
  CHECK_STR(out, "ns::A::make");
  mprof_guard_leave();

  pattern("xmalloc", "xmalloc" REST);
  pattern("ns::A::make", "ns(<.*>)?::A(<.*>)?::make" REST);
  pattern("A<int>::operator[]", "A(<.*>)?::operator\\[\\]" REST);
  return 0;
}
