// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache server in small, with the locks of memcached: each worker thread has
// one connection and waits for requests by poll. A request takes the lock of
// the worker's counters, a lock of the hash table and the lock of the list of
// least recently used items. After each batch, the worker gives a record to a
// logger thread by a queue with a condition variable. The main thread is the
// client. It sends the same requests in each run.
//
// usage: server WORKERS BATCHES

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  MOST_WORKERS = 16,
  STRIPES = 64,
  LISTS = 4096,
  KEYS = 2000,
  ITEMS = 1500, // more items than this are dropped
  REQUESTS = 64 // of a batch
};

struct item {
  struct item *next;          // guarded by the lock of the list's stripe
  struct item *newer, *older; // guarded by lru.lock
  size_t length;
  char *value;
  char key[16];
};

static struct item *lists[LISTS]; // list i is guarded by stripes[i % STRIPES]
static pthread_mutex_t stripes[STRIPES];
static struct {
  pthread_mutex_t lock;
  struct item newest; // head of a ring
  long items;
} lru = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct worker {
  pthread_t id;
  int server, client; // the two ends of the connection
  unsigned random;    // of the client
  pthread_mutex_t lock;
  long gets, hits, sets; // guarded by lock
};
static struct worker workers[MOST_WORKERS];

static struct {
  pthread_mutex_t lock;
  pthread_cond_t filled;
  long batches, bytes; // guarded by lock
  int is_over;         // guarded by lock
} journal = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};

static void check(int is_as_it_should_be) {
  if (is_as_it_should_be)
    return;
  perror("server");
  exit(1);
}

// --- the cache ---

static unsigned hash(const char *key) {
  unsigned h = 2166136261u;
  while (*key)
    h = (h ^ (unsigned char)*key++) * 16777619u;
  return h % LISTS;
}

static void unlink_item(struct item *i) {
  i->newer->older = i->older;
  i->older->newer = i->newer;
}

static void link_newest(struct item *i) {
  i->newer = &lru.newest;
  i->older = lru.newest.older;
  i->older->newer = i;
  lru.newest.older = i;
}

static struct item **find(unsigned list, const char *key) {
  struct item **at = &lists[list];
  while (*at != NULL && strcmp((*at)->key, key) != 0)
    at = &(*at)->next;
  return at;
}

// Drops the oldest item if its stripe is free.
static void drop_oldest(void) {
  pthread_mutex_lock(&lru.lock);
  struct item *i = lru.items > ITEMS ? lru.newest.newer : NULL;
  unsigned list = i != NULL ? hash(i->key) : 0;
  if (i != NULL && pthread_mutex_trylock(&stripes[list % STRIPES]) == 0) {
    *find(list, i->key) = i->next;
    unlink_item(i);
    lru.items--;
    pthread_mutex_unlock(&stripes[list % STRIPES]);
    free(i->value);
    free(i);
  }
  pthread_mutex_unlock(&lru.lock);
}

static void set(const char *key, const char *value, size_t length) {
  unsigned list = hash(key);
  char *copy = malloc(length + 1);
  check(copy != NULL);
  memcpy(copy, value, length);
  copy[length] = 0;
  pthread_mutex_lock(&stripes[list % STRIPES]);
  struct item **at = find(list, key), *i = *at;
  if (i == NULL) {
    i = *at = malloc(sizeof(*i));
    check(i != NULL);
    i->next = NULL;
    i->value = NULL;
    snprintf(i->key, sizeof(i->key), "%s", key);
    pthread_mutex_lock(&lru.lock);
    link_newest(i);
    lru.items++;
    pthread_mutex_unlock(&lru.lock);
  }
  char *old = i->value;
  i->value = copy;
  i->length = length;
  pthread_mutex_unlock(&stripes[list % STRIPES]);
  free(old);
  drop_oldest();
}

// Appends the item to the answer. Returns its length, 0 if there is no item.
static size_t get(const char *key, char *answer) {
  unsigned list = hash(key);
  size_t length = 0;
  pthread_mutex_lock(&stripes[list % STRIPES]);
  struct item *i = *find(list, key);
  if (i != NULL) {
    length = (size_t)sprintf(answer, "VALUE %s 0 %zu\r\n", key, i->length);
    memcpy(answer + length, i->value, i->length);
    length += i->length;
    answer[length++] = '\r';
    answer[length++] = '\n';
    pthread_mutex_lock(&lru.lock);
    unlink_item(i);
    link_newest(i);
    pthread_mutex_unlock(&lru.lock);
  }
  pthread_mutex_unlock(&stripes[list % STRIPES]);
  return length;
}

// --- the worker ---

// libc's strtok_r takes more instructions if a vector load of the delimiters
// would cross a page. Their alignment keeps this equal in all variants.
static _Alignas(64) const char between_words[64] = " ";
static _Alignas(64) const char between_lines[64] = "\r\n";

