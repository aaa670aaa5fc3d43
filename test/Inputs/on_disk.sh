#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: on_disk.sh SIZE DIRECTORY COMMAND...
# Runs the command with an empty disk of that size mounted on DIRECTORY. No other
# process sees the disk, and it is gone afterwards. Without a command the exit
# status tells whether such a disk can be mounted.

set -eu

if [ "${2-}" != in ]; then
  exec unshare -rm "$0" "$1" in "$@"
fi
shift 2
mount -t tmpfs -o "size=$1" tmpfs "$2"
shift 2
[ $# = 0 ] || exec "$@"
