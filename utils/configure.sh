# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For scripts that build the checkout.

# Configures the CMake preset $1, whose build directory is $2. The other arguments are
# options of cmake. CMake refuses a build directory that was copied together with its
# checkout, because the cache has the paths of the old folder: begins it anew.
configure() {
  preset=$1
  directory=$2
  shift 2
  home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$directory/CMakeCache.txt" \
    2>/dev/null) || :
  if [ -n "$home" ] && [ "$(cd -P -- "$home" 2>/dev/null && pwd)" != "$(pwd -P)" ]; then
    echo "mprof: $directory was made in another folder, $home, so it is configured anew" >&2
    set -- --fresh "$@"
  fi
  cmake --preset "$preset" "$@"
}
