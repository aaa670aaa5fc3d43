// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches in the table of functions, and then on the overview.

const find = selector => document.querySelector(selector);
const box = find('.search input[type=search]');

function inTable() {
  document.querySelectorAll('[role=tab]')[2].click();
  for (const text of [
    'std::string::append', 'string::append', 'std::vector<int>', 'std::map<long, std::string>&',
    '^std::__cxx11::basic_string<char, std::char_traits<char>', 'insert(', 'index::insert(char const*)',
    '^(?:std|f)\\W.*(int|long\\b)', '(a+)+b$', '(a+)+$', '(?=a)b', '\\xEF.e::(\\u03c2|x){2}$',
    'na\\xcfs', '[13579].{400}x'
  ]) {
    search(text);
    const name = find('td .name');
    say(text, `${find('.total').textContent.replace(/.*total; /, '')}; ${name ? name.textContent : ''}`);
  }
  document.querySelectorAll('[role=tab]')[0].click();
}

// Each step waits for what the one before has changed.
const steps = [
  inTable,
  () => search('push_back'),
  () => {
    say('found', find('.found').textContent);
    search('insert(');
  },
  () => {
    say('found', find('.found').textContent);
    say('address', location.hash);
    find('.found a.card-row').click();
  },
  () => {
    say('link', [document.body.dataset.view, find('select[title=Values]').selectedOptions[0].textContent, box.value,
      find('td .name').textContent].join(', '));
    document.querySelectorAll('[role=tab]')[0].click();
    search('deadlock.c');
  },
  () => {
    say('found', find('.found').textContent);
    find('.found a.card-row').click();
  },
  () => say('marked', [...document.querySelectorAll('details[open] .frame.hit')].map(f => f.textContent.replace(/ .*/, '')).join(', '))
];
const next = () => {
  steps.shift()();
  if (steps.length)
    setTimeout(next, 600);
};
setTimeout(next, 200);
