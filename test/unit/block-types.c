// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the type of a block is found in the names of the functions of
// libstdc++ and libc++ that allocate, as LLVM and GNU demangle them. A function
// that may contain other allocations tells no type if inlined functions have no
// frames. Functions of the program tell none, whatever their arguments are.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -I%src/tools/mprof %s %src/tools/mprof/names/block_type.c -o app && %emu ./app

#include "check.h"

#include "names/block_type.h"

#include <stdlib.h>
#include <string.h>

static const char *type_of(const char *name, bool has_inlined) {
  static char text[1024];
  struct block_type_name type;
  switch (block_type_of(name, has_inlined, &type)) {
  case BLOCK_TYPE_UNKNOWN:
    return "unknown";
  case BLOCK_TYPE_CALLER:
    return "caller";
  case BLOCK_TYPE_STRING:
    strcpy(text, "string of ");
    block_type_text(text + strlen(text), type, false);
    return text;
  case BLOCK_TYPE_FOUND:
    block_type_text(text, type, false);
    return text;
  }
  return NULL;
}

static void test_allocators(void) {
#define IS(Name, Type)                                                         \
  CHECK_STR(type_of(Name, false), Type);                                       \
  CHECK_STR(type_of(Name, true), Type)
  IS("std::__new_allocator<shop::Order>::allocate(unsigned long, void const*)",
     "shop::Order");
  IS("__gnu_cxx::new_allocator<shop::Order>::allocate(unsigned long, void "
     "const*)",
     "shop::Order");
  IS("std::allocator<unsigned long>::allocate(unsigned long)", "unsigned long");
  IS("std::__1::allocator<A<int, 2>*>::allocate[abi:ne190107](unsigned long)",
     "A<int, 2>*");
  IS("std::__new_allocator<int>::allocate", "int");
  IS("std::_Vector_base<A, std::allocator<A>>::_M_allocate(unsigned long)",
     "A");
  IS("std::_Vector_base<A, std::allocator<A> >::_M_allocate(unsigned long)",
     "A");
  IS("int* std::__detail::__get_temporary_buffer<int>(long)", "int");
  IS("std::pair<A*, long> std::get_temporary_buffer<A>(long)", "A");
  IS("typeinfo name for std::vector<A, std::allocator<A> >", "std::vector<A>");
  IS("operator new(unsigned long)", "caller");
  IS("operator new[](unsigned long, std::nothrow_t const&)", "caller");
  IS("malloc", "caller");
  IS("void* std::__1::__libcpp_operator_new[abi:ne190107]<unsigned long>("
     "unsigned long)",
     "caller");
  IS("std::__1::__libcpp_allocate[abi:ne190107](unsigned long, unsigned long)",
     "caller");
  IS("std::allocator_traits<std::allocator<A>>::allocate(std::allocator<A>&, "
     "unsigned long)",
     "caller");
}

static void test_types(void) {
#define ALLOCATE(Type)                                                         \
  "std::__new_allocator<" Type ">::allocate(unsigned long, void const*)"
#define STRING11                                                               \
  "std::__cxx11::basic_string<char, std::char_traits<char>, "                  \
  "std::allocator<char>>"
#define STRING1                                                                \
  "std::__1::basic_string<char, std::__1::char_traits<char>, "                 \
  "std::__1::allocator<char>>"
  IS(ALLOCATE("std::_Rb_tree_node<std::pair<" STRING11 " const, A>>"),
     "std::_Rb_tree_node<std::pair<std::string const, A>>");
  IS("std::__1::allocator<std::__1::__tree_node<std::__1::__value_type<" STRING1
     ", A>, void*>>::allocate[abi:v15006](unsigned long)",
     "std::__tree_node<std::__value_type<std::string, A>, void*>");
  IS("std::__new_allocator<std::vector<std::vector<int, std::allocator<int> >, "
     "std::allocator<std::vector<int, std::allocator<int> > > > >::allocate("
     "unsigned long, void const*)",
     "std::vector<std::vector<int>>");
  IS(ALLOCATE("std::_Sp_counted_ptr_inplace<A, std::allocator<void>, "
              "(__gnu_cxx::_Lock_policy)2>"),
     "std::_Sp_counted_ptr_inplace<A>");
  IS(ALLOCATE("std::map<int, A, std::less<int>, "
              "std::allocator<std::pair<int const, A>>>"),
     "std::map<int, A>");
  // These are no defaults.
  IS(ALLOCATE("std::map<int, A, std::less<void>, "
              "std::allocator<std::pair<int const, A>>>"),
     "std::map<int, A, std::less<void>>");
  IS(ALLOCATE("shop::Map<int, std::allocator<int>>"),
     "shop::Map<int, std::allocator<int>>");
  IS(ALLOCATE("std::__debug::vector<int, std::allocator<int>>"),
     "std::__debug::vector<int>");
  IS(ALLOCATE("std::function<int (int, std::function<void ()>)>"),
     "std::function<int (int, std::function<void ()>)>");
  IS(ALLOCATE("run(int)::'lambda'(A const&)"), "run(int)::'lambda'(A const&)");
  IS(ALLOCATE("run(int)::{lambda(A const&, int)#2}"),
     "run(int)::{lambda(A const&, int)#2}");
  IS(ALLOCATE("(anonymous namespace)::Node"), "(anonymous namespace)::Node");
  IS(ALLOCATE("A<(3 > 2), &B::operator()>"), "A<(3 > 2), &B::operator()>");
  IS(ALLOCATE("A<(char)62>"), "A<(char)62>");
  IS(ALLOCATE("auto_ptr<decltype(x->y)>"), "auto_ptr<decltype(x->y)>");
  struct block_type_name whole;
  CHECK_EQ(block_type_of(ALLOCATE("std::vector<int, std::allocator<int> >"),
                         false, &whole),
           BLOCK_TYPE_FOUND);
  char text[64];
  block_type_text(text, whole, true);
  CHECK_STR(text, "std::vector<int, std::allocator<int>>");
}

