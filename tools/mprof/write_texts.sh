#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# write_texts.sh MPROF DIR TOP: writes the manual pages and completion scripts of
# the command MPROF into the tree DIR, which has the layout of /usr/share. TOP is
# the project's directory, from whose documents lowdown makes further pages.

set -eu
mprof=$1
dir=$2
top=$3
rm -rf "$dir"
mkdir -p "$dir/man/man1" "$dir/man/man3" "$dir/bash-completion/completions" \
  "$dir/zsh/site-functions" "$dir/fish/vendor_completions.d"
"$mprof" help --man > "$dir/man/man1/mprof.1"
for command in $("$mprof" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
  "$mprof" help --man "$command" > "$dir/man/man1/mprof-$command.1"
done

# page NAME SECTION TEXT FILE...: makes the manual page NAME(SECTION).
page() {
  name=$1 section=$2 text=$3
  shift 3
  mkdir -p "$dir/man/man$section"
  python3 "$top/tools/mprof/manual.py" "$name - $text" "$@" > "$dir/page.md"
  lowdown -s -Tman --parse-no-intraemph -M "title=$name" \
    -M "section=$section" -M source=MProf "$dir/page.md" \
    > "$dir/man/man$section/$name.$section"
  rm "$dir/page.md"
}
if command -v lowdown > /dev/null && command -v python3 > /dev/null; then
  page mprof-options 7 'options of programs that are built with MProf' \
    "$top/docs/options.md"
  page mprof-formats 5 'the files that MProf writes' "$top/docs/reading.md" \
    "$top/docs/trace-format.md" "$top/docs/alloc-log.md"
  page mprof.h 3 'read and control the profiles of a program' \
    "$top/include/mprof/mprof.h"
  page mprof-clang 1 'compile and link programs with MProf' "$top/docs/using.md"
  echo .so man1/mprof-clang.1 > "$dir/man/man1/mprof-clang++.1"
else
  echo 'mprof: without lowdown and python3, these manual pages are not made:' \
    'mprof-options(7), mprof-formats(5), mprof.h(3), mprof-clang(1)' >&2
fi

"$mprof" completion bash > "$dir/bash-completion/completions/mprof"
"$mprof" completion zsh > "$dir/zsh/site-functions/_mprof"
"$mprof" completion fish > "$dir/fish/vendor_completions.d/mprof.fish"
