#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run.sh OPTION...: runs ./fuzz with the inputs in seeds/, if there are any, and with
# options of libFuzzer. libFuzzer derives inputs from what the program does. So that
# it derives the same ones everywhere, the seeds have the same order, and the program
# has the same addresses and the same environment. The time limit only ends an input
# that hangs.

set -eu
same='setarch -R'
$same true 2>/dev/null || same=
seeds=
for seed in seeds/*; do
  [ ! -e "$seed" ] || seeds=$seeds$seed,
done
# shellcheck disable=SC2086 # several words
if ! env -i PATH=/usr/lib/llvm-19/bin:/usr/bin:/bin $same ./fuzz -seed=1 \
  -reload=0 -timeout=120 ${seeds:+"-seed_inputs=$seeds"} "$@" 2>log; then
  tail -n 40 log
  exit 1
fi
