#!/bin/sh
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Profiles the tests of a project, and compares them with those of its base.
#
#   mprof-ci.sh [OPTION]... -- COMMAND
#
# COMMAND is one argument, which sh runs in the directory of the sources.
#
#   --build COMMAND      builds the program first
#   --base DIR           compares with profiles of the base: DIR is what a former
#                        run of this script has written to OUT/new
#   --base-ref REF       if there is no DIR: builds and runs the commit REF of git, too
#   --fail-if BUDGETS    fails if a budget of mprof diff is broken, one on each line
#   --fail-on KINDS      fails if there are leaks, or lock-order cycles, or both:
#                        'leaks lock-order'
#   --suppressions FILE  leaves out the leaks that FILE names
#   --runs N             runs COMMAND N times (default 1)
#   --run-options TEXT   options of mprof run (default: --heap-rate=1 --lock-order)
#   --focus RE           takes stacks that match RE (default: with a file or program
#                        in the directory of the sources)
#   --out DIR            writes results to DIR (default: mprof-results), and replaces
#                        those of a former run
#   --post HOST          sends report and results to the host, github or gitlab, of
#                        whose job this is a part
#
# Writes to OUT: report.md, which is printed, too; leaks.sarif; lock-order.sarif;
# codequality.json if jq is installed; new/N/, the profiles of run N.
#
# Ends with the status of COMMAND if that fails, with 3 if a budget is broken, with 1
# if there are leaks or cycles that --fail-on names, and with 2 for other errors.

set -u

say() { echo "mprof-ci: $1" >&2; }
die() {
  say "$1"
  exit 2
}

build='' base='' base_ref='' budgets='' fail_on='' suppressions='' focus='' post=''
runs=1 run_options='--heap-rate=1 --lock-order' out=mprof-results
while [ $# -gt 0 ]; do
  case $1 in
  --) shift && break ;;
  --*=*)
    option=${1%%=*}
    value=${1#*=}
    shift
    set -- "$option" "$value" "$@"
    continue
    ;;
  --*) [ $# -gt 1 ] || die "$1 needs an argument" ;;
  *) break ;;
  esac
  case $1 in
  --build) build=$2 ;;
  --base) base=$2 ;;
  --base-ref) base_ref=$2 ;;
  --fail-if) budgets=$budgets$2'
' ;;
  --fail-on) fail_on="$fail_on $2" ;;
  --suppressions) suppressions=$2 ;;
  --runs) runs=$2 ;;
  --run-options) run_options=$2 ;;
  --focus) focus=$2 ;;
  --out) out=$2 ;;
  --post) post=$2 ;;
  *) die "unknown option $1; the comment at the beginning of $0 lists the options" ;;
  esac
  shift 2
done
[ $# -eq 1 ] && [ -n "$1" ] || die 'give COMMAND as one argument'
command=$1
case $runs in
'' | *[!0-9]* | 0*) die "--runs=$runs is not a number from 1 on" ;;
esac
for kind in $fail_on; do
  case $kind in
  leaks | lock-order) ;;
  *) die "--fail-on=$kind is not leaks or lock-order" ;;
  esac
