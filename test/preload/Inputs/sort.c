#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *lines[20000];
static int count;

static void add(int i) {
  char text[64];
  memset(text, 'a' + i % 26, 40);
  text[40] = '\0';
  lines[count++] = strdup(text);
}

static void *fill(void *unused) {
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&lock);
    for (int k = 0; k < 100; k++)
      add(i + k);
    usleep(200); /* the other thread waits meanwhile */
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, fill, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
