#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shows MProf on real programs. Leaves the profiles and reports in build/demo/.
#   demo.sh          programs without a rebuild: a program of Debian, Duktape with
#                    a set of scripts, nlohmann json, and a program with deadlocks.
#                    The other demonstrations build the programs with MProf
#   demo.sh heap     the heap profiles of Duktape and nlohmann json, and the cost
#                    of the profiles
#   demo.sh server   all profiles of a service with several threads. The service
#                    holds a lock too long, and the mutex profile must show where.
#                    Writes a page with these profiles, build/demo/report.html,
#                    and a picture of the page
#   demo.sh trace    an execution trace of this service: the longest waits, which
#                    threads ended them, and a picture of one wait in
#                    build/demo/trace.png
#   demo.sh gc       the heap profile of a program that uses Boehm's garbage
#                    collector (libgc): the blocks that are still reachable, and
#                    for comparison the number of reachable bytes by libgc itself
#   demo.sh threads  what every thread of the service does under load, and for
#                    which request; then the stuck threads of a program with
#                    deadlocks

set -eu

case "$# ${1-}" in
'0 ' | '1 heap' | '1 server' | '1 trace' | '1 gc' | '1 threads') ;;
*)
  echo "usage: ${0##*/} [heap | server | trace | gc | threads]" >&2
  exit 2
  ;;
esac

cd -P -- "$(dirname -- "$0")/.."
. utils/configure.sh
. utils/odd_path.sh
if has_odd_path; then
  copy_checkout
  echo "mprof: mprof run cannot load its library from this folder, because of its name; going on" \
    "in a copy, $copy"
  exec "$copy/utils/demo.sh" "$@"
fi
started=$(date +%s)
# Says which part of the demonstration begins. $1 is its number.
part() {
  echo
  echo "mprof: part $1 of $parts, after $(($(date +%s) - started)) s: $2"
}

