#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# emulate.sh COMMAND...   runs the command so that programs for arm64 can be
#                         executed like others
#
# Tells the kernel that qemu executes programs for arm64 (binfmt_misc). Root does
# so for the whole computer. Other users do so in a user namespace, which needs
# Linux 6.7. If the kernel permits neither, sets MPROF_TEST_WRAP=1. The tests then
# put a script in the place of each program for arm64, which runs qemu.

set -eu

qemu=$(command -v qemu-aarch64-static) || {
  echo "${0##*/}: no qemu-aarch64-static: run utils/setup.sh arm64" >&2
  exit 1
}
dir=/proc/sys/fs/binfmt_misc
bytes='\x7f\x45\x4c\x46\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
# A link with this name tells qemu that the kernel keeps the program's own name.
named=/usr/libexec/qemu-binfmt/aarch64-binfmt-P
flags=F
if [ -e "$named" ]; then
  qemu=$named
  flags=OPF
fi

is_registered() {
  for file in "$dir"/*; do
    if [ -f "$file" ] && grep -qx enabled "$file" &&
      grep -q 'magic 7f454c46020101.*b700$' "$file"; then
      return 0
    fi
  done
  return 1
}

register() {
  [ -e "$dir/register" ] || mount -t binfmt_misc binfmt_misc "$dir"
  printf '%s\n' ":qemu-aarch64:M::$bytes:$mask:$qemu:$flags" >"$dir/register"
}

case ${1-} in
--in-namespace)
  shift
  mount -t binfmt_misc binfmt_misc "$dir"
  register
  exec "$@"
  ;;
'')
  echo "usage: ${0##*/} COMMAND..." >&2
  exit 2
  ;;
esac
if [ -n "${MPROF_TEST_WRAP-}" ]; then
  exec "$@"
fi
if is_registered || { [ "$(id -u)" = 0 ] && register 2>/dev/null; }; then
  exec "$@"
fi
if unshare --user --map-current-user --keep-caps --mount -- \
  "$0" --in-namespace true 2>/dev/null; then
  exec unshare --user --map-current-user --keep-caps --mount -- \
    "$0" --in-namespace "$@"
fi
echo "${0##*/}: the kernel cannot run qemu for programs of arm64" >&2
MPROF_TEST_WRAP=1 exec "$@"
