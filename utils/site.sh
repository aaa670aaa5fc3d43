#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the documentation as a site with search, by MkDocs and without the network, and
# checks that each of its links leads somewhere. Begin with DIR/site/index.html; the
# search needs a web server, such as python3 -m http.server -d DIR/site.
#   site.sh [DIR]    default: build

set -eu
cd -P -- "$(dirname -- "$0")/.."
build=${1:-$PWD/build}
mkdir -p "$build"
command -v mkdocs >/dev/null || {
  echo 'mprof: no mkdocs on PATH: install mkdocs' >&2
  exit 1
}
pages=$build/site-pages
rm -rf "$pages"
mkdir -p "$pages"
cp -R docs/. "$pages"
# All pages are in one directory. The README is its first page.
cp CONTRIBUTING.md LICENSE "$pages"
cp README.md "$pages/index.md"
sed -i 's|](docs/|](|g; s|](\(\.\./\)*README\.md|](index.md|g; s|](\.\./|](|g' "$pages"/*.md
# Sources to which pages refer.
for file in $(grep -ho '](\.\./[^)#]*' docs/*.md | sed 's|](\.\./||' | sort -u); do
  case $file in
  *.md) ;;
  *)
    mkdir -p "$pages/$(dirname "$file")"
    cp "$file" "$pages/$file"
    ;;
  esac
done
cp mkdocs.yml "$build" # its directories are relative to it
mkdocs build --quiet --strict --clean -f "$build/mkdocs.yml"
rm "$build/site/404.html" # its links begin at the root of a web server
python3 utils/site_links.py "$build/site"
echo "mprof: made $build/site"
