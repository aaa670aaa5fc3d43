// Intent: MProf defines attributes only with a scope or prefix, such as
// [[mprof::alloc]] or mprof_alloc. The compiler warns that [[alloc]] is
// unknown.
// Clang 16 takes mprof::alloc in C++ for its own attribute alloc.
// UNSUPPORTED: clang-16
// RUN: %clangxx_mprof -std=c++20 -fsyntax-only -Xclang -verify %s
[[alloc(1)]] void *a(unsigned long); // expected-warning {{unknown attribute 'alloc' ignored}}
[[free]] void b(void *); // expected-warning {{unknown attribute 'free' ignored}}
[[other::realloc(1, 2)]] void *c(void *, long); // expected-warning-re {{unknown attribute {{'(other::)?realloc'}} ignored}}
#if !__has_attribute(mprof_alloc) || !__has_cpp_attribute(mprof::alloc)
#error
#endif
