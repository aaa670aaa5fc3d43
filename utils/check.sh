#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks everything that must hold before a change is committed. The function help
# lists the other checks.

set -eu

help() {
  cat <<'END'
usage: check.sh [arm64 | clangs | packages | --repeat=N TEST...]

Checks everything that must hold before a change is committed: the build has no
warnings, the tests pass, the source files pass clang-format, clang-tidy and
check-rooms.py, and the short loads of utils/bench/run.sh gate have no more
instructions than before. The last line of output says how many tests passed and
failed. clang-format, clang-tidy, check-rooms.py and the gate count as one test
each.

  check.sh clangs    runs the tests with the other versions of clang for which the
                     plugin can be built, one after the other: 16 and 22
  check.sh arm64     builds the runtime for arm64, and runs the tests of the pass,
                     of the runtime and of its output with programs for arm64,
                     under qemu
  check.sh packages  makes packages and tries them in a bare Debian (packages.sh)
  check.sh --repeat=N TEST...
                     runs the tests N times, beside four processes that are always
                     busy. Lists the tests that failed. build/repeat/ keeps the
                     output of each round that failed.

The tests need a path of letters, digits and the characters _./+- only. In another
folder, the script copies the checkout, without build directories, and checks the
copy.
END
}

cd -P -- "$(dirname -- "$0")/.."
. utils/configure.sh
. utils/odd_path.sh

