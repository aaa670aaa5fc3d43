// A program that uses two libraries, whose paths are A and B. It is linked with
// them, or opens them if compiled with -DOPEN.
#include <stdlib.h>

#ifdef OPEN
#include <dlfcn.h>
static void *a, *b;
static void *find(void *library, const char *name) {
  void *f = library ? dlsym(library, name) : NULL;
  if (!f)
    exit(3);
  return f;
}
#define leak_a ((void (*)(void))find(a, "leak_a"))
#define leak_b ((void (*)(void))find(b, "leak_b"))
#define make_a ((void *(*)(void))find(a, "make_a"))
#define drop_b ((void (*)(void *))find(b, "drop_b"))
#else
void leak_a(void);
void leak_b(void);
void *make_a(void);
void drop_b(void *p);
#endif

static void *volatile sink;

__attribute__((noinline)) void own(void) {
  for (int i = 0; i < 10; i++)
    sink = malloc(100);
}

// Blocks that one library allocates and the other frees.
__attribute__((noinline)) void cross(void) {
  for (int i = 0; i < 15; i++)
    drop_b(make_a());
}

int main(void) {
#ifdef OPEN
  a = dlopen(A, RTLD_NOW | RTLD_LOCAL);
  b = dlopen(B, RTLD_NOW | RTLD_LOCAL);
#endif
  own();
  leak_a();
  leak_b();
  cross();
  return 0;
}
