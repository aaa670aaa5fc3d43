// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the short names of functions to the console.

for (const name of [
  'ns::box<int>::make(int)', 'f(int)', 'main.(*T[int]).Push',
  'github.com/a/b.F', '<m::A as m::Make>::make', 'alloc::vec::Vec<T,A>::push',
  '-[NSString length]', 'handler (app/views.py)', 'pool<3>', 'main',
])
  console.log(`step: ${name} -> ${shortName(name)}`);