done
case $post in
'' | github | gitlab) ;;
*) die "--post=$post is not github or gitlab" ;;
esac
case $base_ref in
-*) die "--base-ref=$base_ref is not the name of a commit" ;;
esac
# Variables that git sets for its hooks. In another tree, they would lead git to the
# index of the commit that is being made.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX
mprof --version >/dev/null 2>&1 || die 'cannot run mprof; is MProf installed?'
root=$(pwd -P) || exit 2
mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd -P) || exit 2
if [ -d "$base" ]; then
  case $(cd "$base" && pwd -P)/ in
  "$out"/*) die "the results would replace --base=$base; give another --out" ;;
  esac
fi
[ -z "$suppressions" ] || [ -r "$suppressions" ] || die "cannot read $suppressions"
# Nothing is removed but what a former run has written.
if [ -e "$out/new" ] || [ -e "$out/base" ]; then
  [ -e "$out/report.md" ] || die "$out has files that are not of a former run"
fi
rm -rf "$out/new" "$out/base" "$out"/new.*.pb.gz "$out"/base.*.pb.gz \
  "$out/leaks.sarif" "$out/lock-order.sarif" "$out/codequality.json"
: >"$out/report.md"
mkdir "$out/new" "$out/base" || exit 2

# The tree of --base-ref, and the directory that it lies in.
tree=$out/base/source
leave() {
  if [ -d "$tree" ]; then git worktree remove --force "$tree" >/dev/null 2>&1; fi
  rm -rf "$out/base"
}
trap leave EXIT
trap 'exit 2' HUP INT TERM

# --- profiles ---

# Builds and runs the program in the directory $1. Writes the profiles of run N to
# $2/N. Returns the status of the first command that fails. The commands do not get the
# tokens of the host.
profile() (
  unset GH_TOKEN MPROF_CI_TOKEN
  if [ -n "$build" ]; then (cd "$1" && sh -ec "$build") >&2 || return; fi
  run=1
  while [ "$run" -le "$runs" ]; do
    mkdir -p "$2/$run"
    # shellcheck disable=SC2086  # words
    (cd "$1" && mprof run --quiet $run_options -o "$2/$run" -- sh -c "$command") >&2 ||
      return
    run=$((run + 1))
  done
)

# Adds up the processes of each run in $1, or in the runs $1/N, to $2.N.pb.gz.
merge() {
  found=1
  number=0
  for run in "$1" "$1"/*/; do
    set -- "$1" "$2" "$run"/*.heap.pb.gz
    [ -e "$3" ] || continue
    number=$((number + 1))
    mprof merge "$run" -o "$2.$number.pb.gz" || exit 2
    found=0
  done
  return $found
}

# Quotes the characters of a path that have a meaning in regular expressions.
quoted() { printf '%s' "$1" | sed 's/[][\.*^$+?(){}|]/\\&/g'; }

status=0
profile "$root" "$out/new" || status=$?
[ "$status" -eq 0 ] || say "the command failed with status $status"
has_base=false
if [ -n "$base" ] && merge "$base" "$out/base"; then
  has_base=true
elif [ -n "$base_ref" ]; then
  # A job may have a clone with the newest commit alone.
  commit=$(git rev-parse -q --verify "$base_ref^{commit}" 2>/dev/null) ||
    { git fetch -q --depth=1 origin "$base_ref" &&
      commit=$(git rev-parse -q --verify 'FETCH_HEAD^{commit}'); } ||
    die "there is no commit $base_ref"
  git worktree add --detach "$tree" "$commit" >/dev/null 2>&1 ||
    die "cannot check out $base_ref"
  if profile "$tree" "$out/base/runs"; then
    merge "$out/base/runs" "$out/base" && has_base=true
  else
    say "the command fails for $base_ref, so nothing is compared"
  fi
fi
merge "$out/new" "$out/new" || say 'no process has written a heap profile'
[ -n "$focus" ] || focus="^($(quoted "$root")|$(quoted "$tree"))/"

# --- the report ---

compare() {
  # One argument for each budget.
  set -- --format=md --focus="$focus"
  while IFS= read -r budget; do
    [ -z "$budget" ] || set -- "$@" --fail-if="$budget"
  done <<EOF
$budgets
EOF
  mprof diff "$@" "$out"/base.*.pb.gz -- "$out"/new.*.pb.gz
}

# Status at the end, if COMMAND does not fail.
result=0

# Writes the results of a command of mprof, $3..., to $out/$1.sarif. If there are any,
# prints them below the heading $2, and --fail-on may name $1.
check() {
  name=$1 heading=$2
  shift 2
  set -- "$@" --focus="$focus"
  found=0
  mprof "$@" --format=sarif --source-root="$root" >"$out/$name.sarif" || found=$?
  [ "$found" -ne 0 ] || return 0
  [ "$found" -eq 1 ] || exit 2
  printf '\n### %s\n\n' "$heading"
  mprof "$@" --no-pager --color=never -n 10 | sed 's/^/    /' # as code
  case " $fail_on " in
  *" $name "*) [ "$result" -ne 0 ] || result=1 ;;
  esac
}

report() {
  echo '<!-- mprof -->'
  if ! [ -e "$out/new.1.pb.gz" ]; then
    echo 'The command has used no memory.'
  elif $has_base; then
    compare || result=$?
    [ "$result" -eq 0 ] || [ "$result" -eq 3 ] || exit 2
  else
    echo 'There is no profile of the base to compare with.'
  fi
  if [ -e "$out/new.1.pb.gz" ]; then
    set -- leaks "$out/new.1.pb.gz"
    [ -z "$suppressions" ] || set -- "$@" --suppressions="$suppressions"
    check leaks Leaks "$@"
  fi
  set -- "$out"/new/1/*.lockorder.pb.gz
  if [ -e "$1" ]; then
    check lock-order 'Locks taken in different orders' traces "$@"
  fi
  [ "$status" -eq 0 ] || printf '\nThe command failed with status %s.\n' "$status"
}

# In this shell, so that `result` stays.
report >"$out/report.md"
cat "$out/report.md"
if command -v jq >/dev/null; then
  cat "$out"/*.sarif 2>/dev/null | jq -s '[.[].runs[].results[] |
    select(.locations[0].physicalLocation.artifactLocation.uriBaseId) |
    {description: .message.text, check_name: .ruleId, severity: "major",
     fingerprint: .partialFingerprints.primaryLocationLineHash,
     location: (.locations[0].physicalLocation | {
       path: (.artifactLocation.uri | gsub("%20"; " ")),
       lines: {begin: (.region.startLine // 1)}})}]' >"$out/codequality.json"
fi

# --- the host ---

# Prints the report, cut to the length that hosts accept, as JSON: {"body": "..."}.
body() { head -c 60000 "$out/report.md" | jq -Rs '{body: .}'; }

post_to_github() {
  number=$(jq -r '.pull_request.number // empty' "${GITHUB_EVENT_PATH:-/dev/null}")
  if [ -n "$number" ]; then
    comments=repos/$GITHUB_REPOSITORY/issues
    # Anybody may write a comment that begins as a report does.
    old=$(gh api "$comments/$number/comments?per_page=100" --jq \
      '[.[] | select((.user.type == "Bot" or (.author_association |
         IN("OWNER", "MEMBER", "COLLABORATOR"))) and
         (.body | startswith("<!-- mprof -->"))) | .id] | last // empty') || old=''
    if [ -n "$old" ]; then
      body | gh api -X PATCH "$comments/comments/$old" --input - >/dev/null
    else
      body | gh api "$comments/$number/comments" --input - >/dev/null
    fi || say 'the comment was not accepted (of a fork, none is)'
  fi
  for sarif in "$out"/*.sarif; do
    [ -e "$sarif" ] || continue
    gzip -c "$sarif" | base64 -w 0 | jq -Rs --arg sha "$GITHUB_SHA" --arg ref "$GITHUB_REF" \
      '{commit_sha: $sha, ref: $ref, sarif: .}' |
      gh api "repos/$GITHUB_REPOSITORY/code-scanning/sarifs" --input - >/dev/null ||
      say "${sarif##*/} was not accepted; is code scanning on?"
  done
}

