#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# place_functions.sh TOOLS LIST ARCHIVE: renames the sections of the functions in
# ARCHIVE, so that a program that uses nothing of MProf touches few of its own
# pages. The kernel maps 64 KiB of a file around each page that a program
# touches. TOOLS is the directory of LLVM's tools.
#
#   .text.startup  the functions of LIST, which run at the start and at the end
#                  of each program. Most linkers place them beside the program's
#                  code
#   mprof_rest     all other functions. The linkers place a section whose name
#                  they do not know after the program's code
#
# The entries, which instrumented code calls, are already in a section of their
# own (sys/abi_words.h).

set -eu
tools=$1
list=$2
archive=$3

args=$(mktemp)
trap 'rm -f "$args"' EXIT
"$tools/llvm-readelf" --section-headers --wide "$archive" \
  | grep -oE ' \.text\.[^ ]+' | sort -u \
  | awk 'NR == FNR { if (/^[a-z_]/) starts[".text." $1] = 1; next }
      $1 != ".text.startup" {
        to = $1 in starts ? ".text.startup" : "mprof_rest"
        print "--rename-section=" $1 "=" to
      }' "$list" - > "$args"
[ -s "$args" ] || exit 0 # a build has already renamed the sections
"$tools/llvm-objcopy" "@$args" "$archive"
