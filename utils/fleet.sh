#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shows how `mprof push` feeds the collectors of fleets: runs 50 services, reads
# their profiles by one agent, and sends them to a receiver made of the code of
# the OpenTelemetry Collector and of Grafana Pyroscope (utils/fleet/collector).
# Compares what the receiver has added up with what the services have done.
#   fleet.sh [SECONDS]   duration for each of the two (default 60)
# The first run downloads and compiles the receiver, which takes some minutes.
# Needs a Go that is as new as utils/fleet/collector/go.mod says.

set -eu

seconds=${1:-60}
cd -P -- "$(dirname -- "$0")/.."
. utils/configure.sh
utils/setup.sh
configure release build
cmake --build build
out=$PWD/build/fleet
mkdir -p "$out"
go=$(command -v go || echo /usr/local/go/bin/go)

echo "compiling the receiver"
(cd utils/fleet/collector && "$go" build -o "$out/collector" .)
build/bin/mprof-clang -fmprof -O2 -g1 utils/fleet/worker.c -o "$out/worker"

status=0
for protocol in otlp pyroscope; do
  echo
  echo "== $protocol"
  python3 utils/fleet/fleet.py --mprof build/bin/mprof --worker "$out/worker" \
    --collector "$out/collector" --seconds "$seconds" --every 15s --fail 4 \
    --$protocol || status=1
done
exit "$status"