if [ $# = 0 ]; then
  parts=6
  part 1 'install the packages that are missing'
  utils/setup.sh demo
  build=build-no-rebuild
  part 2 'build MProf without its plugin'
  configure no-rebuild "$build" >/dev/null
else
  parts=3
  part 1 'install the packages that are missing'
  utils/setup.sh demos
  build=build
  part 2 'build MProf'
  configure release "$build" >/dev/null
fi
cmake --build "$build"
[ $# = 0 ] || part 3 "run the demonstration: $1"

demo=$PWD/build/demo
mkdir -p "$demo"
go=$(command -v go || echo /usr/lib/go-1.19/bin/go)

die() {
  echo "mprof: $1" >&2
  exit 1
}

# Shows the top functions of a profile. $1 is the name of the program, $2 is the
# kind of the profile, and the other arguments are flags for pprof.
top() {
  profile=$1.$2.pb.gz
  program=$1
  shift 2
  "$go" tool pprof -top -nodecount=10 "$@" "$demo/$program" "$demo/$profile" \
    2>/dev/null | sed -n '/^Showing nodes/,$p' | cut -c 1-110
}

## Functions for demo.sh without arguments.

# Profiles a program as it is. Moves its profiles and its report to
# build/demo/NAME.*, with $1 as NAME. The other arguments are those of mprof run.
profile() {
  name=$1
  shift
  rm -rf "$demo/run" "$demo/$name".*.pb.gz "$demo/$name".*txt
  mkdir "$demo/run"
  "$build/bin/mprof" run -q -o "$demo/run" "$@" >"$demo/$name.output" \
    2>"$demo/$name.errors" ||
    die "$name ended with exit code $?: $(cat "$demo/$name.errors")"
  for file in "$demo/run"/mprof.*; do
    # The name is mprof.PROGRAM.PID.KIND, and PROGRAM has no dot.
    kind=${file##*/mprof.}
    [ ! -e "$file" ] || mv "$file" "$demo/$name.${kind#*.*.}"
  done
  rmdir "$demo/run"
}

# Prints the user and system time of the command in milliseconds. Leaves the
# command's output in build/demo/run.output.
milliseconds() {
  (
    "$@" >"$demo/run.output" 2>&1 || exit
    times
  ) | awk -F '[ms ]' 'NR == 2 { print int(1000 * ($1 * 60 + $2 + $4 * 60 + $5)) }'
}

# Prints the median of the numbers in the standard input.
median() {
  sort -n | awk '{ value[NR] = $1 }
    END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}

# Compares the time of the program with and without MProf. Runs both in turn. $1 is
# the name in the table. The other arguments are the program and its arguments.
compare() {
  name=$1
  shift
  rm -f "$demo/$name.plain" "$demo/$name.mprof"
  run=0
  while [ "$run" -lt "$runs" ]; do
    milliseconds "$@" >>"$demo/$name.plain"
    milliseconds "$build/bin/mprof" run -q -o "$demo/run" -O symbolize=0 "$@" \
      >>"$demo/$name.mprof"
    run=$((run + 1))
  done
  plain=$(median <"$demo/$name.plain")
  profiled=$(median <"$demo/$name.mprof")
  printf '%-8s %9s ms %9s ms %8s\n' "$name" "$plain" "$profiled" \
    "$(awk -v a="$profiled" -v b="$plain" 'BEGIN { printf "%.3f", a / b }')"
  rm -r "$demo/run" "$demo/run.output" "$demo/$name.plain" "$demo/$name.mprof"
}

# Shows the functions of the heap profile of program $1 with the most bytes. The
# other arguments are options of mprof top.
show_top() {
  name=$1
  shift
  echo
  echo "== mprof top ${*:+$* }build/demo/$name.heap.pb.gz"
  "$build/bin/mprof" top --no-pager --color=never -n 8 "$@" \
    "$demo/$name.heap.pb.gz" | cut -c 1-110
}

show_unmodified() {
  runs=${MPROF_DEMO_RUNS:-3}
  part 3 "profile Debian's perl, which was not built with MProf"
  cat >"$demo/words.pl" <<'END'
while (<>) { $count{lc $_}++ for /\w+/g }
@words = sort { $count{$b} <=> $count{$a} } keys %count;
@letters = map { [split //] } @words;
print scalar(@words), " words, $words[0] most often\n";
END
  profile perl --heap-rate=4096 perl "$demo/words.pl" README.md docs/*.md
  echo "perl: $(cat "$demo/perl.output")"
  show_top perl --hide=^Perl_safesys

  part 4 'compile two programs without MProf, and profile them'
  clang-19 -O2 -g1 -I/usr/share/duktape utils/demo/duk_host.c \
    /usr/share/duktape/duktape.c -lm -o "$demo/duk-plain" &
  clang++-19 -O2 -g1 -std=c++17 utils/demo/json_demo.cpp -o "$demo/json-plain"
  wait "$!"
  set -- utils/demo/json.js utils/demo/strings.js utils/demo/objects.js \
    utils/demo/leak.js
  profile duk "$demo/duk-plain" "$@"
  show_top duk
  # The leak of leak.js is in the host's cache. The program frees all other blocks.
  if ! sed -n '/^1\. /{n;p;q;}' "$demo/duk.txt" | grep -q cache_put; then
    die 'build/demo/duk.txt does not begin with the leak'
  fi
  echo 'The program leaks in cache_put.'
  profile json "$demo/json-plain"
  show_top json --sample=alloc_space

  part 5 "measure the cost: user and system time, median of $runs runs each"
  echo 'Without the names of functions, which "mprof run" adds once at the exit.'
  printf '%-8s %12s %12s %8s\n' program plain 'mprof run' ratio
  compare duk "$demo/duk-plain" "$@"
  compare json "$demo/json-plain"

  part 6 'find the deadlocks of a program'
  clang-19 -O2 -g1 -Iinclude utils/demo/deadlock.c -o "$demo/deadlock-plain"
  profile deadlock -O stuck=1 -O stuck_report=2 -O heap=0 "$demo/deadlock-plain" 4
  show_stuck
  "$build/bin/mprof" html "$demo/duk.heap.pb.gz" --sample=alloc_space \
    -o "$demo/duk.html"
  cat <<END

A browser shows the profile of Duktape: build/demo/duk.html
To profile a program of your own:
  $build/bin/mprof run PROGRAM [ARGUMENT]...
The whole demonstration took $(($(date +%s) - started)) s.
END
}

## Functions for demo.sh heap.

# Compiles program $1 with driver $2 in three variants: $1 with MProf, and $1-plain
# and $1-frames without MProf. $1-frames has frame pointers in the same functions
# as $1. The other arguments are sources and flags.
build() {
  name=$1
  driver=$2
  shift 2
  set -- -O2 -g1 "$@" -lm
  "build/bin/$driver" "$@" -o "$demo/$name-plain"
  "build/bin/$driver" -fno-omit-frame-pointer -momit-leaf-frame-pointer "$@" \
    -o "$demo/$name-frames"
  "build/bin/$driver" -fmprof "$@" -o "$demo/$name"
}
# Measures program $1, run with the other arguments.
measure() {
  name=$1
  shift
  python3 utils/demo/measure.py "$runs" "$demo" "$name" "$@"
}
table_head() {
  cat <<END
User+sys time, median of $runs runs each, in turn; the same output. "frames" is
plain code with frame pointers, which other profilers need as well; "names" is
what naming the functions adds once, at the exit.
END
  printf '%-8s %10s %10s %10s %9s %9s %11s\n' program plain frames MProf \
    /plain /frames 'names'
}
# Shows the functions of program $1 with the most bytes. $2 is the sample type:
# inuse_space or alloc_space.
top_heap() {
  echo
  echo "== $1: go tool pprof -top -sample_index=$2"
  top "$1" heap -sample_index="$2"
}

show_heap() {
  runs=${MPROF_DEMO_RUNS:-5}
  echo "compiling the demonstration programs"
  build duk mprof-clang -I/usr/share/duktape utils/demo/duk_host.c \
    /usr/share/duktape/duktape.c
  build json mprof-clang++ -std=c++17 utils/demo/json_demo.cpp

  echo
  table_head
  measure duk utils/demo/json.js utils/demo/strings.js utils/demo/objects.js \
    utils/demo/leak.js
  measure json

  for name in duk json; do
    echo
    echo "== $name: the head of build/demo/$name.txt"
    head -n 24 "$demo/$name.txt" | cut -c 1-110
    top_heap "$name" inuse_space
    top_heap "$name" alloc_space
  done

  # The leak of leak.js is in the host's cache, so the report's first stack must
  # contain cache_put. The program frees all other blocks.
  if ! sed -n '/^1\. /{n;p;q;}' "$demo/duk.txt" | grep -q cache_put; then
    die 'build/demo/duk.txt does not begin with the leak'
  fi

  cat <<END

One sample in 512 KiB is the default. Smaller stacks show with a smaller rate,
at a higher cost:
  MPROF_OPTIONS=heap_rate=16384 build/demo/duk utils/demo/leak.js
END
}

## Functions for demo.sh server.

# Compiles the service, unless it is up to date. Takes the compiler flags of httplib
# from pkg-config, because httplib's header and library must be compiled with the
# same flags. Uses full -g, because otherwise the names of inlined functions lack
# their class.
build_server() {
  if [ -x "$demo/server" ] && [ -z "$(find utils/demo/server.cpp include \
    build/lib/*.so build/lib/*.a -type f -newer "$demo/server")" ]; then
    return
  fi
  build/bin/mprof-clang -fmprof -O2 -g1 -c /usr/share/duktape/duktape.c \
    -o "$demo/server-duktape.o" &
  # shellcheck disable=SC2046  # words of a list
  build/bin/mprof-clang++ -fmprof -O2 -g -std=c++20 -I/usr/share/duktape \
    $(pkg-config --cflags cpp-httplib) -c utils/demo/server.cpp \
    -o "$demo/server.o"
  wait "$!"
  # shellcheck disable=SC2046
  build/bin/mprof-clang++ -fmprof "$demo/server.o" "$demo/server-duktape.o" \
    $(pkg-config --libs cpp-httplib) -lm -o "$demo/server"
}

# Removes process id $2 from the names of the files that program $1 has written.
drop_pid() {
  for file in "$demo/$1.$2".*; do
    [ ! -e "$file" ] || mv "$file" "$demo/$1.${file#"$demo/$1.$2."}"
  done
}

# Runs the service with the MProf options $1, and then the client, which sends
# requests and stops the service. The client writes no profile. If file $2 is given,
# the client saves the stacks of the service's threads in $2 after half of the
# requests. The service writes its port to a pipe when it is ready.
run_server() {
  rm -f "$demo/server.port"
  mkfifo "$demo/server.port"
  # Started so, its page does not name a folder of this machine.
  (cd "$demo" && MPROF_OPTIONS="log_path='$demo/server.%p':$1" \
    exec ./server >server.port) &
  pid=$!
  trap 'kill "$pid" 2>/dev/null || :' EXIT
  trap 'exit 1' HUP INT TERM
  read -r port <"$demo/server.port" || die 'the service did not start'
  MPROF_OPTIONS=profile=0:report=0:heap=0 "$demo/server" client "$port" 3000 \
    ${2+"$2"}
  wait "$pid" || die "the service ended with exit code $?"
  trap - EXIT HUP INT TERM
  rm "$demo/server.port"
  drop_pid server "$pid"
}

# Shows the top functions of the service's profile of kind $1. Hides the frames of
# the C and C++ libraries, so that the innermost frame of a stack is a function of
# the program.
top_server() {
  top server "$1" -hide='^(.* )?(std::|__gnu_cxx::|__gthread_|pthread_)'
}

show_server() {
  echo "compiling the service"
  rm -f "$demo"/server.*.pb.gz "$demo/server.txt"
  build_server
  echo
  run_server block_rate=1:mutex_fraction=1:heap_rate=65536:peak=1:memory=1
  for kind in heap mutex block threadcreate; do
    [ -f "$demo/server.$kind.pb.gz" ] ||
      die "the service wrote no build/demo/server.$kind.pb.gz"
  done
  [ -f "$demo/server.txt" ] || die 'the service wrote no build/demo/server.txt'

  echo
  echo '== mutex: which functions held locks that other threads waited for'
  top_server mutex | tee "$demo/server.mutex.top"
  echo
  echo '== block: which functions waited'
  top_server block
  echo
  echo '== threadcreate: which functions created threads'
  top_server threadcreate

  # Sets found to the first function of the profile, in the line below the heading.
  found=$(sed -n '/flat%/{n;p;}' "$demo/server.mutex.top")
  case $found in
  *HeapPool::checkIn*) ;;
  *)
    die "the mutex profile does not begin with HeapPool::checkIn, which holds \
the lock too long, but with: ${found:-nothing}"
    ;;
  esac
  echo
  echo 'The mutex profile begins with HeapPool::checkIn, which is slow on purpose.'
  show_page
}

## Functions for demo.sh server and trace.

browser() {
  command -v chromium-headless-shell || command -v chromium ||
    command -v google-chrome
}

# Sets browser, and installs one if there is none. Returns whether there is one.
find_browser() {
  browser >/dev/null || utils/setup.sh browser || :
  browser=$(browser)
}

# Draws the page $2 in the directory $1, which may be removed later, in a window
# of the size $3, and writes the picture to $4. Needs no network.
photograph() {
  # --no-sandbox: the browser's sandbox works neither for root nor in most
  # containers, and our own page does not need it. --user-data-dir: with a browser
  # profile of its own, this browser does not join a browser that already runs.
  (cd "$1" && timeout 60 "$browser" --headless --no-sandbox \
    --user-data-dir="$1/profile" --no-first-run --disable-gpu \
    --disable-background-networking --allow-file-access-from-files \
    --hide-scrollbars --window-size="$3" --virtual-time-budget=10000 \
    --enable-logging=stderr --screenshot="$4" "$2" >"$1/log" 2>&1) || :
}

# Writes build/demo/report.html with the profiles of the service, and a picture of
# the page.
show_page() {
  rm -f "$demo/report.html" "$demo/report.png"
  build/bin/mprof html "$demo"/server.*.pb.gz -o "$demo/report.html" ||
    die 'the profiles could not be shown as a page'
  echo
  echo 'build/demo/report.html shows the profiles in a browser.'
  find_browser || return 0
  page=$demo/report.page
  rm -rf "$page"
  mkdir "$page"
  ln "$demo/report.html" "$page/index.html"
  photograph "$page" index.html 1200,600 "$demo/report.png"
  [ -s "$demo/report.png" ] ||
    die 'the browser wrote no build/demo/report.png: see build/demo/report.page/log'
  rm -r "$page"
  echo 'build/demo/report.png is a picture of it.'
}

## Functions for demo.sh trace.

# Runs mprof trace top only for waits for locks. The arguments are more options.
lock_waits() {
  build/bin/mprof trace top --reason=sync "$@" build/demo/server.trace
}

check_trace() {
  build/bin/mprof trace check build/demo/server.trace >"$demo/trace.check" ||
    die 'build/demo/server.trace is not a valid trace'
  head -n 1 "$demo/trace.check"
  rm "$demo/trace.check"
  version=$("$go" version | cut -d ' ' -f 3)
  case $version in
  go1.[0-9] | go1.[0-9].* | go1.1[0-9]* | go1.2[0-2]*)
    echo "$version is older than the format of the trace, so Go does not check it"
    return
    ;;
  esac
  "$go" tool trace -d=parsed "$demo/server.trace" >"$demo/trace.go" 2>&1 ||
    die "go tool trace does not read build/demo/server.trace: \
$(head -n 1 "$demo/trace.go")"
  echo "$version reads it"
  rm "$demo/trace.go"
}

# Prints "MS PERCENT": how long threads waited for locks that HeapPool::checkIn held,
# and the share of this time in all waiting for locks.
check_in_share() {
  lock_waits --count=1000 | awk '
    function ms(value, unit) {
      return value * (unit == "s" ? 1000 : unit == "ms" ? 1 : 0.001)
    }
    held { all += ms($1, $2) }
    held && /HeapPool::checkIn / { part += ms($1, $2) }
    /^Where / { held = 0 }
    /^Where locks were released that other threads waited for/ { held = 1 }
    END { printf "%d %d\n", part, all ? 100 * part / all : 0 }'
}

# Prints "BEGIN LENGTH", in ms, of a wait that HeapPool::checkIn ended and in which a
# request waited for a heap. Chooses the longest wait of at most 20 ms, so that the
# names fit in the picture. If all waits are longer, chooses the shortest one.
wait_to_show() {
  lock_waits --count=1000 | awk '
    / from .* s: sync for pool$/ { begin = $5 * 1000; length_ms = $2; unit = $3 }
    !/woken by / && / at / { request = / at .*HeapPool::checkOut / }
    /woken by .*HeapPool::checkIn / && request && unit == "ms" {
      found = sprintf("%.3f %.3f", begin, length_ms)
      if (length_ms <= 20)
        exit
    }
    END { if (found) print found }'
}

# Prints the directory with the files of the trace viewer of go tool trace.
go_viewer() {
  for root in "$("$go" env GOROOT)" /usr/lib/go-1.19; do
    for place in internal/trace/traceviewer/static cmd/trace/static; do
      if [ -f "$root/src/$place/trace_viewer_full.html" ]; then
        echo "$root/src/$place"
        return
      fi
    done
  done
}

# Draws build/demo/trace.png, which shows the wait that begins at $1 ms and lasts
# $2 ms, and some time before and after this wait. Needs no network.
draw() {
  page=$demo/trace.page
  rm -rf "$page"
  mkdir "$page"
  viewer=$(go_viewer)
  [ -n "$viewer" ] || die 'Go has no file trace_viewer_full.html'
  cp "$viewer/trace_viewer_full.html" "$viewer/webcomponents.min.js" "$page"
  sed "s/@START@/$1/" utils/demo/timeline.html >"$page/index.html"
  # shellcheck disable=SC2046  # two words
  set -- $(awk -v begin="$1" -v ms="$2" 'BEGIN {
    from = begin - ms * 0.15 - 1
    printf "%.3f %.3f", (from > 0 ? from : 0), begin + ms * 1.15 + 1
  }')
  build/bin/mprof trace json --from="$1ms" --to="$2ms" --frames=8 \
    --stacks=text --name=server -o "$page/window.json" "$demo/server.trace"
  photograph "$page" index.html 1600,960 "$demo/trace.png"
  # The page logs a line such as
  # "timeline: 7 threads, 63 slices, 7 arrows, 1912 colors". On a busy machine, a
  # thread that is woken may run only behind the part that is shown, and its
  # arrow ends there.
  drawn=$(sed -n 's/.*"\(timeline: .*\)", source: .*/\1/p' "$page/log")
  case $drawn in
  'timeline: '[1-9]*' threads, '[1-9]*' slices, '[0-9]*' arrows, '[1-9]?*) ;;
  *)
    rm -f "$demo/trace.png"
    die "the timeline was not drawn: ${drawn:-see build/demo/trace.page/log}"
    ;;
  esac
  [ -s "$demo/trace.png" ] ||
    die 'the browser wrote no build/demo/trace.png: see build/demo/trace.page/log'
  rm -r "$page"
  echo "build/demo/trace.png shows it: ${drawn#timeline: }"
}

show_trace() {
  echo "compiling the service"
  rm -f "$demo"/server.trace* "$demo/trace.png"
  build_server
  echo
  run_server trace=1:profile=0:report=0
  [ -f "$demo/server.trace" ] || die 'the service wrote no server.trace'
  check_trace
  build/bin/mprof trace json -o "$demo/server.trace.json" "$demo/server.trace"

  echo
  echo '== mprof trace top --reason=sync: the longest waits for locks'
  lock_waits --count=5
  echo
  share=$(check_in_share)
  if [ "${share% *}" -lt 500 ] || [ "${share#* }" -lt 25 ]; then
    die "HeapPool::checkIn, which holds the lock too long, caused waits of \
${share% *} ms, ${share#* } % of all"
  fi
  echo "HeapPool::checkIn, which is slow on purpose, caused ${share#* } % of" \
    'all waiting for locks.'
  echo
  echo '== mprof latency: why the slowest request took so long'
  build/bin/mprof latency --count=1 "$demo/server.trace" |
    sed -n '/^The slowest/,$p' | cut -c 1-150
  echo
  waited=$(wait_to_show)
  [ -n "$waited" ] || die 'no request waited for HeapPool::checkIn'
  echo "One such wait begins at ${waited% *} ms and lasts ${waited#* } ms."
  if find_browser; then
    # shellcheck disable=SC2086  # two words
    draw $waited
  else
    echo 'mprof: build/demo/trace.png was not drawn: Chromium is not installed;' \
      'run: utils/setup.sh browser' >&2
  fi
  cat <<END

To look around in it:
  $go tool trace build/demo/server.trace
  https://ui.perfetto.dev or chrome://tracing with build/demo/server.trace.json
END
}

## Functions for demo.sh gc.

# Prints "N%": the share of the live bytes that function $1 and its callees have
# allocated.
share_of() {
  top gc heap -cum -nodecount=30 |
    sed -n "s/^.* \([0-9.]*%\)  $1\( (.*)\)\{0,1\}\$/\1/p"
}

show_collector() {
  runs=${MPROF_DEMO_RUNS:-5}
  echo 'compiling the program'
  rm -f "$demo"/gc.*
  build gc mprof-clang utils/demo/symbolic.c -lgc
  echo
  table_head
  measure gc
  echo
  echo '== the bytes that the collector itself finds reachable'
  "$demo/gc-plain" 3>&1 2>&3 >/dev/null
  echo '(libgc gives 48 bytes where the program asks for 32; the profile has the 32)'
  echo
  echo '== the head of build/demo/gc.txt'
  head -n 10 "$demo/gc.txt"
  echo
  echo '== live bytes: go tool pprof -top -cum -sample_index=inuse_space'
  top gc heap -cum -sample_index=inuse_space
  echo
  echo '== allocated bytes: go tool pprof -top -cum -sample_index=alloc_space'
  top gc heap -cum -sample_index=alloc_space

  # The cache of function remember must own nearly all live bytes, because the
  # program keeps nothing else.
  share=$(share_of remember)
  case $share in
  9[0-9]*% | 100%) ;;
  *) die "remember, the cache, owns ${share:-none} of the heap in use" ;;
  esac
  echo
  echo "$share of the live memory is in the cache, remember. The rest was garbage."
}

## Functions for demo.sh threads.

# Prints a line for each stack of the threads profile in text file $1, the stack with
# the most threads first. The line has the number of threads, their labels, the
# innermost function, and the innermost three functions of source file $2. If the
# stack has no function of $2, the line has the innermost function of httplib.
short_threads() {
  awk -F '\t' -v source="/$2:" '
    function short(name) {
      gsub(/\(anonymous namespace\)::/, "", name)
      sub(/[(<].*/, "", name)
      return name
    }
    function end() {
      if (count)
        printf "%3d  %-24s %-26s %s\n", count, labels, top, path ? path : other
      count = depth = 0
      labels = top = path = other = unread = ""
    }
    /^# MProf/ { exit }
    /^# not read/ { unread = " (not read)" }
    /^[0-9]+ @/ { count = $0 + 0 }
    /^# labels: / { labels = substr($0, 11) }
    /^#\t/ && !top { top = short($3) unread }
    /^#\t/ && index($4, source) && depth < 3 {
      path = path (depth++ ? " < " : "in ") short($3)
    }
    /^#\t/ && /\thttplib::/ && !other { other = "in " short($3) }
    /^$/ { end() }
    END { end() }' "$1"
}

# Runs the program with deadlocks, in which three pairs of threads wait for each
# other. Checks that the profile shows these six threads.
show_deadlock() {
  echo
  echo '== a program with deadlocks'
  rm -f "$demo"/deadlock*
  build/bin/mprof-clang -fmprof -O2 -g1 utils/demo/deadlock.c -o "$demo/deadlock"
  options=threads=1:format=1:heap=0:threadcreate=0:stuck=1:stuck_report=2
  MPROF_OPTIONS="log_path='$demo/deadlock.%p':$options" "$demo/deadlock" 4 &
  wait "$!" || die "build/demo/deadlock ended with exit code $?"
  drop_pid deadlock "$!"
  short_threads "$demo/deadlock.threads.txt" deadlock.c |
    tee "$demo/deadlock.top"
  grep -q '^  6 .* pthread_mutex_lock .*in transfer < clerk$' \
    "$demo/deadlock.top" || die 'the profile does not show the 6 waiting threads'
  show_stuck
}

# Shows MProf's report of the deadlocks: its head and the first of three cycles.
show_stuck() {
  report=$demo/deadlock.stuck.txt
  [ -f "$report" ] || die 'the program wrote no report build/demo/deadlock.stuck.txt'
  echo
  echo '== build/demo/deadlock.stuck.txt: which threads are stuck'
  sed -n '/^Stuck threads/,/^Cycle 2 of/p' "$report" | sed '$d' | cut -c 1-110
  echo '...'
  grep '^SUMMARY: ' "$report" | tee "$demo/deadlock.summary"
  case $(cat "$demo/deadlock.summary") in
  *' 6 threads, 6 certain, 0 likely, 3 cycles') ;;
  *) die 'the report does not show 6 threads in 3 cycles' ;;
  esac
}