# The token is not among the arguments, which other users could read.
ask_gitlab() {
  echo "header = \"PRIVATE-TOKEN: $MPROF_CI_TOKEN\"" | curl -fsS -K - "$@"
}

post_to_gitlab() {
  if [ -z "${CI_MERGE_REQUEST_IID:-}" ] || [ -z "${MPROF_CI_TOKEN:-}" ]; then
    say 'no note: the job is not for a merge request, or MPROF_CI_TOKEN is not set'
    return
  fi
  notes=$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes
  # Anybody may write a note that begins as a report does.
  old=$(ask_gitlab "$CI_API_V4_URL/user" | jq -r .id) &&
    old=$(ask_gitlab "$notes?per_page=100" | jq -r --arg id "$old" \
      '[.[] | select("\(.author.id)" == $id and (.body | startswith("<!-- mprof -->"))) |
        .id] | first // empty') || old=''
  body >"$out/note.json" # curl reads the header from standard input
  ask_gitlab -X "$([ -n "$old" ] && echo PUT || echo POST)" \
    -H 'Content-Type: application/json' --data @"$out/note.json" \
    "$notes${old:+/$old}" >/dev/null || say 'the note was not accepted'
}

if [ -n "$post" ]; then
  command -v jq >/dev/null || die "--post=$post needs jq"
  "post_to_$post"
fi
[ "$status" -eq 0 ] || exit "$status"
exit "$result"
