# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For scripts that cannot run in a checkout whose path has blanks or quotes: RUN lines
# of tests do not quote paths, and the loader divides LD_PRELOAD at blanks.

# Returns whether the path of the current directory has such characters.
has_odd_path() {
  odd=$(printf %s "$PWD" | LC_ALL=C tr -d 'A-Za-z0-9_./+-' | wc -c)
  [ "$odd" -gt 0 ]
}
# Copies the checkout, without its builds, to a new folder, and sets copy to its path.
copy_checkout() {
  copy=$(mktemp -d /tmp/mprof.XXXXXX)
  tar -cf - --anchored --exclude=./build --exclude='./build-*' . | tar -xf - -C "$copy"
}
