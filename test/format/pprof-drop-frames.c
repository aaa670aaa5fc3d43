// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the profile's drop_frames expression matches only the whole names of
// allocation functions, of allocators' allocate members and of registered
// wrappers. pprof drops a matching frame together with all frames nearer to the
// leaf. Functions that call constructors must therefore not match, because a
// constructor may allocate.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && ./app
// RUN: %python %S/Inputs/check_drop_frames.py heap.pb.gz %s
// RUN: %python %S/Inputs/check_drop_frames.py many.pb.gz %s
//
// DROP malloc
// DROP reallocarray
// DROP operator new
// DROP operator new[]
// DROP _Znwm
// DROP __mprof_malloc
// DROP std::__new_allocator::allocate
// DROP std::__new_allocator<std::pair<int, int> >::allocate
// DROP std::allocator_traits<std::allocator<int> >::allocate
// DROP std::__1::allocator<int>::allocate
// DROP __gnu_cxx::new_allocator<int>::allocate
// DROP std::__1::allocator::allocate[abi:ne190107]
// DROP std::__1::allocator_traits<A>::allocate[abi:ne190107]
// DROP std::__1::__libcpp_allocate[abi:ne190107]
// DROP std::_Vector_base<int, std::allocator<int> >::_M_allocate
// DROP std::_Rb_tree::_M_get_node
// DROP std::__cxx11::_List_base<int, std::allocator<int> >::_M_get_node
// DROP std::_Deque_base::_M_allocate_map
// DROP std::__cxx11::basic_string::_M_create
// DROP std::__allocated_ptr std::__allocate_guarded
// DROP xmalloc
// DROP my::pool<int>::get<long>
// DROP my::pool::get[abi:cxx11]
// KEEP main
// KEEP xmalloc2
// KEEP mymalloc
// KEEP free
// KEEP operator delete
// KEEP std::allocator_traits<std::allocator<A> >::construct<A>
// KEEP std::__new_allocator<A>::construct<A>
// KEEP my::allocate
// KEEP my::pool<int, std::allocator<char> >::allocate
// KEEP std::__detail::_Hashtable_alloc::_M_allocate_node
// KEEP std::vector::push_back

#include "core.h"
#include "snap.h"

#include "symbolize/wrappers.h"

int main(void) {
  const char *const names[] = {"my::pool::get", "xmalloc"};
  struct __mprof_wrappers node = {.names = names, .count = 2};
  __mprof_register_wrappers(&node);
  // Names that do not fit are left out; the result is a valid expression.
  static char text[401];
  static const char *long_names[3000];
  memset(text, '+', 400);
  for (int i = 0; i < 3000; i++)
    long_names[i] = text;
  struct __mprof_wrappers many = {.names = long_names, .count = 3000};
  CHECK_EQ(snap_write("heap.pb.gz", MPROF_PROFILE_heap, MPROF_FORM_PPROF), 0);
  // The names of the newest module come first.
  __mprof_unregister_wrappers(&node);
  __mprof_register_wrappers(&many);
  __mprof_register_wrappers(&node);
  CHECK_EQ(snap_write("many.pb.gz", MPROF_PROFILE_heap, MPROF_FORM_PPROF), 0);
  return 0;
}
