// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report shows names of C++ functions without result types,
// parameters and template arguments. Operators, also templates and conversions,
// keep their names. Names of other languages are not cut. Suffixes that a
// compiler adds are left out.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "symbolize/short_name.h"

#include <string.h>

static void check_form(const char *name, unsigned form, const char *expected) {
  char buf[200];
  struct mprof_text t = MPROF_TEXT(buf);
  mprof_short_name(&t, name, form);
  CHECK_STR(buf, expected);
}

static void check(const char *name, const char *expected) {
  check_form(name, 0, expected);
}

// A name of another language stays as it is.
static void check_kept(const char *name) { check(name, name); }

static void check_foreign(void) {
  static const char *const names[] = {
      "main.(*Ring[go.shape.int32]).Push",
      "main.Map[go.shape.string]",
      "github.com/a/b.(*T).M",
      "github.com/a/b.F.func1.2",
      "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
      "<&T as core::fmt::Debug>::fmt",
      "alloc::vec::Vec<T,A>::push",
      "core::ptr::drop_in_place<(alloc::string::String, u8)>",
      "app::main::{{closure}}",
      "core::ops::function::FnOnce::call_once{{vtable.shim}}",
      "java/util/HashMap.putVal",
      "java.util.ArrayList.<init>",
      "Main.main(String[])",
      "Program.<Main>$(System.String[])",
      "System.Collections.Generic.List`1.Add",
      "Socket._destroy",
      "Socket.destroy",
      "get length",
      "(anonymous)",
      "Object.<anonymous>",
      "<module>",
      "handler (app/views.py)",
      "-[NSString length]",
      "+[NSString stringWithFormat:]",
      "__29-[NSString length]_block_invoke",
      "[unknown creator]",
  };
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    check_kept(names[i]);
}

static void check_suffixes(void) {
  check("f.cold", "f");
  check("f.cold.1", "f");
  check("f.llvm.1234", "f");
  check("f.constprop.0.isra.1", "f");
  check("f.part.0.cold", "f");
  check("f.lto_priv.0", "f");
  check("ns::f(int) (.part.0.cold)", "ns::f");
  check("ns::f(int) (.resume)", "ns::f");
  check("ns::f(int) [clone .isra.0] [clone .cold]", "ns::f");
  check("core::f<T> (.llvm.123)", "core::f<T>");
  check_kept("f.1");
  check_kept("f.part");
  check_kept(".cold");
}

static void check_rust(const char *name, const char *expected) {
  char buf[200];
  const size_t n = mprof_rust_name(buf, name, strlen(name));
  buf[n] = '\0';
  CHECK_STR(buf, expected);
}

int main(void) {
  check("main", "main");
  check("ns::box<int>::make(int)", "ns::box::make");
  check("void f<int>(int)", "f");
  check("(anonymous namespace)::f()", "(anonymous namespace)::f");
  check("S::operator()(int) const", "S::operator()");
  check("S::operator[](int)", "S::operator[]");
  check("S::operator<(int)", "S::operator<");
  check("bool S::operator< <int>(int)", "S::operator<");
  check("S::operator<<int>(int)", "S::operator<");
  check("S::operator<=>(S const&) const", "S::operator<=>");
  check("std::operator<<<std::char_traits<char>>(std::ostream&, char const*)",
        "std::operator<<");
  check("S::operator->*(int)", "S::operator->*");
  check("operator new[](unsigned long)", "operator new[]");
  check("S::operator bool() const", "S::operator bool");
  check("S::operator std::function<void (int)>() const",
        "S::operator std::function");
  check("operator\"\" _km(long double)", "operator\"\" _km");
  check("main::{lambda(int)#1}::operator()(int) const",
        "main::{lambda(int)#1}::operator()");
  check("main::'lambda'(int)::operator()(int) const",
        "main::'lambda'::operator()");
  check("S::operator()(int)::'lambda'()::operator()() const",
        "S::operator()::'lambda'::operator()");
  check("Cache2::fill() const &::'lambda'(int)::operator()(int) const",
        "Cache2::fill::'lambda'::operator()");
  check("C::f() &&::Local::g()", "C::f::Local::g");
  check("C::f() const volatile &::{lambda()#1}::operator()() const",
        "C::f::{lambda()#1}::operator()");
  check("C::f(int) noexcept::Local::g()", "C::f::Local::g");
  check("Q<&It<int>::operator>(int) const>::alloc_in_Q()", "Q::alloc_in_Q");
  check("Q<&(It<int>::operator<(int) const)>::alloc_in_Q()", "Q::alloc_in_Q");
  check("Q<&It<int>::operator<<int>(int) const>::f()", "Q::f");
  check("Q<&It::operator->() const, my_operator<int>>::f()", "Q::f");
  check("std::enable_if<((sizeof (long))>(4)), void*>::type big<long>(long)",
        "big");
  check("Conv::operator void (*)(int)()", "Conv::operator void (*)(int)");
  check("Conv::operator int (&) [3]()", "Conv::operator int (&) [3]");
  check("Conv::operator void (S::*)(int)() const",
        "Conv::operator void (S::*)(int)");
  check("S::operator A<(1>0), int>() const", "S::operator A");
  check_form("Q<&It<int>::operator>(int) const, (4>3)>::f()",
             MPROF_NAME_KEEPS_ARGUMENTS,
             "Q<&It<int>::operator>(int) const, (4>3)>::f");
  check_form("long *ns::box<int>::make[abi:x]<long>(int)",
             MPROF_NAME_KEEPS_ARGUMENTS, "ns::box<int>::make<long>");
  check("ns::box<int>::make", "ns::box<int>::make");
  check_form("ns::box<int>::make", MPROF_NAME_IS_CXX, "ns::box::make");
  check_foreign();
  check_suffixes();
  check_rust("_$LT$m..A$u20$as$u20$m..Make$GT$::make::hbc58152478a060c4",
             "<m::A as m::Make>::make");
  check_rust("core::ops::function::FnOnce::call_once$u7b$$u7b$vtable.shim$u7d$"
             "$u7d$::h0123456789abcdef",
             "core::ops::function::FnOnce::call_once{{vtable.shim}}");
  check_rust("alloc::vec::Vec$LT$T$C$A$GT$::push::h63b42f5657c8583b",
             "alloc::vec::Vec<T,A>::push");
  check_rust("ns::h0123456789abcdex", "");
  check_rust("::h0123456789abcdef", "");
  CHECK(mprof_name_is_foreign("<m::A as m::Make>::make"));
  CHECK(!mprof_name_is_foreign("ns::box<int>::make(int)"));
  CHECK(!mprof_name_is_foreign("main"));
  return 0;
}
