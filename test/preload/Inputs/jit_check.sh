# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the stacks of the profile mprof.*.heap.pb.gz in this directory, and
# removes the map of names. Fails if more than 2 % of the allocated bytes have
# truncated stacks. $1: the command mprof.

set -e
profile=$(echo mprof.*.heap.pb.gz)
pid=$(echo "$profile" | sed 's/.*\.\([0-9]*\)\.heap.*/\1/')
rm -f "/tmp/perf-$pid.map"
"$1" convert --to=folded --sample=alloc_space "$profile" |
  awk '{ all += $NF } /\[truncated\]/ { cut += $NF }
       END { exit !(all > 0 && cut * 50 <= all) }'
exec "$1" traces --sample=alloc_space "$profile"
