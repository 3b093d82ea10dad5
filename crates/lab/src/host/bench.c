/* Times several implementations in one run. Sample i of every (implementation, operation) pair is taken before sample
   i + 1 of any, so that drift of the machine meets all alike; the starting pair rotates. A sample is a short batch, so
   that most samples see no interrupt. Before and after each stands a probe that wants every issue slot of the core: a
   neighbour on the same core shows there, and the reader of the samples keeps those without one.
   Prints one JSON object a line: machine, result (hex, for comparison), samples. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>
#include "bench.h"
#include "bench_config.h"

/* On a busy machine, rounds go on up to here while some slot has fewer than QUIET undisturbed samples. */
#define MAX_ROUNDS (8 * ROUNDS)
#define QUIET 50

/* Operations of more instructions than this are not counted: each takes microseconds. */
#define COUNTED_MOST 300000
#define TRAP_FLAG 0x100

/* Implementations times operations. */
#define SLOTS 256

struct slot {
  const char *impl;
  const struct bench_op *op;
  size_t reps;
  uint64_t *samples;
  uint64_t *probes; /* the slower of the two around each sample */
  uint64_t instructions; /* of one operation; 0: not counted */
};

static uint64_t tick(void)
{
  unsigned aux;
  _mm_lfence();
  uint64_t t = __rdtscp(&aux);
  _mm_lfence();
  return t;
}

/* What another implementation left in the upper halves of vector registers makes each SSE instruction wait for it. */
static void clean(void)
{
  if (__builtin_cpu_supports("avx")) __asm__ volatile("vzeroupper");
}

static uint64_t batch(const struct bench_op *op, size_t reps)
{
  clean();
  uint64_t t = tick();
  for (size_t i = 0; i < reps; i++) op->run();
  return tick() - t;
}

/* TSC ticks of 12000 additions, six independent chains of them. */
static uint64_t probe(void)
{
  uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, t = tick();
  for (int i = 0; i < 1000; i++)
    __asm__ volatile("add $1,%0\n\tadd $1,%1\n\tadd $1,%2\n\tadd $1,%3\n\tadd $1,%4\n\tadd $1,%5\n\t"
                     "add $1,%0\n\tadd $1,%1\n\tadd $1,%2\n\tadd $1,%3\n\tadd $1,%4\n\tadd $1,%5"
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
  return tick() - t;
}

/* TSC ticks of 3000 dependent 3-cycle multiplications: 9000 core cycles. */
static uint64_t imul_chain(void)
{
  uint64_t x = 3, t = tick();
  for (int i = 0; i < 300; i++)
    __asm__ volatile("imul %0,%0\n\timul %0,%0\n\timul %0,%0\n\timul %0,%0\n\timul %0,%0\n\t"
                     "imul %0,%0\n\timul %0,%0\n\timul %0,%0\n\timul %0,%0\n\timul %0,%0" : "+r"(x));
  return tick() - t;
}

static double tsc_hz(void)
{
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  uint64_t t = tick();
  do clock_gettime(CLOCK_MONOTONIC, &b);
  while ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec) < 5e7);
  return (double)(tick() - t) / ((b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) * 1e-9);
}

/* Pins to the highest processor this process may use; -1 when that is refused. */
static int pin(void)
{
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof all, &all)) return -1;
  for (int c = CPU_SETSIZE - 1; c >= 0; c--) {
    if (!CPU_ISSET(c, &all)) continue;
    CPU_ZERO(&one);
    CPU_SET(c, &one);
    return sched_setaffinity(0, sizeof one, &one) ? -1 : c;
  }
  return -1;
}

static volatile uint64_t traps;
static volatile int counting;

/* After every instruction while the trap flag is set. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
  ucontext_t *c = context;
  (void)signal, (void)info;
  if (++traps > COUNTED_MOST || !counting) c->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void nothing(void)
{
}

/* Traps from before a call until after it; the processor's own single step, so every instruction counts once. */
static uint64_t trapped(void (*run)(void))
{
  traps = 0;
  counting = 1;
  __asm__ volatile("pushfq\n\torq %0,(%%rsp)\n\tpopfq" : : "i"(TRAP_FLAG) : "memory", "cc");
  run();
  counting = 0;
  return traps;
}

static uint64_t fastest(const struct bench_op *op)
{
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 5; i++) {
    uint64_t t = batch(op, 1);
    if (t < best) best = t;
  }
  return best;
}

static uint64_t instructions(const struct bench_op *op)
{
  struct sigaction act, old;
  memset(&act, 0, sizeof act);
  act.sa_sigaction = on_trap;
  act.sa_flags = SA_SIGINFO;
  /* What takes this long has more than that. */
  if (fastest(op) > COUNTED_MOST / 2 || sigaction(SIGTRAP, &act, &old)) return 0;
  uint64_t none = trapped(nothing), all = trapped(op->run);
  sigaction(SIGTRAP, &old, 0);
  return all > COUNTED_MOST || all < none ? 0 : all - none;
}

/* Counts the instructions of all operations, each processor a part of them: a trap takes microseconds, and counts do not depend on who else
   runs. Nothing may be printed but not yet written when this is called: the copies of this process would write it again. */
