#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the Debian packages and the tarball in build-package/, checks them with
# lintian, and tries them in a bare Debian 12: installs them, profiles programs, and
# removes them. The Debian is a chroot, so this part needs root.
#
#   packages.sh        all of this
#   packages.sh make   only the packages and the tarball

set -eu

case "$# ${1-}" in
'0 ' | '1 make') ;;
*)
  echo "usage: ${0##*/} [make]" >&2
  exit 2
  ;;
esac
cd -P -- "$(dirname -- "$0")/.."
packages=$PWD/build-package
root=$packages/debian

say() { echo "mprof: $1"; }
die() {
  echo "mprof: $1" >&2
  exit 1
}

make_packages() {
  say 'part 1 of 5: build MProf'
  utils/setup.sh packages
  cmake --preset package >/dev/null
  cmake --build "$packages"
  say 'part 2 of 5: make the packages'
  rm -f "$packages"/*.deb "$packages"/*.tar.gz
  (cd "$packages" && cpack)
  lintian --no-cfg --allow-root --fail-on error,warning "$packages"/*.deb ||
    die 'lintian has found mistakes'
  say 'lintian: no errors and no warnings'
}

# Runs a command in the chroot, with the environment of a user who has just logged in.
inside() {
  chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    DEBIAN_FRONTEND=noninteractive "$@"
}

leave() {
  umount "$root/proc" 2>/dev/null || :
}

# Makes a bare Debian in $packages/debian, with the lists of packages. Uses the
# servers that this machine uses.
make_debian() {
  say 'part 3 of 5: make a bare Debian 12'
  leave
  # Nothing that is mounted there is removed.
  rm -rf --one-file-system "$root"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' |
    sort -u | head -n 1)
  [ -n "$mirror" ] || die 'apt-get knows no server of Debian 12'
  debootstrap --variant=minbase bookworm "$root" "$mirror" >"$packages/debian.log" ||
    die "debootstrap failed: see $packages/debian.log"
  cp /etc/resolv.conf "$root/etc/"
  mount -t proc proc "$root/proc"
  trap leave EXIT
  trap 'exit 1' HUP INT TERM
  inside apt-get -q update
}

# Installs programs of Debian in the chroot.
add() { inside apt-get -q install -y --no-install-recommends "$@"; }

# Runs the test script $1 in the chroot.
try() {
  say "$1"
  cp packaging/test-installed.sh "$root/root/"
  shift
  inside "$@" sh -eu /root/test-installed.sh || die 'the installed MProf does not work'
}

check_packages() {
  say 'part 4 of 5: install, use and remove the packages'
  mkdir "$root/packages"
  cp "$packages"/*.deb "$packages"/mprof-*.tar.gz "$root/packages"
  # What the packages need, and what the test needs.
  add clang-19 libclang-rt-19-dev libdw1 libpcre2-8-0 gcc g++ make cmake pkg-config \
    man-db
  inside sh -c 'find / -xdev | sort' >"$packages/before"
  inside sh -c 'apt-get -q install -y --no-install-recommends /packages/*.deb'
  try 'use the installed packages' env
  inside apt-get -q purge -y mprof mprof-tools libmprof-dev
  inside sh -c 'rm -rf /tmp/* && find / -xdev | sort' >"$packages/after"
  # What is left: caches and logs of dpkg, apt, man and ldconfig.
  comm -13 "$packages/before" "$packages/after" |
    grep -v -e '^/var/' -e '^/etc/ld.so.cache' -e '^/root/' >"$packages/left" || :
  if [ -s "$packages/left" ]; then
    cat "$packages/left" >&2
    die 'these files are left after the packages were removed'
  fi
  say 'the packages leave no file'

  say 'part 5 of 5: use the tarball'
  inside sh -c 'mkdir /opt/here && tar -xzf /packages/mprof-*.tar.gz -C /opt/here \
    --strip-components=1'
  try 'use the tarball' env PATH=/opt/here/bin:/usr/bin:/bin
}

make_packages
[ "${1-}" = make ] && exit
make_debian
check_packages
say 'the packages and the tarball work'