static size_t answer_one(struct worker *w, char *line, char *answer) {
  char *rest = NULL;
  char *word = strtok_r(line, between_words, &rest),
       *key = strtok_r(NULL, between_words, &rest);
  size_t length = 0;
  check(word != NULL && key != NULL);
  if (strcmp(word, "get") == 0) {
    length = get(key, answer);
    pthread_mutex_lock(&w->lock);
    w->gets++;
    w->hits += length > 0;
    pthread_mutex_unlock(&w->lock);
    return length + (size_t)sprintf(answer + length, "END\r\n");
  }
  set(key, rest, strlen(rest));
  pthread_mutex_lock(&w->lock);
  w->sets++;
  pthread_mutex_unlock(&w->lock);
  return (size_t)sprintf(answer, "STORED\r\n");
}

static void answer_batch(struct worker *w, char *text) {
  static __thread char answer[1 << 16];
  size_t length = 0;
  char *rest = NULL;
  for (char *line = strtok_r(text, between_lines, &rest); line != NULL;
       line = strtok_r(NULL, between_lines, &rest))
    length += answer_one(w, line, answer + length);
  pthread_mutex_lock(&journal.lock);
  journal.batches++;
  journal.bytes += (long)length;
  pthread_cond_signal(&journal.filled);
  pthread_mutex_unlock(&journal.lock);
  answer[length++] = 0; // the end of the batch
  check(write(w->server, answer, length) == (ssize_t)length);
}

static void *work(void *p) {
  static __thread char text[1 << 16];
  struct worker *w = p;
  for (;;) {
    struct pollfd fd = {w->server, POLLIN, 0};
    check(poll(&fd, 1, -1) == 1);
    ssize_t n = read(w->server, text, sizeof(text) - 1);
    if (n <= 0)
      return NULL;
    text[n] = 0;
    answer_batch(w, text);
  }
}

static void *keep_journal(void *p) {
  long seen = 0;
  pthread_mutex_lock(&journal.lock);
  while (!journal.is_over) {
    while (seen == journal.batches && !journal.is_over)
      pthread_cond_wait(&journal.filled, &journal.lock);
    seen = journal.batches;
  }
  pthread_mutex_unlock(&journal.lock);
  return p;
}

// --- the client ---

static unsigned next_random(unsigned *x) {
  *x ^= *x << 13;
  *x ^= *x >> 17;
  *x ^= *x << 5;
  return *x;
}

static void send_batch(struct worker *w) {
  static char text[1 << 16];
  size_t length = 0;
  for (int i = 0; i < REQUESTS; i++) {
    unsigned key = next_random(&w->random) % KEYS;
    if (next_random(&w->random) % 10 != 0) {
      length += (size_t)sprintf(text + length, "get key:%u\r\n", key);
    } else {
      length += (size_t)sprintf(text + length, "set key:%u ", key);
      unsigned n = 20 + next_random(&w->random) % 200;
      memset(text + length, 'v', n);
      length += n;
      length += (size_t)sprintf(text + length, "\r\n");
    }
  }
  check(write(w->client, text, length) == (ssize_t)length);
}

static void receive_batch(struct worker *w) {
  static char text[1 << 16];
  ssize_t n;
  do {
    n = read(w->client, text, sizeof(text));
    check(n > 0);
  } while (text[n - 1] != 0);
}

static void start(struct worker *w, unsigned random) {
  int ends[2];
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  w->server = ends[0];
  w->client = ends[1];
  w->random = random;
  pthread_mutex_init(&w->lock, NULL);
  check(pthread_create(&w->id, NULL, work, w) == 0);
}

int main(int argc, char **argv) {
  int count = argc == 3 ? atoi(argv[1]) : 0;
  long batches = argc == 3 ? atol(argv[2]) : 0;
  if (count < 1 || count > MOST_WORKERS)
    return 2;
  lru.newest.newer = lru.newest.older = &lru.newest;
  for (int i = 0; i < STRIPES; i++)
    pthread_mutex_init(&stripes[i], NULL);
  pthread_t logger;
  check(pthread_create(&logger, NULL, keep_journal, NULL) == 0);
  for (int i = 0; i < count; i++)
    start(&workers[i], 2463534242u + (unsigned)i);
  for (long k = 0; k < batches; k++) {
    for (int i = 0; i < count; i++)
      send_batch(&workers[i]);
    for (int i = 0; i < count; i++)
      receive_batch(&workers[i]);
  }
  for (int i = 0; i < count; i++) {
    close(workers[i].client);
    pthread_join(workers[i].id, NULL);
  }
  pthread_mutex_lock(&journal.lock);
  journal.is_over = 1;
  pthread_cond_signal(&journal.filled);
  pthread_mutex_unlock(&journal.lock);
  pthread_join(logger, NULL);
  printf("batches %ld\n", journal.batches);
  return 0;
}
