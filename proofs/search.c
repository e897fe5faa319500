/* Breadth-first search over worlds of a few ranks: every reachable world once, exact counts.

   Rules kept here:
   1. Nothing of the protocol is decided here: model.h, written by export_c.py, knows the moves and
      the properties; this file knows records, worlds and masks.
   2. A search that outgrows its limit, or a count that outgrows its cell, is not finished.
   3. As in world.py: what one rank can do alone is found once per rank ever met; a world is a
      number per rank and the number of the gathered vector while some rank has still to take it.

   In: jobs of integers, each "size reduced refinement limit wanted SETTINGS root_count ROOTS", a
   root being `size` records. Out: one line of JSON per job. */

#include "interned.h"

typedef int8_t cell;
typedef long number;
typedef uint64_t mask;

enum { MOST_RANKS = 4 };

static int overflow; /* a count did not fit into its cell */
static void moved(const cell *record);

ALWAYS cell fit(number value) {
  if (value < INT8_MIN || value > INT8_MAX) overflow = 1;
  return (cell)value;
}

struct action {
  int phase;   /* of the table's row; -1: the environment moves by itself */
  int gathers; /* leaves a gather, and so reads the vector of reports */
  int (*alone)(const cell *r);
  int (*joint)(const cell *const *ranks, int size, const cell *r); /* or NULL */
  void (*moves)(const cell *const *ranks, int size, const cell *r);
};

#include "model.h"

enum { ACTIONS = sizeof actions / sizeof *actions };

struct wait { uint32_t action, start, end; }; /* moves once the others let it; none in a gather */

struct rank {
  uint32_t engine, loop, end; /* moves of the protocol and of the loop, in `moves` */
  uint32_t first_wait, last_wait;
  uint32_t report;
  uint32_t joint_view, image_view;
  int32_t progress;
  uint8_t eager, known;
};

static struct { int size, reduced, refinement; uint32_t limit; mask wanted; } job;
static struct set records, views, reports, vectors, gathers, worlds, judged, sights, images, changes;
static struct rank *ranks_met;
static mask *rank_broken;
static uint32_t *moves, move_count, move_room;
static struct wait *waits;
static uint32_t wait_count, wait_room;
static struct { uint32_t start, end; } *gathered;
static uint32_t rank_room, gathered_room, judged_room, sights_room, changes_room;
static mask *judgements; /* broken jointly, by the joint views of the ranks */
static uint32_t *image_seen; /* image, by the image views of the ranks */
static uint8_t *permitted;   /* whether R1 permits it, by the images before and after */
static uint32_t *parents, parent_room;

static uint32_t moving_from, moving_start; /* the rank whose moves are being found */
static int goes_back;                      /* a move did not make PROGRESS larger */

static struct { /* of a job */
  uint64_t states, transitions, at_rest, depth;
  int unfinished;
  mask shown, broken;
  uint32_t *path[PROPERTY_COUNT], length[PROPERTY_COUNT];
} found;

#define RECORD_OF(number) ((const cell *)records.keys + (size_t)(number) * RECORD)
#define WORLD_OF(number, size) \
  ((const uint32_t *)(const void *)worlds.keys + (size_t)(number) * ((size) + 1))

static uint32_t view_of(const cell *r, const int *fields, int count, char kind) {
  cell key[RECORD + 4] = {kind};
  int fresh;
  for (int at = 0; at < count; at++) key[at + 1] = r[fields[at]];
  return intern(&views, key, sizeof key, &fresh);
}

static uint32_t rank_number(const cell *record) {
  int fresh;
  uint32_t at = intern(&records, record, RECORD, &fresh);
  if (!fresh) return at;
  if (at >= rank_room) {
    rank_room = rank_room ? 2 * rank_room : 1024;
    ranks_met = room_for(ranks_met, rank_room, sizeof *ranks_met);
    rank_broken = room_for(rank_broken, rank_room, sizeof *rank_broken);
  }
  ranks_met[at] = (struct rank){
      .joint_view = view_of(record, joint_view, JOINT_VIEW_COUNT, 1),
      .image_view = view_of(record, image_view, IMAGE_VIEW_COUNT, 2),
      .progress = (int32_t)progress(record),
      .eager = (uint8_t)eager(record),
  };
  rank_broken[at] = broken_alone(record);
  return at;
}

