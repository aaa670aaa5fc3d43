// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "push/random_id.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

void random_id(uint8_t id[RANDOM_ID]) {
  static uint64_t count;
  if (getrandom(id, RANDOM_ID, 0) == RANDOM_ID)
    return;
  // Without random numbers, the time and the process are still unique.
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t words[] = {(uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec,
                            (uint64_t)getpid() << 32 ^ ++count};
  memcpy(id, words, RANDOM_ID);
}

void random_uuid(char text[UUID_SIZE]) {
  uint8_t id[RANDOM_ID];
  char *at = text;
  random_id(id);
  id[6] = (uint8_t)((id[6] & 0x0f) | 0x40);
  id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
  for (int i = 0; i < RANDOM_ID; i++)
    at += snprintf(at, (size_t)(text + UUID_SIZE - at), "%s%02x",
                   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}
