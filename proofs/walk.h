/* The worlds: what follows one, what is looked at in it, and how it is told.

   Each function takes the number of ranks as a constant, so that the compiler unrolls its loops. */

static void note(mask broken, uint32_t at, uint32_t last, int size) {
  mask fresh = broken & ~found.broken;
  for (int property = 0; property < PROPERTY_COUNT; property++) {
    if (!(broken >> property & 1)) continue;
    uint32_t length = last != at;
    for (uint32_t world = at;; world = parents[world]) {
      length++;
      if (parents[world] == UINT32_MAX) break;
    }
    if (!(fresh >> property & 1) && found.length[property] <= length) continue;
    found.length[property] = length;
    uint32_t *path = room_for(found.path[property], length, (size_t)size * 4);
    found.path[property] = path;
    if (last != at) memcpy(path + --length * size, WORLD_OF(last, size), (size_t)size * 4);
    for (uint32_t world = at; length; world = parents[world])
      memcpy(path + --length * size, WORLD_OF(world, size), (size_t)size * 4);
  }
  found.broken |= broken;
}

ALWAYS void ranks_of(const uint32_t *world, const cell **ranks, int size) {
  for (int rank = 0; rank < size; rank++) ranks[rank] = RECORD_OF(world[rank]);
}

/* The broken properties that range over ranks: worlds of equal views share them. */
ALWAYS mask judge(const uint32_t *world, const cell *const *ranks, int size) {
  uint32_t key[MOST_RANKS];
  int fresh;
  for (int rank = 0; rank < size; rank++) key[rank] = ranks_met[world[rank]].joint_view;
  uint32_t at = intern(&judged, key, (size_t)size * 4, &fresh);
  if (!fresh) return judgements[at];
  if (at >= judged_room) {
    judged_room = judged_room ? 2 * judged_room : 1024;
    judgements = room_for(judgements, judged_room, sizeof *judgements);
  }
  judgements[at] = 0;
  for (int rank = 0; rank < size; rank++)
    judgements[at] |= broken_jointly(ranks, size, ranks[rank]);
  return judgements[at];
}

/* "always" properties and witnesses of a world met for the first time. */
ALWAYS void look(const uint32_t *world, uint32_t at, int jointly, int size) {
  const cell *ranks[MOST_RANKS];
  mask broken = 0, wanted = job.wanted & ~found.shown;
  ranks_of(world, ranks, size);
  if (jointly) broken = judge(world, ranks, size);
  for (int rank = 0; rank < size; rank++) {
    broken |= rank_broken[world[rank]];
    if (wanted) found.shown |= shown(ranks, size, ranks[rank], wanted);
  }
  if (broken) note(broken, at, at, size);
}

/* What R1's abstract machine sees of a world; its number. */
ALWAYS uint32_t image(const uint32_t *world, int size) {
  uint32_t key[MOST_RANKS];
  int fresh;
  for (int rank = 0; rank < size; rank++) key[rank] = ranks_met[world[rank]].image_view;
  uint32_t at = intern(&sights, key, (size_t)size * 4, &fresh);
  if (!fresh) return image_seen[at];
  if (at >= sights_room) {
    sights_room = sights_room ? 2 * sights_room : 1024;
    image_seen = room_for(image_seen, sights_room, sizeof *image_seen);
  }
  const cell *ranks[MOST_RANKS];
  cell seen[MOST_RANKS * IMAGE];
  ranks_of(world, ranks, size);
  for (int rank = 0; rank < size; rank++) image_of(ranks, size, ranks[rank], seen + IMAGE * rank);
  image_seen[at] = intern(&images, seen, (size_t)size * IMAGE, &fresh);
  return image_seen[at];
}

/* Whether R1's abstract machine may go from one image to the other, or does not move. */
ALWAYS int refines(uint32_t before, uint32_t after, int size) {
  uint32_t key[2] = {before, after};
  int fresh;
  if (before == after) return 1;
  uint32_t at = intern(&changes, key, sizeof key, &fresh);
  if (!fresh) return permitted[at];
  if (at >= changes_room) {
    changes_room = changes_room ? 2 * changes_room : 1024;
    permitted = room_for(permitted, changes_room, sizeof *permitted);
  }
  cell pairs[MOST_RANKS][C_COUNT];
  const cell *change[MOST_RANKS];
  for (int rank = 0; rank < size; rank++) {
    const cell *images_of = (const cell *)images.keys, *was, *is;
    was = images_of + ((size_t)before * (size_t)size + (size_t)rank) * IMAGE;
    is = images_of + ((size_t)after * (size_t)size + (size_t)rank) * IMAGE;
    change_of(was, is, pairs[rank]);
    change[rank] = pairs[rank];
  }
  permitted[at] = (uint8_t)permits(change, size, change[0]);
  return permitted[at];
}

