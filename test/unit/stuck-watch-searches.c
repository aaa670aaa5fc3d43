// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: with stuck_report, a watch thread searches memory for stuck threads.
// A new wait or a deadlock of locks starts a search without delay. Without new
// waits, the next search starts after a pause of 200 times the duration of the
// last search. Searches for new waits use a limited share of the time, and
// searches for deadlocks have no limit. The watch thread reports stuck threads
// once, with those that have waited for half of the time, and does not repeat
// the report when the process ends.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t \
// RUN:   -Wl,--wrap=mprof_stuck_look,--wrap=mprof_stuck_take \
// RUN:   -Wl,--wrap=mprof_sys_futex_wait_ms,--wrap=mprof_sys_futex_wait \
// RUN:   -Wl,--wrap=mprof_write_file,--wrap=pthread_create
// RUN: timeout 600 %t

#include "core.h"

#include "file/outfile.h"
#include "init.h"
#include "options/flags.h"
#include "stuck/stuck.h"
#include "sys/clock.h"
#include "sys/os.h"

#include <pthread.h>

enum { MS = 1000000, ROUNDS = 1000 };

static uint64_t time_now; // in nanoseconds, which are the ticks
static uint64_t clock_fn(void) { return time_now; }

// --- a script of rounds, and the record of what the watch did ---

// One letter for each round, which says what the threads do before the watch
// looks at them:
//   .  no thread waits for a condition or a similar object
//   +  the newest of these waits has begun since the last round
//   =  the newest of these waits goes on
//   <  the newest of these waits has ended, older waits go on
//   !  threads are deadlocked at locks
static const char *script;
static uint64_t search_ms;           // duration of each search
static int search_error;             // result of each search
static enum mprof_unjudged unjudged; // reason why a search judged no waits
static size_t found;                 // number of threads found stuck
static size_t found_later;           // with those that got stuck later
static bool stops_in_search;         // the process ends during the search

static uint64_t pause_ms;    // the expected pause before each round
static uint64_t newest;      // time of the newest wait
static unsigned round_no;    // number of rounds begun
static char did[ROUNDS + 1]; // for each round S: searched, or -: did not search
static unsigned reports, waits_for_end, later_searches;
static size_t reported; // number of threads in the last report

// Called before each round.
void __wrap_mprof_sys_futex_wait_ms(atomic_uint *word, unsigned value,
                                    uint64_t ms);
void __wrap_mprof_sys_futex_wait_ms(atomic_uint *word, unsigned value,
                                    uint64_t ms) {
  CHECK_EQ(*word, value);
  CHECK_EQ(ms, pause_ms);
  time_now += ms * MS;
  if (script[round_no] == '\0')
    mprof_stuck_watch_stop();
}

struct mprof_stuck_signs __wrap_mprof_stuck_look(uint64_t age);
struct mprof_stuck_signs __wrap_mprof_stuck_look(uint64_t age) {
  const char c = script[round_no];
  CHECK_EQ(age, mprof_flags.stuck_report * 1000 * MS);
  CHECK(c != '\0' && round_no < ROUNDS);
  did[round_no++] = '-';
  if (c == '+')
    newest = time_now;
  else if (c == '<')
    newest--;
  const bool has_waits = c == '+' || c == '=' || c == '<';
  return (struct mprof_stuck_signs){.is_stuck = c == '!',
                                    .newest = has_waits ? newest : 0};
}

int __wrap_mprof_stuck_take(struct mprof_stuck *g,
                            const struct mprof_caller *caller, uint64_t age);
int __wrap_mprof_stuck_take(struct mprof_stuck *g,
                            const struct mprof_caller *caller, uint64_t age) {
  const bool is_later = did[round_no - 1] == 'S';
  CHECK_EQ(age, mprof_flags.stuck_report * 1000 * MS / (is_later ? 2 : 1));
  CHECK_EQ(caller->frame, 0);
  if (is_later) {
    CHECK(found > 0);
    CHECK_EQ(++later_searches, 1);
  }
  did[round_no - 1] = 'S';
  memset(g, 0, sizeof(*g));
  g->unjudged = unjudged;
  g->stuck = g->certain = is_later ? found_later : found;
  time_now += search_ms * MS;
  if (stops_in_search)
    mprof_stuck_watch_stop();
  return search_error;
}

int __wrap_mprof_write_file(const char *path, bool gzip,
                            int (*put)(struct mprof_outfile *, void *),
                            void *arg);
int __wrap_mprof_write_file(const char *path, bool gzip,
                            int (*put)(struct mprof_outfile *, void *),
                            void *arg) {
  CHECK(!gzip && put != NULL && strstr(path, ".stuck.txt") != NULL);
  reported = ((const struct mprof_stuck *)arg)->stuck;
  reports++;
  return 0;
}

// The watch waits without a timeout only after its report.
void __wrap_mprof_sys_futex_wait(atomic_uint *word, unsigned value);
void __wrap_mprof_sys_futex_wait(atomic_uint *word, unsigned value) {
  CHECK_EQ(*word, value);
  if (++waits_for_end == 3) // as if signals had ended the first two waits
    mprof_stuck_watch_stop();
}

// Runs the watch in the calling thread instead of a new one.
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*function)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*function)(void *), void *arg) {
  (void)thread, (void)attr;
  CHECK(function(arg) == arg);
  return 0;
}

// Plays the script from the start of the watch to its end. Returns did.
static const char *play(const char *what) {
  script = what;
  newest = time_now;
  round_no = reports = waits_for_end = later_searches = 0;
  mprof_watch_start();
  did[round_no] = '\0';
  return did;
}