static int count_all(struct slot *slots, size_t n)
{
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  size_t parts = processors < 1 ? 1 : (size_t)processors;
  uint64_t *counts = mmap(0, SLOTS * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (counts == MAP_FAILED || fflush(stdout)) return -1;
  for (size_t part = 0; part < parts; part++) {
    pid_t child = fork();
    if (child < 0) return -1;
    if (child > 0) continue;
    for (size_t k = part; k < n; k += parts) counts[k] = instructions(slots[k].op);
    _exit(0);
  }
  for (size_t part = 0; part < parts; part++) {
    int status;
    if (wait(&status) < 0 || status) return -1;
  }
  for (size_t k = 0; k < n; k++) slots[k].instructions = counts[k];
  munmap(counts, SLOTS * sizeof *counts);
  return 0;
}

static size_t choose_reps(const struct bench_op *op, double hz)
{
  uint64_t best = fastest(op), target = (uint64_t)(hz * BATCH_MICROSECONDS * 1e-6);
  return best == 0 ? target : best >= target ? 1 : target / best;
}

static int by_value(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Whether every slot has enough samples beside undisturbed probes; what that is, `parse.rs` says again of the whole run. */
static int enough(const struct slot *slots, size_t n, size_t rounds)
{
  uint64_t *all = malloc(n * rounds * sizeof *all);
  if (!all) {
    fputs("out of memory\n", stderr);
    exit(4);
  }
  for (size_t k = 0; k < n; k++) memcpy(all + k * rounds, slots[k].probes, rounds * sizeof *all);
  qsort(all, n * rounds, sizeof *all, by_value);
  uint64_t limit = all[n * rounds / 20] * 105 / 100;
  free(all);
  for (size_t k = 0; k < n; k++) {
    size_t quiet = 0;
    for (size_t r = 0; r < rounds; r++) quiet += slots[k].probes[r] <= limit;
    if (quiet < QUIET) return 0;
  }
  return 1;
}

static void print_list(const char *name, const uint64_t *s, size_t n)
{
  printf(",\"%s\":[", name);
  for (size_t i = 0; i < n; i++) printf("%s%llu", i ? "," : "", (unsigned long long)s[i]);
  printf("]");
}

static void print_result(const struct slot *s)
{
  printf("{\"kind\":\"result\",\"implementation\":\"%s\",\"op\":\"%s\",\"hex\":\"", s->impl, s->op->name);
  for (size_t i = 0; i < s->op->result_len; i++) printf("%02x", s->op->result[i]);
  printf("\"}\n");
}

int main(void)
{
  static struct slot slots[SLOTS];
  static uint64_t chain[MAX_ROUNDS];
  size_t n = 0, rounds = 0;

  for (size_t i = 0; i < bench_nimpls; i++) {
    int rc = bench_impls[i].impl->setup();
    if (rc) {
      printf("{\"kind\":\"refused\",\"implementation\":\"%s\",\"code\":%d}\n", bench_impls[i].name, rc);
      return 3;
    }
    for (size_t j = 0; j < bench_impls[i].impl->nops; j++) {
      struct slot s = {bench_impls[i].name, &bench_impls[i].impl->ops[j], 0, calloc(MAX_ROUNDS, sizeof(uint64_t)),
                       calloc(MAX_ROUNDS, sizeof(uint64_t)), 0};
      if (n == SLOTS || !s.samples || !s.probes) return 4;
      s.op->run();
      print_result(&s);
      slots[n++] = s;
    }
  }
  if (COUNT_INSTRUCTIONS && count_all(slots, n)) return 4;

  int cpu = pin();
  double hz = tsc_hz();
  for (size_t k = 0; k < n; k++) slots[k].reps = choose_reps(slots[k].op, hz);
  for (; rounds < MAX_ROUNDS && (rounds < ROUNDS || rounds % 50 || !enough(slots, n, rounds)); rounds++) {
    size_t r = rounds;
    chain[r] = imul_chain();
    for (size_t k = 0; k < n; k++) {
      struct slot *s = &slots[(k + r) % n];
      s->op->run(); /* not timed: brings this implementation back into the caches */
      uint64_t before = probe();
      s->samples[r] = batch(s->op, s->reps);
      uint64_t after = probe();
      s->probes[r] = before > after ? before : after;
    }
  }

  printf("{\"kind\":\"machine\",\"tsc_hz\":%.0f,\"pinned_cpu\":%d,\"chain_core_cycles\":9000", hz, cpu);
  print_list("chain_tsc", chain, rounds);
  printf("}\n");
  for (size_t k = 0; k < n; k++) {
    printf("{\"kind\":\"samples\",\"implementation\":\"%s\",\"op\":\"%s\",\"bytes\":%zu,\"reps\":%zu,\"instructions\":%llu", slots[k].impl,
           slots[k].op->name, slots[k].op->bytes, slots[k].reps, (unsigned long long)slots[k].instructions);
    print_list("tsc", slots[k].samples, rounds);
    print_list("probe", slots[k].probes, rounds);
    printf("}\n");
  }
  return 0;
}