static void test_strings(void) {
  IS(STRING11 "::_M_create(unsigned long&, unsigned long)", "string of char");
  IS(STRING1 "::__grow_by(unsigned long, unsigned long)", "string of char");
  IS(STRING11 "::operator=(char const*)", "string of char");
  IS("void " STRING11 "::_M_construct<char const*>(char const*, char const*, "
     "std::forward_iterator_tag)",
     "string of char");
  IS("std::__1::basic_string<wchar_t, std::__1::char_traits<wchar_t>, "
     "std::__1::allocator<wchar_t>>::basic_string[abi:ne190107]<0>(wchar_t "
     "const*)",
     "string of wchar_t");
  const char *of_program =
      "void " STRING11 "::_M_construct<Reader>(Reader, Reader)";
  CHECK_STR(type_of(of_program, true), "string of char");
  CHECK_STR(type_of(of_program, false), "unknown");
  IS("std::basic_string<char, std::char_traits<char>, Pool<char>>::_M_create("
     "unsigned long&, unsigned long)",
     "unknown");
}

static void test_inlined(void) {
  static const char *const names[] = {
      "std::__detail::_MakeUniq<A>::__single_object std::make_unique<A>()",
      "std::__1::__unique_if<A []>::__unique_array_unknown_bound "
      "std::__1::make_unique[abi:ne190107]<A []>(unsigned long)",
      "void std::_Function_base::_Base_manager<A>::_M_create<A>("
      "std::_Any_data&, A&&, std::integral_constant<bool, false>)",
      "void std::any::_Manager_external<A>::_S_create<A>(std::any::_Storage&, "
      "A&&)"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    CHECK_STR(type_of(names[i], true), "A");
    CHECK_STR(type_of(names[i], false), "unknown");
  }
}

static void test_others(void) {
  static const char *const names[] = {
      "",
      "main",
      "main.main",
      "malloc_trim",
      "Foo::operator new(unsigned long)",
      "void use(std::allocator<int>)",
      "std::allocator<int> make<int>(int)",
      "std::allocator<int>::pointer make<int>(int)",
      "std::allocator<A>::allocator()",
      "std::allocator<A>::allocate(unsigned long)::'lambda'()::operator()()",
      "Pool<A>::allocate(unsigned long)",
      "shop::std::allocator<A>::allocate(unsigned long)",
      STRING11 "::iterator find<int>(int)",
      STRING11 " join<int>(int)",
      "std::__cxx11::basic_stringbuf<char, std::char_traits<char>, "
      "std::allocator<char>>::overflow(int)",
      "std::vector<A, std::allocator<A>>::_M_realloc_insert(A*)",
      "std::_Vector_base<A, Pool<A>>::_M_allocate(unsigned long)",
      "std::__new_allocator<A",
      "std::__new_allocator<A>::",
      "std::__new_allocator<A(>::allocate(unsigned long)",
      "std::__new_allocator<A<&B::operator< >>::allocate(unsigned long)",
      "std::make_unique",
      "std::_Vector_base<>::_M_allocate()",
      "std::basic_string<char, std::char_traits<char>, "};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    CHECK_STR(type_of(names[i], false), "unknown");
    CHECK_STR(type_of(names[i], true), "unknown");
  }
}

// Each part of a name is read within its bounds, and the text is no longer than
// the name.
static void test_parts(void) {
  static const char name[] =
      "std::__new_allocator<std::map<" STRING11
      ", A<int,int>, std::less<" STRING11 ">>>::allocate(unsigned long)";
  for (size_t from = 0; from < sizeof name; from++)
    for (size_t length = 0; length < sizeof name - from; length++) {
      char *copy = calloc(length + 1, 1);
      memcpy(copy, name + from, length);
      struct block_type_name type;
      const enum block_type found = block_type_of(copy, true, &type);
      if (found == BLOCK_TYPE_FOUND || found == BLOCK_TYPE_STRING) {
        char *text = calloc(type.length + 1, 1);
        block_type_text(text, type, false);
        CHECK(strlen(text) <= type.length);
        free(text);
      }
      free(copy);
    }
}

int main(void) {
  test_allocators();
  test_types();
  test_strings();
  test_inlined();
  test_others();
  test_parts();
}
