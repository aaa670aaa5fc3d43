#!/bin/bash
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# debug_file_seeds.sh CLANG: compiles debug_file.cpp in several ways, in the
# current directory. Writes the inputs of debug_file_fuzz.c to seeds/, and the
# files that an input is read together with. No file has the path of a directory,
# so the files are the same everywhere.

set -e
clang=$1
source=$(dirname "$0")/debug_file.cpp
mkdir -p seeds
rm -f split*

# build OUTPUT OPTION...: builds a library of less than 4 KiB. Compiles and links
# it by two commands, because the versions of clang name a .dwo file differently
# if one command does both.
build() {
  "$clang" -O1 -fPIC -fno-ident -fno-asynchronous-unwind-tables \
    -Wno-unused-command-line-argument \
    -fdebug-compilation-dir=/proc/self/cwd "-ffile-prefix-map=${source%/*}=/src" \
    "${@:2}" -c "$source" -o "$1-debug_file.o"
  "$clang" -nostdlib -shared -fuse-ld=lld -Wl,-z,noseparate-code,-z,norelro \
    -Wl,--build-id=none "${@:2}" "$1-debug_file.o" -o "$1"
}

# seed KIND NAME FILE: the first byte of an input says what the file is.
seed() { { printf '%s' "$1" && cat "$3"; } > "seeds/$2"; }

for options in "-gdwarf-5" "-gdwarf-4" "-gdwarf-4 -gz=zstd" "-gdwarf-5 -gz" \
  "-gdwarf-5 -gdwarf64" "-gline-tables-only" "-g0" "-g0 -s"; do
  # shellcheck disable=SC2086 # several options
  build lib $options
  seed p "program${options// /}" lib
  seed a "addresses${options// /}" lib
done
for version in 4 5; do
  build "split$version" -gdwarf-$version -gsplit-dwarf
  llvm-dwp -e "split$version" -o package
  seed p "skeleton$version" "split$version"
  seed "$version" "package$version" package
  seed "$((version + 2))" "unit$version" "split$version-debug_file.dwo"
  # The fuzzer's descriptors 100 and 101 are the inputs of these names.
  ln -sf /proc/self/fd/100 "split$version.dwp"
  ln -sf /proc/self/fd/101 "split$version-debug_file.dwo"
done
build whole -g -Wl,--build-id=0xabcdef01
llvm-strip --only-keep-debug whole -o debug
llvm-strip --strip-all whole -o stripped
mkdir -p dir/.build-id/ab
ln -sf /proc/self/fd/100 dir/.build-id/ab/cdef01.debug
seed g debug debug
mkdir -p files profiles
cp stripped files/abcdef01
cp debug files/abcdef01.debug
tar --format=ustar --owner=0 --group=0 --mtime=@0 -b1 -cf bundle \
  files/abcdef01 files/abcdef01.debug
seed b bundle bundle