/* One rank becomes another: the world that this leads to. */
ALWAYS void follow(
    const uint32_t *before, uint32_t at, int rank, uint32_t becomes, uint32_t vector, int size) {
  uint32_t after[MOST_RANKS + 1];
  int fresh;
  for (int other = 0; other < size; other++) after[other] = before[other];
  after[rank] = becomes;
  after[size] = vector;
  found.transitions++;
  uint32_t world = intern(&worlds, after, ((size_t)size + 1) * 4, &fresh);
  const struct rank *old = &ranks_met[before[rank]], *new = &ranks_met[becomes];
  if (fresh) {
    if (world >= parent_room) {
      parent_room = parent_room ? 2 * parent_room : 1024;
      parents = room_for(parents, parent_room, sizeof *parents);
    }
    parents[world] = at;
    look(after, world, old->joint_view != new->joint_view, size);
  }
  if (!job.refinement || old->image_view == new->image_view) return;
  if (!refines(image(before, size), image(after, size), size)) note((mask)1 << R1, at, world, size);
}

/* Whether another rank has still to leave the gather that this one leaves. */
ALWAYS int is_awaited(const uint32_t *world, int leaver, int size) {
  cell rounds = RECORD_OF(world[leaver])[F_rounds];
  for (int rank = 0; rank < size; rank++) {
    const cell *r = RECORD_OF(world[rank]);
    if (rank != leaver && r[F_phase] == OFFER && r[F_rounds] == rounds) return 1;
  }
  return 0;
}

/* The moves of a rank that leaves the gather, whose vector is fixed once the first has left. */
ALWAYS uint32_t gather_moves(const uint32_t *world, int rank, uint32_t action, int size) {
  uint32_t reports_now[MOST_RANKS], vector = world[size];
  int fresh;
  if (vector == 0) {
    for (int other = 0; other < size; other++) reports_now[other] = rank_at(world[other])->report;
    vector = 1 + intern(&vectors, reports_now, (size_t)size * 4, &fresh);
  }
  memcpy(reports_now, vectors.keys + (size_t)(vector - 1) * (size_t)size * 4, (size_t)size * 4);
  return leave_gather(world[rank], action, reports_now, vector);
}

ALWAYS uint32_t vector_after(const uint32_t *world, int rank, uint32_t entry, int size) {
  const uint32_t *what = (const uint32_t *)(const void *)gathers.keys + (size_t)entry * 3;
  return is_awaited(world, rank, size) ? what[2] : 0;
}

ALWAYS void follow_waits(const uint32_t *world, uint32_t at, int rank, int size) {
  const struct rank *r = rank_at(world[rank]);
  uint32_t first = r->first_wait, last = r->last_wait;
  int (*asked)(const cell *const *, int, const cell *) = NULL;
  int open = 0;
  for (uint32_t wait = first; wait < last; wait++) {
    const struct action *a = &actions[waits[wait].action];
    if (a->joint != asked) {
      const cell *ranks[MOST_RANKS];
      ranks_of(world, ranks, size);
      open = a->joint(ranks, size, ranks[rank]);
      asked = a->joint;
    }
    if (!open) continue;
    uint32_t move = waits[wait].start, end = waits[wait].end, vector = world[size];
    if (a->gathers) {
      uint32_t entry = gather_moves(world, rank, waits[wait].action, size);
      move = gathered[entry].start, end = gathered[entry].end;
      vector = vector_after(world, rank, entry, size);
    }
    for (; move < end; move++) follow(world, at, rank, moves[move], vector, size);
  }
}

/* The worlds one move further. In a reduced search the first rank that fills its window, or emits
   with room in its queue, moves alone (see world.py). */
ALWAYS void expand(const uint32_t *world, uint32_t at, int size) {
  int first = 0, last = size - 1, alone = 0;
  for (int rank = 0; job.reduced && !alone && rank < size; rank++) {
    const struct rank *r = rank_at(world[rank]);
    alone = r->eager && r->engine < r->loop;
    if (alone) first = last = rank;
  }
  for (int rank = first; rank <= last; rank++) {
    const struct rank *r = rank_at(world[rank]);
    uint32_t start = r->engine, end = alone ? r->loop : r->end;
    for (uint32_t move = start; move < end; move++)
      follow(world, at, rank, moves[move], world[size], size);
    if (!alone) follow_waits(world, at, rank, size);
  }
}

