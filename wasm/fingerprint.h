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

typedef uint8_t written_fingerprint[DIGITS]; // lower-case hexadecimal, ASCII

typedef struct {
  uint8_t bytes[BYTES_SIZE];    // what the host wants folded
  written_fingerprint running;  // the fingerprint that fold_running continues
  union {                       // what the batch forms answer, in the order of their input
    written_fingerprint fingerprints[FINGERPRINTS_MOST];
    uint32_t codes[CODES_MOST];
  } results;
} exchange;

// Addresses and sizes of the exchange, read once by the host: five 32-bit words.
typedef struct {
  const void *bytes;
  uint32_t bytes_size;
  const void *running;
  const void *results;
  uint32_t results_size;
} exchange_layout;

_Static_assert(END_OF_TYPE > LAST_BYTE_OF_UTF8, "a mark must not look like text");
_Static_assert(END_OF_HISTORY > LAST_BYTE_OF_UTF8, "a mark must not look like text");
_Static_assert(END_OF_TYPE != END_OF_HISTORY, "the two marks must differ");
_Static_assert(sizeof(written_fingerprint) * 4 == sizeof(uint64_t) * 8, "a digit is four bits");
_Static_assert(sizeof(void *) == 4, "the host reads addresses as 32-bit words");
_Static_assert(sizeof(exchange_layout) == 5 * sizeof(uint32_t), "the host reads five words");
_Static_assert(offsetof(exchange, running) == BYTES_SIZE, "no padding before running");
_Static_assert(offsetof(exchange, results) % sizeof(uint32_t) == 0,
               "the host reads codes through a Uint32Array");
_Static_assert(sizeof(((exchange *)0)->results) == FINGERPRINTS_MOST * DIGITS,
               "codes must not need more room than fingerprints");
_Static_assert(sizeof(exchange) == BYTES_SIZE + DIGITS + FINGERPRINTS_MOST * DIGITS,
               "no padding anywhere");
