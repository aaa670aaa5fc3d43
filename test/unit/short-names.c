// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the report shows names of functions without result types, parameters
// and template arguments. Operators, also templates and conversions, keep their
// names.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib %unit_libs -o %t && %t

#include "core.h"

#include "symbolize/short_name.h"

#include <string.h>

static void check(const char *name, const char *expected) {
  char buf[200];
  struct mprof_text t = MPROF_TEXT(buf);
  mprof_short_name(&t, name);
  if (strcmp(buf, expected) != 0)
    fprintf(stderr, "%s: %s\n", name, buf);
  CHECK(strcmp(buf, expected) == 0);
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
  return 0;
}