check_clangs() {
  utils/setup.sh clangs
  configure release build -DMPROF_LLVM_VERSIONS='16;22' -DMPROF_WERROR=ON
  cmake --build build
  worst=0
  for version in 16 22; do
    echo "== clang $version"
    MPROF_TEST_LLVM=$version MPROF_BUILD=$PWD/build \
      /usr/lib/llvm-19/build/utils/lit/lit.py --config-prefix=llvm-lit -sv test ||
      worst=1
  done
  return "$worst"
}
check_arm64() {
  utils/setup.sh arm64
  configure release build -DMPROF_WERROR=ON
  cmake --build build
  configure arm64 build-arm64 -DMPROF_WERROR=ON
  cmake --build build-arm64
  MPROF_BUILD=$PWD/build-arm64 utils/emulate.sh \
    /usr/lib/llvm-19/build/utils/lit/lit.py --config-prefix=llvm-lit -sv \
    test/pass test/unit test/rt test/format
}
# Runs this script with the same arguments in a copy of the checkout, and then removes
# the copy. Keeps the files that --repeat writes.
check_copy() {
  copy=
  trap 'rm -rf "$copy"' EXIT
  trap 'exit 1' HUP INT TERM
  copy_checkout
  echo "mprof: the tests cannot run in this folder, because of its name; checking a copy in $copy"
  status=0
  "$copy/utils/check.sh" "$@" || status=$?
  if [ -d "$copy/build/repeat" ]; then
    mkdir -p build
    rm -rf build/repeat
    mv "$copy/build/repeat" build/
  fi
  exit "$status"
}
# Runs the tests $2... as lit knows them, $1 times.
repeat() {
  rounds=$1
  shift
  configure release build -DMPROF_WERROR=ON
  cmake --build build
  logs=build/repeat
  rm -rf "$logs"
  mkdir "$logs"
  busy=
  trap 'kill $busy 2>/dev/null || :' EXIT
  trap 'exit 1' HUP INT TERM
  for _ in 1 2 3 4; do
    while :; do :; done &
    busy="$busy $!"
  done
  round=0
  while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    if /usr/lib/llvm-19/build/utils/lit/lit.py --config-prefix=llvm-lit -sv "$@" \
      >"$logs/$round" 2>&1; then
      rm "$logs/$round"
    else
      echo "round $round failed: $logs/$round"
    fi
  done
  # The summary of each log lists the failed tests, indented.
  sed -n 's/^  \(MProf :: .*\)/\1/p' "$logs"/* 2>/dev/null | sort | uniq -c |
    sed "s/^ *\([0-9]*\) \(.*\)/FAIL: \2 (\1 of $rounds rounds)/"
  rmdir "$logs" 2>/dev/null
}
if has_odd_path && [ "${1-}" != --help ]; then
  check_copy "$@"
fi
case ${1-} in
'') ;;
--help)
  help
  exit
  ;;
--repeat=*[!0-9]* | --repeat= | --repeat=0*)
  help >&2
  exit 2
  ;;
--repeat=*)
  rounds=${1#*=}
  shift
  repeat "$rounds" "$@"
  exit
  ;;
clangs)
  check_clangs
  exit
  ;;
arm64)
  check_arm64
  exit
  ;;
packages) exec utils/packages.sh ;;
*)
  help >&2
  exit 2
  ;;
esac
utils/setup.sh
if ! { configure release build -DMPROF_WERROR=ON && cmake --build build; }; then
  echo '0 passed, 1 failed'
  exit 1
fi

passed=0
failed=0
skipped=0
# Runs a test. $1 is the name of the test. The other arguments are its command.
check() {
  what=$1
  shift
  if "$@"; then
    echo "PASS: $what"
    passed=$((passed + 1))
  else
    echo "FAIL: $what"
    failed=$((failed + 1))
  fi
}

# Prints the files of the project that match the patterns in the arguments.
list() {
  git ls-files --cached --others --exclude-standard -- "$@"
}
# Leaves out test/pass, because clang-format could move the CHECK comments there
# away from the lines that they describe.
check_format() {
  list '*.c' '*.h' '*.cpp' ':!test/pass' | xargs -r clang-format-19 --dry-run --Werror
}
# Lists what clang-tidy checks: of the pass, what the build compiles.
list_tidy() {
  printf '%s\n' build/pass/CMakeFiles/MProfPlugin-19.dir/Unity/*.cxx \
    pass/Attributes.cpp pass/Loader.cpp
  list 'rt/*.c' 'tools/*.c' 'tools/*.cpp'
}
# Clang's analyzer follows at most 1,000 states of each function. With its own
# limit, 225,000, the check of a file takes seconds.
start_tidy() {
  list_tidy >build/clang-tidy.files
  xargs -r -n 1 -P "$(nproc)" nice -n 19 clang-tidy-19 --quiet -p build \
    --extra-arg=-Xclang --extra-arg=-analyzer-config \
    --extra-arg=-Xclang --extra-arg=max-nodes=1000 \
    <build/clang-tidy.files >build/clang-tidy.log 2>&1 &
  tidy=$!
  trap 'kill "$tidy" 2>/dev/null || :' EXIT
  trap 'exit 1' HUP INT TERM
}
# Waits for what start_tidy has started.
check_tidy() {
  wait "$tidy" || :
  trap - EXIT
  # Drop the lines that count the warnings suppressed in system headers.
  sed -i '/warnings\{0,1\} generated\.$/d' build/clang-tidy.log
  cat build/clang-tidy.log
  ! grep -Eq '(warning|error):' build/clang-tidy.log
}
# clang-tidy takes minutes. It runs beside the other checks in the processor time that
# they leave, because many tests wait for most of their time.
start_tidy
check clang-format check_format
check rooms utils/check-rooms.py
check gate utils/bench/run.sh gate

# New versions of Go compile these tools at their first use, which takes most of a
# minute. Several tests that begin at the same time would compile them several
# times.
for tool in pprof trace; do
  GOTOOLCHAIN=local GOPROXY=off go tool "$tool" -h >/dev/null 2>&1 || true
done

# Prints the number for $1 in the summary at the end of lit's output. The summary
# has lines such as "  Passed: 12 (92.31%)".
count() {
  sed -n "s/^ *$1 *: *\([0-9][0-9]*\).*/\1/p" build/summary.log
}
# Shows each failure as soon as it is known.
rm -f build/check.failed
{ cmake --build build --target check-mprof 2>&1 || touch build/check.failed; } |
  tee build/check.log
check clang-tidy check_tidy
awk '/^Total Discovered Tests:/ { text = "" } { text = text $0 "\n" }
  END { printf "%s", text }' build/check.log >build/summary.log
for kind in Passed 'Passed With Retry' 'Expectedly Failed'; do
  n=$(count "$kind")
  passed=$((passed + ${n:-0}))
done
for kind in Failed Unresolved 'Timed Out' 'Unexpectedly Passed'; do
  n=$(count "$kind")
  failed=$((failed + ${n:-0}))
done
for kind in Unsupported Skipped Excluded; do
  n=$(count "$kind")
  skipped=$((skipped + ${n:-0}))
done
# If the command failed but no test failed, lit did not get to its summary. Count this
# as one failed test.
if [ -e build/check.failed ] && [ "$failed" -eq 0 ]; then
  failed=1
fi

if [ "$skipped" -gt 0 ]; then
  echo "$passed passed, $failed failed, $skipped skipped"
else
  echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