ALWAYS void search(const uint32_t *root, int size) {
  int fresh;
  uint64_t depth = 0;
  uint32_t level_end = 1;
  clear(&worlds, ((size_t)size + 1) * 4);
  clear(&judged, (size_t)size * 4); /* roots differ in what never changes, so share no view */
  clear(&sights, (size_t)size * 4);
  intern(&worlds, root, ((size_t)size + 1) * 4, &fresh);
  if (parent_room == 0) parents = room_for(NULL, parent_room = 1024, sizeof *parents);
  parents[0] = UINT32_MAX;
  look(root, 0, 1, size);
  for (uint32_t at = 0; at < worlds.count; at++) {
    if (worlds.count > job.limit || overflow) {
      found.unfinished = 1;
      break;
    }
    if (at == level_end) depth++, level_end = worlds.count;
    uint32_t world[MOST_RANKS + 1]; /* a copy: worlds may move while new ones are met */
    uint64_t before = found.transitions;
    memcpy(world, WORLD_OF(at, size), ((size_t)size + 1) * 4);
    expand(world, at, size);
    if (found.transitions > before) continue;
    const cell *ranks[MOST_RANKS];
    mask broken = 0;
    ranks_of(world, ranks, size);
    for (int rank = 0; rank < size; rank++) broken |= broken_at_rest(ranks, size, ranks[rank]);
    if (broken) note(broken, at, at, size);
    found.at_rest++;
  }
  found.states += worlds.count;
  if (depth > found.depth) found.depth = depth;
}

static void search_one(const uint32_t *root) { search(root, 1); }
static void search_two(const uint32_t *root) { search(root, 2); }
static void search_three(const uint32_t *root) { search(root, 3); }
static void search_four(const uint32_t *root) { search(root, 4); }

static void tell(void) {
  printf("{\"finished\": %s, \"states\": %llu, \"transitions\": %llu, \"at_rest\": %llu, ",
      found.unfinished || overflow ? "false" : "true", (unsigned long long)found.states,
      (unsigned long long)found.transitions, (unsigned long long)found.at_rest);
  printf("\"depth\": %llu, \"ends\": %s, \"overflow\": %s, \"shown\": %llu, \"broken\": [",
      (unsigned long long)found.depth, goes_back ? "false" : "true", overflow ? "true" : "false",
      (unsigned long long)found.shown);
  const char *comma = "";
  for (int property = 0; property < PROPERTY_COUNT; property++) {
    if (!(found.broken >> property & 1)) continue;
    printf("%s[%d", comma, property);
    for (uint32_t at = 0; at < found.length[property] * (uint32_t)job.size; at++) {
      const cell *r = RECORD_OF(found.path[property][at]);
      for (int field = 0; field < F_COUNT; field++) printf(", %d", r[field]);
    }
    printf("]");
    comma = ", ";
  }
  printf("]}\n");
  fflush(stdout);
}

static number next_number(void) {
  number value;
  if (scanf("%ld", &value) == 1) return value;
  fprintf(stderr, "a job ends too early\n");
  exit(2);
}

static void forget(void) {
  clear(&records, RECORD);
  clear(&views, RECORD + 4);
  clear(&reports, (R_COUNT + 3) / 4 * 4);
  clear(&vectors, (size_t)job.size * 4);
  clear(&gathers, 12);
  clear(&images, (size_t)job.size * IMAGE);
  clear(&changes, 8);
  move_count = wait_count = 0;
  overflow = goes_back = 0;
  for (int property = 0; property < PROPERTY_COUNT; property++) free(found.path[property]);
  memset(&found, 0, sizeof found);
}

int main(void) {
  static void (*const searches[])(const uint32_t *) = {
      search_one, search_two, search_three, search_four};
  while (scanf("%d", &job.size) == 1) {
    job.reduced = (int)next_number(), job.refinement = (int)next_number();
    job.limit = (uint32_t)next_number(), job.wanted = (mask)next_number();
    if (job.size < 1 || job.size > MOST_RANKS) return 2;
    for (int setting = 0; setting < S_COUNT; setting++) settings[setting] = next_number();
    forget();
    for (number roots = next_number(); roots > 0; roots--) {
      uint32_t root[MOST_RANKS + 1] = {0};
      for (int rank = 0; rank < job.size; rank++) {
        cell record[RECORD] = {0};
        for (int field = 0; field < F_COUNT; field++) record[field] = fit(next_number());
        root[rank] = rank_number(record);
      }
      searches[job.size - 1](root);
    }
    tell();
  }
  return 0;
}
