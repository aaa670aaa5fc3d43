// Intent: an attribute that would cause wrong counts is a compiler error. The
// error points to the attribute and says what is wrong.
// RUN: %clang_mprof -std=c2x -fsyntax-only -ferror-limit=0 -Xclang -verify %s
#include <stddef.h>

int n;
struct pair { long a, b; };
struct empty {};

__attribute__((mprof_alloc(2))) void *range(size_t); // expected-error {{argument 1 of 'mprof_alloc' is 2, but the function has 1 argument}}
__attribute__((mprof_alloc(0))) void *zero(size_t); // expected-error {{argument 1 of 'mprof_alloc' is 0, but the function has 1 argument}}
__attribute__((mprof_alloc(-1))) void *negative(size_t, int); // expected-error {{argument 1 of 'mprof_alloc' is -1, but the function has 2 arguments}}
__attribute__((mprof_alloc(1, 2))) void *count(size_t); // expected-error {{argument 2 of 'mprof_alloc' is 2, but}}
__attribute__((mprof_alloc(n + 1))) void *variable(size_t); // expected-error {{argument 1 of 'mprof_alloc' is not an integer constant}}
__attribute__((mprof_alloc(n))) void *name(size_t); // expected-error {{argument 1 of 'mprof_alloc' is not an integer constant}}
__attribute__((mprof_alloc("1"))) void *text(size_t); // expected-error {{argument 1 of 'mprof_alloc' is not an integer constant}}
__attribute__((mprof_alloc(1.0))) void *real(size_t); // expected-error {{argument 1 of 'mprof_alloc' is not an integer constant}}
__attribute__((mprof_alloc(1))) void *pointer_size(void *); // expected-error {{argument 1 of 'mprof_alloc' must name an integer of at most 64 bits, but argument 1 of the function is 'void *'}}
__attribute__((mprof_alloc(1))) void *bool_size(bool); // expected-error {{must name an integer of at most 64 bits, but argument 1 of the function is 'bool'}}
__attribute__((mprof_alloc(1))) void *huge_size(__int128); // expected-error {{must name an integer of at most 64 bits, but argument 1 of the function is '__int128'}}
__attribute__((mprof_alloc(1))) int no_pointer(size_t); // expected-error {{'mprof_alloc' needs a function that returns a pointer, not 'int'}}
__attribute__((mprof_realloc(1, 2))) void no_result(void *, size_t); // expected-error {{'mprof_realloc' needs a function that returns a pointer, not 'void'}}
__attribute__((mprof_realloc(2, 1))) void *swapped(void *, size_t); // expected-error {{argument 1 of 'mprof_realloc' must name a pointer, but argument 2 of the function is}}
__attribute__((mprof_free(1))) void free_size(size_t); // expected-error {{argument 1 of 'mprof_free' must name a pointer, but argument 1 of the function is}}
__attribute__((mprof_alloc(2))) void *pieces(struct pair, size_t); // expected-error {{argument 1 of 'mprof_alloc' names a function argument that follows an argument of type 'struct pair', which is not passed as one value; put the named argument before it}}
__attribute__((mprof_free(2))) void none(struct empty, void *); // expected-error {{follows an argument of type 'struct empty', which is not passed as one value}}
__attribute__((mprof_alloc)) void *few(size_t); // expected-error {{'mprof_alloc' attribute takes at least 1 argument}}
__attribute__((mprof_alloc(1, 1, 1))) void *many(size_t); // expected-error {{'mprof_alloc' attribute takes no more than 2 arguments}}
__attribute__((mprof_ignore(1))) void ignore(void); // expected-error {{'mprof_ignore' attribute takes no arguments}}
__attribute__((mprof_free())) void none_given(void *); // expected-error {{'mprof_free' attribute takes one argument}}
__attribute__((mprof_alloc(1), mprof_free(2))) void *both(size_t, void *); // expected-error {{'mprof_free' cannot be combined with 'mprof_alloc'}}
__attribute__((mprof_alloc(1))) int variables; // expected-error {{'mprof_alloc' only applies to functions}}
__attribute__((mprof_free(1))) void (*function_pointer)(void *); // expected-error {{'mprof_free' only applies to functions}}
struct __attribute__((mprof_ignore)) type {}; // expected-error {{'mprof_ignore' only applies to functions}}
typedef void f(void *) __attribute__((mprof_free(1))); // expected-error {{'mprof_free' only applies to functions}}

__attribute__((mprof_alloc(1))) void *good(size_t);
__attribute__((mprof_alloc(1, 3))) char *good_count(int, struct pair *, short);
__attribute__((mprof_alloc(1), mprof_wrapper)) void *good_both(size_t, struct pair);
__attribute__((mprof_free(1))) int good_free(void *, ...);
enum { SECOND = 2 };
__attribute__((mprof_realloc(1, +SECOND))) void *good_realloc(char *, unsigned);