// Returns a script that begins with the given rounds and repeats the last.
static const char *repeat_last(const char *rounds) {
  static char text[ROUNDS + 1];
  const size_t len = strlen(rounds);
  memset(text, rounds[len - 1], ROUNDS);
  memcpy(text, rounds, len);
  return text;
}

// Returns the number of the next search after the round `from`, or 0. The first
// round has number 1.
static unsigned next_search(unsigned from) {
  const char *next = strchr(did + from, 'S');
  return next ? (unsigned)(next - did) + 1 : 0;
}

// --- the tests ---

static void begin(uint64_t option, uint64_t expected_pause_ms,
                  uint64_t each_search_ms) {
  mprof_flags.stuck_report = option;
  pause_ms = expected_pause_ms;
  search_ms = each_search_ms;
  search_error = 0;
  unjudged = MPROF_JUDGED;
  found = found_later = 0;
  stops_in_search = false;
}

// The pause is an eighth of the option's time, but at most half a second.
static void pauses(void) {
  begin(0, 0, 0);
  CHECK_STR(play("..."), "");
  begin(1, 125, 0);
  CHECK_STR(play("..."), "---");
  begin(3, 375, 0);
  CHECK_STR(play("..."), "---");
  begin(4, 500, 0);
  CHECK_STR(play("..."), "---");
  begin(3600, 500, 0);
  CHECK_STR(play("..."), "---");
}

// A search of 10 ms is repeated after 2 s, which are 4 rounds.
static void new_and_judged_waits(void) {
  begin(4, 500, 10);
  CHECK_STR(play("......"), "------");
  CHECK_STR(play("..+=========="), "--S---S---S--");
  CHECK_STR(play(".+++==+======"), "-SSS--S---S--");
  CHECK_STR(play("+.=.=========="), "S---S---S---S-");
  CHECK_STR(play("+.....=....."), "S-----S-----");
  CHECK_STR(play("++<<<<<+="), "SS---S-S-");
  begin(4, 500, 20); // repeated after 4 s
  CHECK_STR(play("+=========="), "S-------S--");
}

// If a search could not examine a wait, the wait counts as new.
static void unjudged_waits(void) {
  begin(4, 500, 10);
  unjudged = MPROF_UNJUDGED_BUSY;
  CHECK_STR(play("+==.="), "SSS-S");
  unjudged = MPROF_JUDGED;
  search_error = -ENOMEM;
  CHECK_STR(play("+==.="), "SSS-S");
}

// A pool of threads waits anew in each round. Each search takes 400 ms. The
// watch may search for 1,000 ms at once and then for 1 % of the time, and may
// overdraw by two searches: after five searches and 500 ms it has overdrawn
// 955 ms, and each later round saves 5 ms.
static void shared_time(void) {
  begin(4, 500, 400);
  play(repeat_last("+"));
  CHECK(strncmp(did, "SSSSS-", 6) == 0);
  CHECK_EQ(next_search(6), 37);   // overdrawn by 800 ms
  CHECK_EQ(next_search(37), 117); // one search in 40 s
  CHECK_EQ(next_search(117), 196);
  // A long time without searches allows no more searches at once.
  char text[ROUNDS + 1];
  memset(text, '.', 990);
  strcpy(text + 990, "++++++++");
  play(text);
  CHECK_STR(did + 985, "-----SSSSS---");
  // Repeated searches do not overdraw.
  play(repeat_last("+++++="));
  CHECK_EQ(next_search(5), 197);
  // Only new waits have searches ahead of their time.
  play(repeat_last("+++="));
  CHECK_EQ(next_search(3), 163);
}

// A deadlock at locks is always followed by a search, even if no time is left
// for searches. The search may find that the threads are no longer deadlocked.
static void deadlocks(void) {
  begin(4, 500, 400);
  CHECK_STR(play("!!."), "SS-");
  CHECK_STR(play("+++++++!+"), "SSSSS--S-");
  CHECK_EQ(reports, 0);
  search_ms = 10; // waits that were searched before are not new
  CHECK_STR(play("+=!====="), "S-S---S-");
}

static void report_once(void) {
  begin(4, 500, 10);
  found = 2;
  CHECK_STR(play(".!!++"), "-S");
  CHECK_EQ(reports, 1);
  CHECK_EQ(later_searches, 1);
  CHECK_EQ(reported, 2);
  CHECK_EQ(waits_for_end, 3);
  found_later = 6;
  CHECK_STR(play("..+!+"), "--S");
  CHECK_EQ(reports, 1);
  CHECK_EQ(reported, 6);
  // A search that did not judge all threads may lack the first ones.
  unjudged = MPROF_UNJUDGED_BUSY;
  CHECK_STR(play("..+!+"), "--S");
  CHECK_EQ(reported, 2);
  unjudged = MPROF_JUDGED;
  CHECK_EQ(waits_for_end, 3);
  search_error = -ENOMEM; // the result is not complete
  CHECK_STR(play("!!"), "SS");
  CHECK_EQ(reports, 0);
  search_error = 0;
  stops_in_search = true;
  CHECK_STR(play("!!"), "S");
  CHECK_EQ(reports, 0);
  CHECK_EQ(waits_for_end, 0);
}

int main(void) {
  mprof_clock_set(clock_fn, 1000 * MS);
  pauses();
  new_and_judged_waits();
  unjudged_waits();
  shared_time();
  deadlocks();
  report_once();
  return 0;
}
