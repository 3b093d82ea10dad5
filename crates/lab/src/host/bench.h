/* Interface between the bench and one implementation. An adapter defines one `struct bench_impl` named BENCH_IMPL (a macro
   the build sets per implementation); every other symbol of the implementation is made local before linking, so
   implementations may share names. */
#ifndef SANTOKU_BENCH_H
#define SANTOKU_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct bench_op {
  const char *name;
  void (*run)(void);     /* one operation; deterministic, so that its result can be compared */
  size_t bytes;          /* bytes processed by one run, for cycles per byte; 0: not a bulk operation */
  const uint8_t *result; /* what `run` leaves; equal for all implementations of the same operation */
  size_t result_len;
};

struct bench_impl {
  int (*setup)(void); /* prepares keys and buffers and checks refusals; not 0: the implementation is not timed */
  const struct bench_op *ops;
  size_t nops;
};

/* Same input for all: 64 bytes of key or seed, and the message. */
extern const uint8_t bench_key[64];
extern const uint8_t bench_msg[];
extern const size_t bench_msg_len;

#endif
