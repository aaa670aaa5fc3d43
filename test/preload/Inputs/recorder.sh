#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Stands in for a program that MProf starts, such as mprof or a pager.
# Appends the environment that it got to $RECORD, and then runs $RECORDED with
# the same arguments. After 20 starts it only fails, so that a chain of processes
# that start each other ends.

cat /proc/$$/environ | tr '\0' '\n' >> "$RECORD"
echo started >> "$RECORD"
[ "$(grep -c '^started$' "$RECORD")" -le 20 ] || exit 1
exec ${RECORDED} "$@"
