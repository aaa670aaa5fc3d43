#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the Debian packages, the tarball and the wheel in build-package/, checks the
# packages with lintian, and tries them in a bare Debian 12: installs them, profiles
# programs, and removes them. Tries the tarball there, and the tarball and the wheel
# in a bare Debian 11. Then makes the images of docs/containers.md, and profiles the
# service in its container. All but the first needs root.
#
#   packages.sh        all of this
#   packages.sh make   only the packages, the tarball and the wheel

set -eu

case "$# ${1-}" in
'0 ' | '1 make') ;;
*)
  echo "usage: ${0##*/} [make]" >&2
  exit 2
  ;;
esac
cd -P -- "$(dirname -- "$0")/.."
. utils/configure.sh
packages=$PWD/build-package
root=$packages/debian

say() { echo "mprof: $1"; }
die() {
  echo "mprof: $1" >&2
  exit 1
}

make_packages() {
  say 'part 1 of 7: build MProf'
  utils/setup.sh packages
  for preset in package portable; do
    configure $preset "build-$preset" >/dev/null
    cmake --build --preset $preset
  done
  say 'part 2 of 7: make the packages'
  rm -f "$packages"/*.deb "$packages"/*.tar.gz "$packages"/*.whl
  (cd "$packages" && cpack -G DEB)
  (cd build-portable && cpack -G TGZ -B "$packages")
  rm -rf "$packages/tree"
  mkdir "$packages/tree"
  tar -xzf "$packages"/mprof-*.tar.gz -C "$packages/tree" --strip-components=1
  # cmake/MProfOldGlibc.cmake lists the symbols that have older versions.
  find "$packages/tree" -type f -exec objdump -T {} + 2>/dev/null |
    grep -E 'file format|GLIBC_2\.(29|[3-9][0-9])' | grep -B 1 GLIBC_ >&2 &&
    die 'the tarball needs a glibc newer than 2.28'
  utils/wheel.py "$packages/tree" "$packages"
  [ "${1-}" = make ] || check_lintian
}

check_lintian() {
  utils/setup.sh debian
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

# buildah without a service and without the user's images. Containers are chroots,
# because nested machines often allow no others.
store="--root $packages/images --runroot $packages/images-run"
box() {
  # shellcheck disable=SC2086  # words
  buildah $store "$@"
}

# Makes a bare Debian in $root, with the lists of packages. Uses the servers that
# this machine uses. $1: code name.
make_debian() {
  leave
  # Nothing that is mounted there is removed.
  rm -rf --one-file-system "$root"
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' |
    sort -u | head -n 1)
  [ -n "$mirror" ] || die 'apt-get knows no server of Debian 12'
  debootstrap --variant=minbase "$1" "$root" "$mirror" >"$packages/debian.log" ||
    die "debootstrap failed: see $packages/debian.log"
  cp /etc/resolv.conf "$root/etc/"
  inside apt-get -q update
}

enter() {
  mount -t proc proc "$root/proc"
  trap leave EXIT
  trap 'exit 1' HUP INT TERM
}

make_newer_debian() {
  say 'part 3 of 7: make a bare Debian 12'
  make_debian bookworm
  # The image from which the containers begin.
  rm -rf "$packages/images" "$packages/images-run"
  scratch=$(box from scratch)
  box add "$scratch" "$root" / >/dev/null
  box commit -q "$scratch" mprof-debian
  enter
}

# Installs programs of Debian in the chroot.
add() { inside apt-get -q install -y --no-install-recommends "$@"; }

# Runs test-installed.sh in the chroot, by the command `env` with its arguments. $1
# says what is tried.
try() {
  say "$1"
  cp packaging/test-installed.sh "$root/root/"
  shift
  inside "$@" sh -eu /root/test-installed.sh || die 'the installed MProf does not work'
}

check_packages() {
  say 'part 4 of 7: install, use and remove the packages'
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

  say 'part 5 of 7: use the tarball'
  inside sh -c 'mkdir /opt/here && tar -xzf /packages/mprof-*.tar.gz -C /opt/here \
    --strip-components=1'
  try 'use the tarball' env PATH=/opt/here/bin:/usr/bin:/bin
}

check_older_debian() {
  say 'part 6 of 7: use the tarball and the wheel in a bare Debian 11'
  leave
  root=$packages/debian-11
  make_debian bullseye
  enter
  add gcc libc6-dev python3 python3-venv
  cp packaging/test-portable.sh "$packages"/mprof-*.tar.gz "$packages"/*.whl "$root/root"
  inside sh -eu -c 'cd /root
    mkdir /opt/here
    tar -xzf mprof-*.tar.gz -C /opt/here --strip-components=1
    python3 -m venv /opt/environment
    /opt/environment/bin/pip install --no-index mprof-*.whl
    for prefix in /opt/here /opt/environment; do
      sh -eu test-portable.sh $prefix/bin/mprof
    done' || die 'the tarball or the wheel does not work'
  leave
}

# Runs a command in the container of the service. Its other containers share the
# volume /profiles.
in_web() { box run --isolation=chroot --cap-drop=all "$web" "$@"; }

check_containers() {
  say 'part 7 of 7: profile a service in a container'
  box build --isolation=chroot --build-arg DEBIAN=mprof-debian -t mprof \
    -f packaging/Containerfile .
  rm -rf "$packages/web"
  mkdir "$packages/web"
  for name in Containerfile lighttpd.conf; do
    python3 test/Inputs/readme_block.py docs/containers.md "$name" \
      >"$packages/web/$name"
  done
  box build --isolation=chroot -t web -f "$packages/web/Containerfile" "$packages/web"
  web=$(box from web)
  # buildah does not run CMD, so these are its words.
  in_web env LD_PRELOAD=/usr/lib/mprof/libmprof_preload.so \
    lighttpd -D -f /etc/web.conf &
  service=$!
  in_web sh -c 'for i in 1 2 3 4 5 6 7 8 9; do
    sleep 1
    [ ! -S /profiles/mprof.sock ] || exit 0
    done
    exit 1' ||
    die 'the service in the container opens no HTTP server'
  # Enough requests for some samples.
  python3 -c 'import urllib.request
for _ in range(500): urllib.request.urlopen("http://localhost:8080/").read()' ||
    die 'the service in the container does not reply'
  in_web mprof ctl -o /profiles/now.pb.gz /profiles/mprof.sock dump heap
  pkill -TERM -f '^lighttpd -D -f /etc/web.conf' || :
  wait "$service" || die 'the service in the container has failed'
  in_web sh -eu -c 'for profile in now.pb.gz "lighttpd.*.heap.pb.gz"; do
    mprof top --no-pager --sample=alloc_space -n 0 /profiles/$profile; done' | tee "$packages/web/top"
  [ "$(grep -c ' main' "$packages/web/top")" = 2 ] ||
    die 'the profiles of the container do not show the service'
  [ "$(in_web stat -c %U /profiles/now.pb.gz)" = web ] ||
    die 'the service does not run as the user web'
  say 'the profiles of the container show the service'
}

make_packages "$@"
[ "${1-}" != make ] || exit 0
make_newer_debian
check_packages
check_older_debian
check_containers
say 'the packages, the tarball, the wheel and the container work'
