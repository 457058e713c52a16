// Decides packed histories by a table automaton. The host writes the automaton into the exchange
// and has it loaded, which checks every number of it: decide follows the loaded tables blindly.
#include "fingerprint.h"

#define SLOT_BITS 10
#define SLOTS (1 << SLOT_BITS)
#define MULTIPLIERS_TRIED 65536

// A step is its five bytes as one number, the flag lowest.
#define KEY_MASK 0xffffffffffu
#define NO_KEY UINT64_MAX

// Steps are found without a search: load_automaton looks for a multiplier that gives every name a
// slot of its own.
static struct {
  uint64_t keys[SLOTS];
  uint64_t multiplier;
  uint16_t columns[SLOTS];  // where a name's column of `next` begins
  uint16_t others[2];       // the same for steps without a name, by flag
  uint8_t next[SYMBOLS_MOST * STATES_MOST];  // by symbol, then state
  uint8_t outcomes[STATES_MOST];
  uint8_t start;
  _Bool ready;
} loaded;

_Static_assert(offsetof(exchange, bytes) == 0, "a step is read by the start of the exchange");
_Static_assert(sizeof(exchange) >= BYTES_SIZE + sizeof(uint64_t) - STEP_BYTES,
               "the last step is read with the bytes behind it");
_Static_assert(SYMBOLS_MOST * STATES_MOST <= UINT16_MAX, "a column is found by 16 bits");

static inline uint64_t key_of(uint32_t flag, uint32_t code) {
  return flag | (uint64_t)__builtin_bswap32(code) << 8;
}

static inline uint64_t read_key(uint32_t offset) {
  uint64_t key;
  __builtin_memcpy(&key, (const uint8_t *)&shared + offset, sizeof key);
  return key & KEY_MASK;
}

static inline uint32_t slot_of(uint64_t key, uint64_t multiplier) {
  return (uint32_t)(key * multiplier >> (64 - SLOT_BITS));
}

// Whether every name got a slot of its own.
static _Bool place_names(const automaton *from, uint64_t multiplier) {
  for (uint32_t i = 0; i < SLOTS; i++) loaded.keys[i] = NO_KEY;
  for (uint32_t i = 0; i < from->names; i++) {
    const uint64_t key = key_of(from->flags[i], from->codes[i]);
    const uint32_t slot = slot_of(key, multiplier);
    if (loaded.keys[slot] != NO_KEY) return 0;
    loaded.keys[slot] = key;
    loaded.columns[slot] = (uint16_t)(i * STATES_MOST);
  }
  return 1;
}

// Takes the automaton in the exchange. Traps if any number of it is out of its range, or if two
// names are one.
EXPORT(load_automaton) void load_automaton(void) {
  // To the compiler a trap is the end, after which nobody reads; a host may go on.
  *(volatile _Bool *)&loaded.ready = 0;
  const automaton *from = &shared.automaton;
  const uint32_t names = from->names;
  const uint32_t states = from->states;
  require(names <= NAMES_MOST);
  require(states >= FINAL_STATES && states <= STATES_MOST);
  require(from->start < states);
  for (uint32_t i = 0; i < names; i++) require(from->flags[i] <= 1);

  for (uint32_t state = 0; state < states; state++) {
    for (uint32_t symbol = 0; symbol < names + 2; symbol++) {
      const uint8_t next = from->next[state * (names + 2) + symbol];
      require(next < states);
      loaded.next[symbol * STATES_MOST + state] = next;
    }
    loaded.outcomes[state] = from->outcomes[state];
  }
  uint64_t multiplier = 0x9e3779b97f4a7c15u;
  for (uint32_t tried = 0; !place_names(from, multiplier); tried++) {
    require(tried < MULTIPLIERS_TRIED);
    multiplier = multiplier * 0xd1342543de82ef95u + 2;
  }
  loaded.multiplier = multiplier;
  loaded.others[0] = (uint16_t)(names * STATES_MOST);
  loaded.others[1] = (uint16_t)((names + 1) * STATES_MOST);
  loaded.start = (uint8_t)from->start;
  loaded.ready = 1;
}

// Decides the first `count` histories in `bytes` by the automaton that was loaded last: an outcome
// and a number of steps each. Answers how many bytes they take.
EXPORT(decide) uint32_t decide(uint32_t count) {
  require(loaded.ready && count <= HISTORIES_MOST);
  const uint64_t multiplier = loaded.multiplier;
  uint32_t offset = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t size = shared.lengths[i] * STEP_BYTES;
    require(size <= BYTES_SIZE - offset);
    const uint32_t end = offset + size;
    uint32_t step = offset;
    uint32_t state = loaded.start;
    uint64_t read = 0;
    while (step < end && state >= FINAL_STATES) {
      const uint64_t key = read_key(step);
      const uint32_t slot = slot_of(key, multiplier);
      // Without a branch: whether a step has a name is as good as random.
      const uint32_t named = -(uint32_t)(loaded.keys[slot] == key);
      const uint32_t column = (loaded.columns[slot] & named) | (loaded.others[key & 1] & ~named);
      state = loaded.next[column + state];
      read |= key;
      step += STEP_BYTES;
    }
    require((read & 0xfe) == 0);
    shared.results.decisions.outcomes[i] = loaded.outcomes[state];
    shared.results.decisions.at[i] = (uint8_t)((step - offset) / STEP_BYTES);
    offset = end;
  }
  return offset;
}
