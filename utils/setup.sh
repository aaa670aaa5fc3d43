#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs those Debian packages that MProf needs and that are missing. The
# function help lists the groups of packages.

set -eu

help() {
  cat <<'END'
usage: setup.sh [build | demo | demos | bench | reach | clangs | arm64 | packages | debian | browser]

Installs the Debian packages of a group that are missing. This needs root, or a
sudo that asks for no password. Otherwise the script prints the command and
exits with 1.

  setup.sh           all that is needed to build, test and demonstrate MProf
  setup.sh build     only to build MProf
  setup.sh demo      only for demo.sh without arguments
  setup.sh demos     only for demo.sh with an argument
  setup.sh bench     also what utils/bench/run.sh needs, such as other profilers
  setup.sh reach     also the programs that reach.sh profiles without a rebuild
  setup.sh clangs    also the other versions of clang that the plugin supports
  setup.sh arm64     also what builds the runtime for arm64 and runs its programs
  setup.sh packages  only to make packages of MProf
  setup.sh debian    only what packages.sh tries the packages with
  setup.sh browser   only the browser of the tests and of the pictures of demo.sh

"also" means: beside all packages of setup.sh without a group.
END
}

# To build what profiles programs without a rebuild, and the tools.
no_rebuild_packages='
  clang-19 libclang-rt-19-dev libc6-dev binutils cmake ninja-build pkg-config
  zlib1g-dev libzstd-dev libdw-dev libpcre2-dev libcurl4-openssl-dev
  libiberty-dev
'
# To build the rest: the plugin, the runtime for musl, and the manual pages.
plugin_packages='
  llvm-19-dev llvm-19-tools libclang-19-dev lld-19 musl-tools python3 lowdown
'
demo_packages='
  duktape-dev nlohmann-json3-dev
'
demos_packages='
  libcpp-httplib-dev libgc-dev golang-1.19-go
'
test_packages='
  clang-format-19 clang-tidy-19 libc++-19-dev libc++abi-19-dev
  make git curl gzip jq nodejs gcc g++ libc6-dbg meson autoconf automake libtool python3-yaml
  valgrind strace groff-base mkdocs
  libglib2.0-dev libssl-dev libboost-context-dev
  libjemalloc-dev libgoogle-perftools-dev libmimalloc-dev
'
bench_packages='
  python3-scipy python3-matplotlib
  heaptrack gdb elfutils linux-perf liblttng-ust1 lttng-tools
  tcl debian-archive-keyring
'

# Tests open the pages of mprof html in this browser, which runs without a
# display. The font is for the text in pictures.
browser_packages='
  chromium-headless-shell fonts-liberation
'

packages_packages='
  dpkg-dev file liblzma-dev libbz2-dev
'

debian_packages='
  lintian debootstrap buildah procps
'

clangs_packages='
  clang-16 llvm-16-dev llvm-16-tools libclang-16-dev libclang-rt-16-dev lld-16
  clang-22 llvm-22-dev llvm-22-tools libclang-22-dev libclang-rt-22-dev lld-22
'

# Clang compiles for every processor. These packages have libc and libstdc++ for
# arm64, once to compile and once to run, and the emulator.
arm64_packages='
  gcc-12-aarch64-linux-gnu g++-12-aarch64-linux-gnu
  libc6-dev-arm64-cross libstdc++-12-dev-arm64-cross
  libc6:arm64 libc6-dbg:arm64 libstdc++6:arm64 libclang-rt-19-dev:arm64
  qemu-user-static
'

reach_packages='
  sqlite3 python3 perl git jq gdb lua5.4 ruby php-cli gawk xz-utils zstd
  openssl make ffmpeg lighttpd redis-server redis-tools curl zenity xvfb xauth
  default-jdk-headless nginx-light memcached vim-tiny imagemagick graphviz
  gnuplot-nox ghostscript rsync gpg tcl8.6 guile-3.0 ocaml-interp emacs-nox
  groff libxml2-utils swi-prolog-nox erlang-base sbcl luajit cppcheck gfortran
  r-base-core heaptrack
'

build_packages="$no_rebuild_packages $plugin_packages"
packages="$build_packages $demo_packages $demos_packages $test_packages
  $browser_packages"
case ${1-} in
'') ;;
build) packages=$build_packages ;;
demo) packages="$no_rebuild_packages $demo_packages" ;;
demos) packages="$build_packages $demo_packages $demos_packages" ;;
browser) packages=$browser_packages ;;
clangs) packages="$packages $clangs_packages" ;;
reach) packages="$packages $reach_packages" ;;
arm64) packages="$packages $arm64_packages" ;;
packages) packages="$build_packages $packages_packages" ;;
debian) packages=$debian_packages ;;
bench) packages="$packages $bench_packages" ;;
-h | --help)
  help
  exit
  ;;
*)
  help | sed 1q >&2
  echo 'setup.sh --help explains the groups' >&2
  exit 2
  ;;
esac

# A package of another processor than this computer's keeps its processor's name.
# shellcheck disable=SC2086  # words of a list
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}:${Architecture}\n' \
  $packages 2>/dev/null |
  sed "s/:\($(dpkg --print-architecture)\|all\)\$//")
missing=
for package in $packages; do
  case "
$installed
" in
  *"
installed $package
"*) ;;
  *) missing="$missing $package" ;;
  esac
done
if [ -z "$missing" ]; then
  exit 0
fi

if [ "$(id -u)" = 0 ]; then
  as_root=
elif sudo -n true 2>/dev/null; then
  as_root='sudo -n'
else
  echo "mprof: packages are missing; run: sudo apt-get install -y$missing" >&2
  exit 1
fi
echo "mprof: installing$missing and what they need"
# sudo clears the environment, so set DEBIAN_FRONTEND by env after sudo.
case $missing in
*:arm64*)
  # shellcheck disable=SC2086
  $as_root dpkg --add-architecture arm64
  ;;
esac
# shellcheck disable=SC2086
set -- $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o \
  Dpkg::Use-Pty=0
# Without the descriptions of the packages, which are 6 MB of 15.
"$@" -o Acquire::Languages=none update
# shellcheck disable=SC2086
"$@" install -y --no-install-recommends $missing
