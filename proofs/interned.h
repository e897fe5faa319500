/* Sets of short keys of one width, each met key numbered in the order in which it was met.

   Rules kept here:
   1. A key is compared byte by byte; a hash only says where to look.
   2. Memory that cannot be had ends the program with a message: what is not finished is unknown.
*/

#ifndef INTERNED_H
#define INTERNED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS static inline __attribute__((always_inline))

struct set {
  char *keys;        /* all keys, one after another */
  uint64_t *places;  /* high half: of the hash; low half: 1 + number of the key; 0: free */
  uint32_t count;    /* keys met */
  uint32_t capacity; /* keys that there is room for */
  uint32_t mask;     /* number of places - 1, a power of two less one */
};

static void *room_for(void *old, size_t count, size_t width) {
  void *found = realloc(old, count * width);
  if (found == NULL) {
    fprintf(stderr, "no memory for %zu entries of %zu bytes\n", count, width);
    exit(2);
  }
  return found;
}

static void clear(struct set *s, size_t width) {
  if (s->places == NULL || s->mask > 1u << 16) { /* after a large search: do not wipe it all */
    s->mask = 1023;
    s->places = room_for(s->places, s->mask + 1, sizeof *s->places);
  }
  if (s->capacity < 512) s->capacity = 512;
  s->keys = room_for(s->keys, s->capacity, width);
  memset(s->places, 0, ((size_t)s->mask + 1) * sizeof *s->places);
  s->count = 0;
}

static void enlarge(struct set *s) {
  uint32_t old = s->mask;
  uint64_t *before = s->places;
  s->mask = 2 * old + 1;
  s->places = room_for(NULL, (size_t)s->mask + 1, sizeof *s->places);
  memset(s->places, 0, ((size_t)s->mask + 1) * sizeof *s->places);
  for (uint32_t at = 0; at <= old; at++) {
    if (before[at] == 0) continue;
    uint32_t place = (uint32_t)(before[at] >> 32) & s->mask;
    while (s->places[place]) place = (place + 1) & s->mask;
    s->places[place] = before[at];
  }
  free(before);
}

ALWAYS uint32_t hash_of(const char *key, size_t width) {
  uint64_t hash = 0;
  for (size_t at = 0; at < width; at += 4) {
    uint32_t word;
    memcpy(&word, key + at, 4);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return (uint32_t)(hash >> 32) ^ (uint32_t)hash;
}

static uint32_t add(struct set *s, const void *key, size_t width, uint32_t hash, uint32_t place) {
  if (s->count == s->capacity) {
    s->capacity *= 2;
    s->keys = room_for(s->keys, s->capacity, width);
  }
  memcpy(s->keys + (size_t)s->count * width, key, width);
  s->places[place] = (uint64_t)hash << 32 | (s->count + 1);
  s->count++;
  if (s->count > s->mask / 2) enlarge(s);
  return s->count - 1;
}

/* The number of the key; `fresh` says whether it is met for the first time. Widths are multiples
   of 4 bytes. */
ALWAYS uint32_t intern(struct set *s, const void *key, size_t width, int *fresh) {
  uint32_t hash = hash_of(key, width), place = hash & s->mask;
  for (; s->places[place]; place = (place + 1) & s->mask) {
    uint32_t number = (uint32_t)s->places[place] - 1;
    if (s->places[place] >> 32 == hash &&
        memcmp(s->keys + (size_t)number * width, key, width) == 0) {
      *fresh = 0;
      return number;
    }
  }
  *fresh = 1;
  return add(s, key, width, hash, place);
}

#endif