show_threads() {
  echo 'compiling the service'
  rm -f "$demo"/server.threads*
  build_server
  echo
  run_server threads=1:profile=0:report=0 "$demo/server.threads.txt"
  [ -s "$demo/server.threads.txt" ] ||
    die 'the client did not save build/demo/server.threads.txt'
  echo
  echo '== the stacks of all threads at one moment under load'
  short_threads "$demo/server.threads.txt" server.cpp |
    tee "$demo/server.threads.top"
  # The service has 7 threads: the thread that took the profile, the main thread, and
  # the other workers.
  total=$(awk '{ n += $1 } END { print n + 0 }' "$demo/server.threads.top")
  [ "$total" -eq 7 ] || die "the profile shows $total threads instead of 7"
  grep -q 'in handleThreads$' "$demo/server.threads.top" ||
    die 'the profile does not show the thread that requested it'
  if grep -q mprof_label_set include/mprof/mprof.h &&
    ! grep -Eq '\{"request":"(invoice|statistics)"\}' \
      "$demo/server.threads.top"; then
    die 'no thread of the profile has the label request'
  fi
  show_deadlock
}

case ${1-} in
server) show_server ;;
trace) show_trace ;;
gc) show_collector ;;
threads) show_threads ;;
heap) show_heap ;;
*) show_unmodified ;;
esac
