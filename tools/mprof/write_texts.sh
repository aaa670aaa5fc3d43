#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# write_texts.sh MPROF DIR: writes the manual pages and completion scripts of the
# command MPROF into the tree DIR, which has the layout of /usr/share.

set -eu
mprof=$1
dir=$2
rm -rf "$dir"
mkdir -p "$dir/man/man1" "$dir/bash-completion/completions" \
  "$dir/zsh/site-functions" "$dir/fish/vendor_completions.d"
"$mprof" help --man > "$dir/man/man1/mprof.1"
for command in $("$mprof" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
  "$mprof" help --man "$command" > "$dir/man/man1/mprof-$command.1"
done
"$mprof" completion bash > "$dir/bash-completion/completions/mprof"
"$mprof" completion zsh > "$dir/zsh/site-functions/_mprof"
"$mprof" completion fish > "$dir/fish/vendor_completions.d/mprof.fish"
