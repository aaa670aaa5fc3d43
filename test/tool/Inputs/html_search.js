// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches in the table of functions.

const find = selector => document.querySelector(selector);
const box = find('.search input[type=search]');

setTimeout(() => {
  document.querySelectorAll('[role=tab]')[2].click();
  for (const text of [
    'std::string::append', 'string::append', 'std::vector<int>', 'std::map<long, std::string>&',
    '^std::__cxx11::basic_string<char, std::char_traits<char>', 'insert(', 'index::insert(char const*)',
    '^(?:std|f)\\W.*(int|long\\b)', '(a+)+b$', '(a+)+$', '(?=a)b', '[13579].{400}x'
  ]) {
    search(text);
    const name = find('td .name');
    say(text, `${find('.total').textContent.replace(/.*total; /, '')}; ${name ? name.textContent : ''} | ${box.title}`);
  }
}, 200);
