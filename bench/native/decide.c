// Decides the histories of a file with the same C that the module is made of, compiled natively:
//   decide FILE ROUNDS
// FILE is an automaton, the count of histories and of steps (32 bits each), lengths, steps. Prints
// ns of processor time per history, and a checksum of the answers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../../wasm/fingerprint.h"

#define WARM_UP 5

void load_automaton(void);
uint32_t decide(uint32_t count);

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *take(FILE *file, size_t size) {
  void *data = malloc(size + 1);
  if (data == NULL || fread(data, 1, size, file) != size) exit(2);
  return data;
}

// As src/fingerprint/decide-histories.ts does it.
static void decide_all(const automaton *table, uint32_t count, const uint8_t *lengths,
                       const uint8_t *steps, uint8_t *outcomes, uint8_t *at) {
  memcpy(&shared.automaton, table, sizeof *table);
  load_automaton();
  uint32_t from = 0;
  while (from < count) {
    uint32_t size = 0, end = from;
    while (end < count && end - from < HISTORIES_MOST) {
      const uint32_t more = lengths[end] * STEP_BYTES;
      if (size + more > BYTES_SIZE) break;
      size += more;
      end += 1;
    }
    memcpy(shared.bytes, steps, size);
    memcpy(shared.lengths, lengths + from, end - from);
    decide(end - from);
    memcpy(outcomes + from, shared.results.decisions.outcomes, end - from);
    memcpy(at + from, shared.results.decisions.at, end - from);
    steps += size;
    from = end;
  }
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  FILE *file = fopen(argv[1], "rb");
  const int rounds = atoi(argv[2]);
  if (file == NULL || rounds < 1) return 2;
  const automaton *table = take(file, sizeof *table);
  const uint32_t *counts = take(file, 2 * sizeof *counts);
  const uint8_t *lengths = take(file, counts[0]);
  const uint8_t *steps = take(file, (size_t)counts[1] * STEP_BYTES);
  uint8_t *answers = calloc(2, counts[0]);
  if (answers == NULL) return 2;
  double from = 0;
  for (int round = -WARM_UP; round < rounds; round++) {
    if (round == 0) from = now();
    decide_all(table, counts[0], lengths, steps, answers, answers + counts[0]);
  }
  const double ns = (now() - from) / counts[0] / rounds;
  uint32_t checksum = 0x811c9dc5u;
  for (uint32_t i = 0; i < 2 * counts[0]; i++) checksum = (checksum ^ answers[i]) * 0x01000193u;
  printf("%.3f %u\n", ns, checksum);
  return 0;
}
