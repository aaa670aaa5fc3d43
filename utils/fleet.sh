#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shows how `mprof push` feeds the collectors of fleets: runs 50 services, reads
# their profiles by one agent, and sends them to a receiver made of the code of
# the OpenTelemetry Collector and of Grafana Pyroscope (utils/fleet/collector),
# and to the Collector 0.120 made by its builder (utils/fleet/otelcol-0.120),
# which has an older version of OTLP. Compares what the receiver has added up
# with what the services have done.
#   fleet.sh [SECONDS]   duration for each of the three (default 60)
# The first run downloads and compiles the receivers, which takes some minutes.
# Needs a Go that is as new as utils/fleet/collector/go.mod says.

set -eu

seconds=${1:-60}
cd -P -- "$(dirname -- "$0")/.."
utils/setup.sh
if [ ! -f build/build.ninja ]; then
  cmake --preset release
fi
cmake --build build
out=$PWD/build/fleet
mkdir -p "$out"
go=$(command -v go || echo /usr/local/go/bin/go)

echo "compiling the receiver"
(cd utils/fleet/collector && "$go" build -o "$out/collector" .)
build/bin/mprof-clang -fmprof -O2 -g1 utils/fleet/worker.c -o "$out/worker"

old=$PWD/utils/fleet/otelcol-0.120
echo "compiling the Collector 0.120"
(cd "$old" && PATH=$(dirname "$go"):$PATH "$go" run \
  go.opentelemetry.io/collector/cmd/builder@v0.120.0 --config builder.yaml \
  > "$out/builder.log" 2>&1) || { tail -n 20 "$out/builder.log"; exit 1; }

status=0
for protocol in otlp pyroscope otlp-0.120; do
  option=
  collector=$out/collector
  if [ "$protocol" = pyroscope ]; then
    option=--pyroscope
  elif [ "$protocol" = otlp-0.120 ]; then
    option=--otlp-version=0.120
    collector="python3 -B $old/otelcol.py $out/otelcol-0.120/otelcol"
  fi
  echo
  echo "== $protocol"
  # shellcheck disable=SC2086  # no option gives no word
  python3 utils/fleet/fleet.py --mprof build/bin/mprof --worker "$out/worker" \
    --collector "$collector" --seconds "$seconds" --every 15s --fail 4 \
    $option || status=1
done
exit "$status"
