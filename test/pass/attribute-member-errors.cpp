// Intent: in an attribute of a C++ member function, argument 1 is `this`, as in
// GCC's alloc_size. If the position of an argument is uncertain, the attribute
// is an error.
// RUN: %clangxx_mprof -std=c++20 -fsyntax-only -Xclang -verify %s
#include <cstddef>
#include <string>
#include <string_view>

struct S {
  [[mprof::alloc(1)]] void *self(size_t); // expected-error {{argument 1 of 'alloc' names 'this', which is not a size}}
  [[mprof::alloc(3)]] void *range(size_t); // expected-error {{argument 1 of 'alloc' is 3, but the function has 2 arguments, counting 'this'}}
  [[mprof::alloc(2)]] static void *range_static(size_t); // expected-error {{argument 1 of 'alloc' is 2, but the function has 1 argument}}
  [[mprof::free(2)]] S(void *); // expected-error {{'free' cannot apply to a constructor or destructor}}
  [[mprof::free(1)]] ~S(); // expected-error {{'free' cannot apply to a constructor or destructor}}
  [[mprof::alloc(3)]] void *view(std::string_view, size_t); // expected-error {{follows an argument of type 'std::string_view'}}
  template <class T> [[mprof::alloc(3)]] void *dependent(T, size_t); // expected-error {{follows an argument of type 'T'}}
  template <class T> [[mprof::alloc(2)]] T result(size_t); // expected-error {{needs a function that returns a pointer, not 'T'}}
  template <int N> [[mprof::alloc(N)]] void *value(size_t); // expected-error {{is not an integer constant}}

  [[mprof::alloc(2)]] void *good(size_t);
  [[mprof::alloc(1)]] static void *good_static(size_t);
  [[mprof::free(1)]] void release();
  [[mprof::alloc(3)]] void *good_string(std::string, size_t);
  [[mprof::alloc(3)]] void *good_reference(std::string_view &, size_t);
  template <class T> [[mprof::alloc(2)]] T *good_template(size_t, T);
};
