#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# link_for_emulator.sh QEMU COMPILER ARGUMENT...
#
# Runs the compiler. If the compiler has linked a program, moves the program into
# the directory `emulated` beside it, and puts a script in its place that runs it
# under QEMU. Only used if the kernel does not do so itself (utils/emulate.sh).

set -eu
qemu=$1
shift
"$@"
out=a.out
takes_out=
for arg do
  if [ -n "$takes_out" ]; then
    out=$arg
    takes_out=
    continue
  fi
  case $arg in
  -c | -S | -E | -shared | -r | -fsyntax-only | -print-* | --version) exit 0 ;;
  -o) takes_out=yes ;;
  -o*) out=${arg#-o} ;;
  esac
done
[ -f "$out" ] || exit 0
case $(od -A n -N 20 -t x1 "$out" | tr -d ' \n') in
7f454c46*0[23]00b700) ;;
*) exit 0 ;;
esac
case $out in
*/*) dir=${out%/*} ;;
*) dir=. ;;
esac
mkdir -p "$dir/emulated"
mv -f "$out" "$dir/emulated/${out##*/}"
cat >"$out" <<EOF
#!/bin/sh
here=\${0%/*}
[ "\$here" != "\$0" ] || here=\$(dirname "\$(command -v -- "\$0")")
exec $qemu -0 "\$0" "\$here/emulated/${out##*/}" "\$@"
EOF
chmod +x "$out"
