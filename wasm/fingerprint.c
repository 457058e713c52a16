// FNV-1a over event types (http://www.isthe.com/chongo/tech/comp/fnv/): 64 bits for the
// fingerprint of a history, 32 bits for the code of a type. Freestanding: no libc, no heap, no
// state but the exchange. Every length is checked; a host that breaks the rules gets a trap.
#include "fingerprint.h"

static const uint64_t OFFSET_64 = 0xcbf29ce484222325u;
static const uint64_t PRIME_64 = 0x100000001b3u;
static const uint32_t OFFSET_32 = 0x811c9dc5u;
static const uint32_t PRIME_32 = 0x01000193u;

exchange shared;

static const exchange_layout shared_layout = {
    .bytes = shared.bytes,
    .bytes_size = sizeof shared.bytes,
    .running = shared.running,
    .results = &shared.results,
    .results_size = sizeof shared.results,
    .automaton = &shared.automaton,
    .lengths = shared.lengths,
    .lengths_size = sizeof shared.lengths,
};

EXPORT(layout) const exchange_layout *layout(void) { return &shared_layout; }

static inline uint64_t fold_byte_64(uint64_t hash, uint8_t byte) {
  return (hash ^ byte) * PRIME_64;
}

static inline uint32_t fold_byte_32(uint32_t hash, uint8_t byte) {
  return (hash ^ byte) * PRIME_32;
}

// Without branches on the digits: they are as good as random, so a processor cannot predict them.
static _Bool read_fingerprint(const written_fingerprint from, uint64_t *hash) {
  uint64_t value = 0;
  uint32_t valid = 1;
  for (uint32_t i = 0; i < DIGITS; i++) {
    const uint32_t digit = from[i];
    valid &= (uint32_t)(digit - '0' < 10u) | (uint32_t)(digit - 'a' < 6u);
    value = value << 4 | ((digit & 15) + 9 * (digit >> 6));
  }
  *hash = value;
  return valid;
}

static void write_fingerprint(uint64_t hash, written_fingerprint to) {
  static const char digits[DIGITS] = {'0', '1', '2', '3', '4', '5', '6', '7',
                                      '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  for (uint32_t i = 0; i < DIGITS; i++) to[i] = (uint8_t)digits[hash >> (60 - 4 * i) & 15];
}

// Folds `length` raw bytes onto `hash`. In any cut: fold(fold(h, a), b) = fold(h, ab).
EXPORT(fold_64) uint64_t fold_64(uint64_t hash, uint32_t length) {
  require(length <= sizeof shared.bytes);
  for (uint32_t i = 0; i < length; i++) hash = fold_byte_64(hash, shared.bytes[i]);
  return hash;
}

// The same in 32 bits.
EXPORT(fold_32) uint32_t fold_32(uint32_t hash, uint32_t length) {
  require(length <= sizeof shared.bytes);
  for (uint32_t i = 0; i < length; i++) hash = fold_byte_32(hash, shared.bytes[i]);
  return hash;
}

// fold_64 on the written fingerprint in `running`, which is replaced. Answers 0 and changes
// nothing if `running` is not 16 lower-case hexadecimal digits, else 1.
EXPORT(fold_running) uint32_t fold_running(uint32_t length) {
  uint64_t hash;
  if (!read_fingerprint(shared.running, &hash)) return 0;
  write_fingerprint(fold_64(hash, length), shared.running);
  return 1;
}

// Reads `length` bytes of a stream of histories. Each END_OF_HISTORY writes the next fingerprint
// of `results`, from the first place on. `hash` is the fingerprint so far of the history that the
// bytes go on with, and so is the answer: a stream can be cut anywhere.
EXPORT(fingerprint_histories) uint64_t fingerprint_histories(uint64_t hash, uint32_t length) {
  require(length <= sizeof shared.bytes);
  uint32_t ended = 0;
  for (uint32_t i = 0; i < length; i++) {
    const uint8_t byte = shared.bytes[i];
    if (byte != END_OF_HISTORY) {
      hash = fold_byte_64(hash, byte);
      continue;
    }
    require(ended < FINGERPRINTS_MOST);
    write_fingerprint(hash, shared.results.fingerprints[ended]);
    ended += 1;
    hash = OFFSET_64;
  }
  return hash;
}

// The same for a stream of types: each END_OF_TYPE writes the next code. The mark itself is not
// part of a code.
EXPORT(code_types) uint32_t code_types(uint32_t hash, uint32_t length) {
  require(length <= sizeof shared.bytes);
  uint32_t ended = 0;
  for (uint32_t i = 0; i < length; i++) {
    const uint8_t byte = shared.bytes[i];
    if (byte != END_OF_TYPE) {
      hash = fold_byte_32(hash, byte);
      continue;
    }
    require(ended < CODES_MOST);
    shared.results.codes[ended] = hash;
    ended += 1;
    hash = OFFSET_32;
  }
  return hash;
}