/* Called by model.h for each record that a move leads to. */
static void moved(const cell *record) {
  uint32_t at = rank_number(record);
  if (ranks_met[at].progress <= ranks_met[moving_from].progress) goes_back = 1;
  for (uint32_t other = moving_start; other < move_count; other++)
    if (moves[other] == at) return;
  if (move_count == move_room) {
    move_room = move_room ? 2 * move_room : 1024;
    moves = room_for(moves, move_room, sizeof *moves);
  }
  moves[move_count++] = at;
}

static void find(uint32_t at, uint32_t action, const cell *const *over) {
  cell r[RECORD]; /* a copy: records may move while new ones are met */
  memcpy(r, RECORD_OF(at), RECORD);
  moving_from = at;
  moving_start = move_count;
  actions[action].moves(over, job.size, r);
}

static void wait_for(uint32_t action, uint32_t start) {
  if (wait_count == wait_room) {
    wait_room = wait_room ? 2 * wait_room : 1024;
    waits = room_for(waits, wait_room, sizeof *waits);
  }
  waits[wait_count++] = (struct wait){action, start, move_count};
}

/* What a rank can do whatever the others do, and what it waits for. */
static void know(uint32_t at) {
  cell r[RECORD];
  memcpy(r, RECORD_OF(at), RECORD);
  struct rank rank = ranks_met[at];
  rank.first_wait = wait_count;
  for (uint32_t action = 0; action < ACTIONS; action++) {
    const struct action *a = &actions[action];
    if (a->joint == NULL || !a->alone(r) || (a->phase >= 0 && a->phase != r[F_phase])) continue;
    uint32_t start = move_count;
    if (!a->gathers) find(at, action, NULL);
    if (a->gathers || move_count > start) wait_for(action, start);
  }
  rank.last_wait = wait_count;
  for (int loop = 0; loop < 2; loop++) {
    *(loop ? &rank.loop : &rank.engine) = move_count;
    for (uint32_t action = 0; action < ACTIONS; action++) {
      const struct action *a = &actions[action];
      if (a->joint == NULL && (a->phase < 0) == loop && a->alone(r)) find(at, action, NULL);
    }
  }
  rank.end = move_count;
  cell report[R_COUNT + 3] = {0};
  int fresh;
  report_of(r, report);
  rank.report = intern(&reports, report, (R_COUNT + 3) / 4 * 4, &fresh);
  rank.known = 1;
  ranks_met[at] = rank;
}

ALWAYS const struct rank *rank_at(uint32_t at) {
  if (!ranks_met[at].known) know(at);
  return &ranks_met[at];
}

/* The moves of a rank that leaves the gather with this vector; remembered. */
static uint32_t leave_gather(uint32_t at, uint32_t action, const uint32_t *vector, uint32_t key) {
  uint32_t what[3] = {at, action, key};
  int fresh;
  uint32_t entry = intern(&gathers, what, sizeof what, &fresh);
  if (!fresh) return entry;
  if (entry >= gathered_room) {
    gathered_room = gathered_room ? 2 * gathered_room : 1024;
    gathered = room_for(gathered, gathered_room, sizeof *gathered);
  }
  const cell *over[MOST_RANKS];
  for (int rank = 0; rank < job.size; rank++)
    over[rank] = (const cell *)reports.keys + (size_t)vector[rank] * ((R_COUNT + 3) / 4 * 4);
  uint32_t start = move_count;
  find(at, action, over);
  gathered[entry].start = start;
  gathered[entry].end = move_count;
  return entry;
}

#include "walk.h"
