#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: on_disk.sh SIZE DIRECTORY COMMAND...
# Runs the command where DIRECTORY is a disk of that size, empty, that nobody
# else sees and that is gone afterwards. Without a command: whether it can.

set -eu

if [ "${2-}" != in ]; then
  exec unshare -rm "$0" "$1" in "$@"
fi
shift 2
mount -t tmpfs -o "size=$1" tmpfs "$2"
shift 2
[ $# = 0 ] || exec "$@"
