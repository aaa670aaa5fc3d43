# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For scripts that build the checkout.

# Configures the CMake preset $1, whose build directory is $2. The other arguments are
# options of cmake. CMake refuses a build directory that was copied together with its
# checkout, because the cache has the paths of the old folder: begins it anew. A link to
# the build directory of another checkout is no copy, so its cache is kept.
configure() {
  preset=$1
  directory=$2
  shift 2
  made=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$directory/CMakeCache.txt" \
    2>/dev/null) || :
  if [ -n "$made" ] &&
    [ "$(cd -P -- "$made" 2>/dev/null && pwd)" != "$(cd -P -- "$directory" && pwd)" ]; then
    echo "mprof: $directory was made as $made, so it is configured anew" >&2
    set -- --fresh "$@"
  fi
  cmake --preset "$preset" "$@"
}
