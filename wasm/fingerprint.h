// What the host and the module share: one block of fixed memory and the marks inside it.
#pragma once

#include <stddef.h>
#include <stdint.h>

// A packed stream is UTF-8 cut up by two bytes that never occur in UTF-8: every event type is
// followed by END_OF_TYPE, and in a stream of histories every history by END_OF_HISTORY.
#define END_OF_TYPE 0xFF
#define END_OF_HISTORY 0xFE
#define LAST_BYTE_OF_UTF8 0xF4

#define DIGITS 16
#define BYTES_SIZE 65536
#define FINGERPRINTS_MOST 2048
#define CODES_MOST 8192

// A packed step: a flag, 0 for an event and 1 for what the system did, then the code of its type,
// big endian. Packed histories stand back to back in `bytes`, their numbers of steps in `lengths`.
#define STEP_BYTES 5
#define HISTORIES_MOST 4096

// What decides histories. A step's symbol is the place of its (flag, code) among the names, or else
// one of the two symbols behind them: events first, then what the system did. States below
// FINAL_STATES are never left.
#define NAMES_MOST 64
#define SYMBOLS_MOST (NAMES_MOST + 2)
#define FINAL_STATES 3
#define STATES_MOST (FINAL_STATES + NAMES_MOST + 1)

typedef struct {
  uint32_t names;
  uint32_t states;
  uint32_t start;
  uint32_t codes[NAMES_MOST];
  uint8_t flags[NAMES_MOST];
  uint8_t outcomes[STATES_MOST];             // what is answered for a history that ends there
  uint8_t next[STATES_MOST * SYMBOLS_MOST];  // rows of names + 2, a state each
} automaton;

typedef uint8_t written_fingerprint[DIGITS]; // lower-case hexadecimal, ASCII

typedef struct {
  uint8_t bytes[BYTES_SIZE];    // what the host wants folded
  written_fingerprint running;  // the fingerprint that fold_running continues
  union {                       // what the batch forms answer, in the order of their input
    written_fingerprint fingerprints[FINGERPRINTS_MOST];
    uint32_t codes[CODES_MOST];
    struct {
      uint8_t outcomes[HISTORIES_MOST];
      uint8_t at[HISTORIES_MOST];  // steps read when it was decided, or all of them
    } decisions;
  } results;
  automaton automaton;              // what load_automaton takes
  uint8_t lengths[HISTORIES_MOST];  // steps of each history that decide reads
} exchange;

// Addresses and sizes of the exchange, read once by the host: eight 32-bit words.
typedef struct {
  const void *bytes;
  uint32_t bytes_size;
  const void *running;
  const void *results;
  uint32_t results_size;
  const void *automaton;
  const void *lengths;
  uint32_t lengths_size;
} exchange_layout;

extern exchange shared;

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name)))
#else
#define EXPORT(name)
#endif

static inline void require(_Bool holds) {
  if (!holds) __builtin_trap();
}

_Static_assert(END_OF_TYPE > LAST_BYTE_OF_UTF8, "a mark must not look like text");
_Static_assert(END_OF_HISTORY > LAST_BYTE_OF_UTF8, "a mark must not look like text");
_Static_assert(END_OF_TYPE != END_OF_HISTORY, "the two marks must differ");
_Static_assert(sizeof(written_fingerprint) * 4 == sizeof(uint64_t) * 8, "a digit is four bits");
#ifdef __wasm__
_Static_assert(sizeof(void *) == 4, "the host reads addresses as 32-bit words");
_Static_assert(sizeof(exchange_layout) == 8 * sizeof(uint32_t), "the host reads eight words");
#endif
_Static_assert(offsetof(exchange, running) == BYTES_SIZE, "no padding before running");
_Static_assert(offsetof(exchange, results) % sizeof(uint32_t) == 0,
               "the host reads codes through a Uint32Array");
_Static_assert(sizeof(((exchange *)0)->results) == FINGERPRINTS_MOST * DIGITS,
               "codes must not need more room than fingerprints");
_Static_assert(sizeof(((exchange *)0)->results) >= 2 * HISTORIES_MOST,
               "decisions must not need more room than fingerprints");
_Static_assert(sizeof(automaton) == 12 + 5 * NAMES_MOST + STATES_MOST + STATES_MOST * SYMBOLS_MOST,
               "no padding in an automaton");
_Static_assert(sizeof(exchange) == BYTES_SIZE + DIGITS + FINGERPRINTS_MOST * DIGITS +
                                       sizeof(automaton) + HISTORIES_MOST,
               "no padding anywhere");
_Static_assert(STATES_MOST <= UINT8_MAX, "a state is a byte");
