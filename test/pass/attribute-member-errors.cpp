// Intent: in an attribute of a C++ member function, argument 1 is `this`, as in
// GCC's alloc_size. If the position of an argument is uncertain, the attribute
// is an error.
// RUN: %clangxx_mprof -std=c++20 -fsyntax-only -Xclang -verify %s
#include <cstddef>
#include <string>
#include <string_view>

struct S {
  __attribute__((mprof_alloc(1))) void *self(size_t); // expected-error {{argument 1 of 'mprof_alloc' names 'this', which is not a size}}
  __attribute__((mprof_alloc(3))) void *range(size_t); // expected-error {{argument 1 of 'mprof_alloc' is 3, but the function has 2 arguments, counting 'this'}}
  __attribute__((mprof_alloc(2))) static void *range_static(size_t); // expected-error {{argument 1 of 'mprof_alloc' is 2, but the function has 1 argument}}
  __attribute__((mprof_free(2))) S(void *); // expected-error {{'mprof_free' cannot apply to a constructor or destructor}}
  __attribute__((mprof_free(1))) ~S(); // expected-error {{'mprof_free' cannot apply to a constructor or destructor}}
  __attribute__((mprof_alloc(3))) void *view(std::string_view, size_t); // expected-error {{follows an argument of type 'std::string_view'}}
  template <class T> __attribute__((mprof_alloc(3))) void *dependent(T, size_t); // expected-error {{follows an argument of type 'T'}}
  template <class T> __attribute__((mprof_alloc(2))) T result(size_t); // expected-error {{needs a function that returns a pointer, not 'T'}}
  template <int N> __attribute__((mprof_alloc(N))) void *value(size_t); // expected-error {{is not an integer constant}}

  __attribute__((mprof_alloc(2))) void *good(size_t);
  __attribute__((mprof_alloc(1))) static void *good_static(size_t);
  __attribute__((mprof_free(1))) void release();
  __attribute__((mprof_alloc(3))) void *good_string(std::string, size_t);
  __attribute__((mprof_alloc(3))) void *good_reference(std::string_view &, size_t);
  template <class T> __attribute__((mprof_alloc(2))) T *good_template(size_t, T);
};
