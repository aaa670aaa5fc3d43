// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolic differentiation on Boehm's collector. Parses formulas in x, derives
// each some times, simplifies in between, and evaluates the last derivative.
// The program frees nothing. Nearly all of its memory becomes garbage at once;
// a cache keeps one formula in twenty. Prints the sum of the values, and on
// stderr the bytes that the collector itself finds reachable at the end.
//
//   symbolic [FORMULAS]

#include <gc/gc.h>
#include <gc/gc_mark.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct expr {
  char op; // n number, x, + - * / ^ (a constant exponent), s c e l functions
  double number;
  struct expr *a, *b;
};

static struct expr *make(char op, struct expr *a, struct expr *b) {
  struct expr *e = GC_MALLOC(sizeof(*e));
  if (!e)
    abort();
  e->op = op;
  e->a = a;
  e->b = b;
  return e;
}

static struct expr *number(double value) {
  struct expr *e = make('n', NULL, NULL);
  e->number = value;
  return e;
}

static int is_number(const struct expr *e, double value) {
  return e->op == 'n' && e->number == value;
}

// --- text to expressions ---

static const char *at;

static struct expr *parse_sum(void);

static struct expr *parse_atom(void) {
  static const char *const functions[] = {"sin(", "cos(", "exp(", "log("};
  for (int i = 0; i < 4; i++)
    if (strncmp(at, functions[i], 4) == 0) {
      at += 4;
      struct expr *e = make("scel"[i], parse_sum(), NULL);
      at++; // )
      return e;
    }
  if (*at == '(') {
    at++;
    struct expr *e = parse_sum();
    at++; // )
    return e;
  }
  if (*at == 'x') {
    at++;
    return make('x', NULL, NULL);
  }
  char *end;
  struct expr *e = number(strtod(at, &end));
  if (end == at) {
    fprintf(stderr, "not a formula: %s\n", at);
    exit(1);
  }
  at = end;
  return e;
}

static struct expr *parse_power(void) {
  struct expr *e = parse_atom();
  if (*at != '^')
    return e;
  at++;
  return make('^', e, parse_atom());
}

static struct expr *parse_product(void) {
  struct expr *e = parse_power();
  while (*at == '*' || *at == '/') {
    char op = *at++;
    e = make(op, e, parse_power());
  }
  return e;
}

static struct expr *parse_sum(void) {
  struct expr *e = parse_product();
  while (*at == '+' || *at == '-') {
    char op = *at++;
    e = make(op, e, parse_product());
  }
  return e;
}

static struct expr *parse(const char *text) {
  at = text;
  return parse_sum();
}

// --- operations on expressions ---

static double eval(const struct expr *e, double x) {
  switch (e->op) {
  case 'n':
    return e->number;
  case 'x':
    return x;
  case '+':
    return eval(e->a, x) + eval(e->b, x);
  case '-':
    return eval(e->a, x) - eval(e->b, x);
  case '*':
    return eval(e->a, x) * eval(e->b, x);
  case '/':
    return eval(e->a, x) / eval(e->b, x);
  case '^':
    return pow(eval(e->a, x), e->b->number);
  case 's':
    return sin(eval(e->a, x));
  case 'c':
    return cos(eval(e->a, x));
  case 'e':
    return exp(eval(e->a, x));
  default:
    return log(eval(e->a, x));
  }
}

static struct expr *derive(struct expr *e) {
  switch (e->op) {
  case 'n':
    return number(0);
  case 'x':
    return number(1);
  case '+':
  case '-':
    return make(e->op, derive(e->a), derive(e->b));
  case '*':
    return make('+', make('*', derive(e->a), e->b),
                make('*', e->a, derive(e->b)));
  case '/':
    return make(
        '/',
        make('-', make('*', derive(e->a), e->b), make('*', e->a, derive(e->b))),
        make('^', e->b, number(2)));
  case '^':
    return make('*',
                make('*', number(e->b->number),
                     make('^', e->a, number(e->b->number - 1))),
                derive(e->a));
  case 's':
    return make('*', make('c', e->a, NULL), derive(e->a));
  case 'c':
    return make('*', make('*', number(-1), make('s', e->a, NULL)),
                derive(e->a));
  case 'e':
    return make('*', e, derive(e->a));
  default:
    return make('/', derive(e->a), e->a);
  }
}

static struct expr *simplify(struct expr *e) {
  if (!e->a)
    return e;
  struct expr *a = simplify(e->a), *b = e->b ? simplify(e->b) : NULL;
  if (a->op == 'n' && (!b || b->op == 'n')) {
    struct expr folded = *e;
    folded.a = a;
    folded.b = b;
    return number(eval(&folded, 0));
  }
  if (e->op == '*' && (is_number(a, 0) || is_number(b, 0)))
    return number(0);
  if ((e->op == '*' && is_number(a, 1)) || (e->op == '+' && is_number(a, 0)))
    return b;
  if ((e->op == '*' && is_number(b, 1)) || (e->op == '^' && is_number(b, 1)) ||
      ((e->op == '+' || e->op == '-') && is_number(b, 0)))
    return a;
  if (e->op == '/' && is_number(a, 0))
    return number(0);
  return a == e->a && b == e->b ? e : make(e->op, a, b);
}

// --- the cache, which only grows ---

struct cached {
  struct cached *next;
  char *formula;
  struct expr *derivative;
};
static struct cached *cache;

static struct expr *copy(const struct expr *e) {
  struct expr *c =
      make(e->op, e->a ? copy(e->a) : NULL, e->b ? copy(e->b) : NULL);
  c->number = e->number;
  return c;
}

static void remember(const char *formula, const struct expr *derivative) {
  struct cached *c = GC_MALLOC(sizeof(*c));
  if (!c)
    abort();
  c->formula = GC_STRDUP(formula);
  c->derivative = copy(derivative);
  c->next = cache;
  cache = c;
}

// --- the program ---

static double work(int k) {
  char formula[128];
  snprintf(formula, sizeof(formula), "sin(%d*x)*exp(x/%d)/(x^%d+%d)+log(x+%d)",
           k % 7 + 1, k % 11 + 2, k % 5 + 2, k % 13 + 1, k);
  struct expr *e = parse(formula);
  for (int i = 0; i < 4; i++)
    e = simplify(derive(e));
  if (k % 20 == 0)
    remember(formula, e);
  return eval(e, 1.25);
}

static void GC_CALLBACK add_size(void *object, size_t bytes, void *sum) {
  (void)object;
  *(size_t *)sum += bytes;
}

static void *sum_reachable(void *sum) {
  GC_enumerate_reachable_objects_inner(add_size, sum);
  return NULL;
}

int main(int argc, char **argv) {
  int formulas = argc > 1 ? atoi(argv[1]) : 6000;
  double sum = 0;
  GC_INIT();
  for (int k = 1; k <= formulas; k++)
    sum += work(k);
  printf("%d formulas, sum of the derivatives at 1.25: %.6g\n", formulas, sum);

  // The profile at exit is that of the last collection.
  GC_gcollect();
  size_t bytes = 0;
  GC_call_with_alloc_lock(sum_reachable, &bytes);
  fprintf(stderr, "%zu bytes reachable, %zu allocated, %lu collections\n",
          bytes, GC_get_total_bytes(), (unsigned long)GC_get_gc_no());
  return 0;
}
