// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles that the program defines. Each profile maps values to the stacks
// that added these values. (Go: runtime/pprof's NewProfile, Add, Remove, Count)
//
// The profiles are in static memory, because the program's pointers to profiles
// must stay valid in a forked child. The values are in persistent memory, which
// is empty in a forked child.

#include "bucket/custom_profile.h"

#include "bucket/bucket.h"
#include "process/process.h"
#include "sys/libc.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/sort.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <errno.h>
#include <string.h>

struct mprof_profile {
  char name[MPROF_CUSTOM_NAME]; // written once, before the profile is published
  struct mprof_lock lock;       // guards values and the buckets' counters
  struct mprof_bucket_map values; // maps each value to its bucket
};

static struct mprof_profile all[MPROF_CUSTOM_PROFILES];

static struct {
  struct mprof_lock lock; // profiles_lock: held while a profile is added
  _Atomic size_t count;
} profiles = {.lock = MPROF_LOCK_INIT(MPROF_RANK_PROFILES)};

size_t mprof_custom_profiles(void) {
  return atomic_load_explicit(&profiles.count, memory_order_acquire);
}

const char *mprof_custom_profile_name(size_t number) {
  return all[number].name;
}

size_t mprof_custom_profile_find(const char *name) {
  const size_t count = mprof_custom_profiles();
  for (size_t i = 0; i < count; i++)
    if (strcmp(all[i].name, name) == 0)
      return i;
  return MPROF_CUSTOM_PROFILES;
}

void mprof_custom_profiles_reset(void) {
  mprof_lock_reset(&profiles.lock);
  for (size_t i = 0; i < mprof_custom_profiles(); i++) {
    mprof_lock_reset(&all[i].lock);
    mprof_bucket_map_reset(&all[i].values);
  }
}

// --- the profiles ---

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Returns whether s is a valid name of a profile. A name consists of letters,
// digits, '_', '-' and '.', and begins with a letter. The name becomes a part
// of a file name, between two dots. The name must not begin with a digit,
// because other file names may have a number, such as a process id, at the same
// place.
static bool is_name(const char *s) {
  size_t len = 0;
  for (; s[len] != '\0'; len++)
    if (len + 1 == MPROF_CUSTOM_NAME ||
        (!is_letter(s[len]) &&
         (len == 0 || ((s[len] < '0' || s[len] > '9') && s[len] != '_' &&
                       s[len] != '-' && s[len] != '.'))))
      return false;
  return len > 0;
}

static int add_profile_locked(const char *name, struct mprof_profile **out) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_PROFILES));
  const size_t count = mprof_custom_profiles();
  if (mprof_custom_profile_find(name) < MPROF_CUSTOM_PROFILES)
    return -EEXIST;
  if (count == MPROF_CUSTOM_PROFILES)
    return -ENOSPC;
  struct mprof_profile *p = &all[count];
  strcpy(p->name, name);
  p->lock = (struct mprof_lock)MPROF_LOCK_INIT(MPROF_RANK_PROFILES);
  atomic_store_explicit(&profiles.count, count + 1, memory_order_release);
  *out = p;
  return 0;
}

static bool is_built_in(const char *name) {
  static const char names[][16] = {
#define MPROF_PROFILE(Name, Suffix, Kind, Variant, Section, Line, Text) #Name,
#include "options/profiles.def"
  };
#define MPROF_PROFILE(Name, Suffix, Kind, Variant, Section, Line, Text)        \
  MPROF_FITS(#Name, names[0])
#include "options/profiles.def"
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

MPROF_PUBLIC int mprof_profile_new(const char *name,
                                   struct mprof_profile **profile) {
  *profile = NULL;
  mprof_msan_unpoison(profile, sizeof(*profile));
  if (name == NULL || !is_name(name))
    return EINVAL;
  if (is_built_in(name))
    return EEXIST;
  if (!mprof_process_ready())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  mprof_lock_acquire(&profiles.lock);
  int error = add_profile_locked(name, profile);
  mprof_lock_release(&profiles.lock);
  mprof_guard_leave();
  return -error;
}

MPROF_PUBLIC struct mprof_profile *mprof_profile_lookup(const char *name) {
  size_t number =
      name == NULL ? MPROF_CUSTOM_PROFILES : mprof_custom_profile_find(name);
  return number < MPROF_CUSTOM_PROFILES ? &all[number] : NULL;
}

// --- values ---

// Returns whether p points to an existing profile. p may be any address.
static bool is_profile(const struct mprof_profile *p) {
  const size_t offset = (uintptr_t)p - (uintptr_t)all;
  return offset % sizeof(*p) == 0 &&
         offset / sizeof(*p) < mprof_custom_profiles();
}

// Returns the bucket of p for the stack from `frame` on. skip is the number of
// functions that the program wants to drop at the leaf of the stack. The bucket
// keeps the whole stack and the value of skip. Readers of the profile drop the
// functions, because inlined functions are known only after symbolization. If
// skip is above MPROF_MAX_SKIP, returns the bucket of the empty stack. (Go:
// lostProfileEvent)
static struct mprof_bucket *bucket_of(const struct mprof_profile *p, int skip,
                                      uintptr_t frame) {
  struct mprof_thread *t = mprof_thread_self(true);
  struct mprof_bucket_key key = {
      .type = MPROF_BUCKET_CUSTOM,
      .size = mprof_custom_profile_key((size_t)(p - all))};
  if (skip > MPROF_MAX_SKIP)
    return mprof_bucket_get(&key, true);
  key.skip = (uint8_t)skip;
  return t ? mprof_bucket_at(t, &key, 0, frame) : NULL;
}

static int put_locked(struct mprof_profile *p, uintptr_t value,
                      struct mprof_bucket *b) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_PROFILES));
  uint32_t before;
  if (mprof_bucket_map_find(&p->values, value) != 0)
    return -EEXIST;
  if (!mprof_bucket_map_put(&p->values, value, mprof_persistent_handle(b),
                            &before))
    return -ENOMEM;
  b->custom.values++;
  return 0;
}

static int add(struct mprof_profile *p, uintptr_t value, int skip,
               uintptr_t frame) {
  struct mprof_bucket *b = bucket_of(p, skip, frame);
  if (b == NULL) // the failed allocation is already counted as lost
    return -ENOMEM;
  mprof_lock_acquire(&p->lock);
  int error = put_locked(p, value, b);
  mprof_lock_release(&p->lock);
  return error;
}

// Checks that p is a profile and that the runtime is ready, and sets the
// recursion guard. Returns 0 or -errno. If the result is not 0, the guard is
// not set. Inlined, because the guard belongs to the caller's frame.
__attribute__((always_inline)) static inline int
enter(const struct mprof_profile *p) {
  if (!is_profile(p))
    return -EINVAL;
  if (!mprof_process_ready())
    return -ENOSYS;
  if (mprof_guard_enter())
    return 0;
  mprof_stat_add(MPROF_STAT_reentrant, 1);
  return -EBUSY;
}

MPROF_PUBLIC int mprof_profile_add(struct mprof_profile *profile,
                                   uintptr_t value, int skip) {
  int error = skip < 0 ? -EINVAL : enter(profile);
  if (error != 0)
    return -error;
  error = add(profile, value, skip, (uintptr_t)__builtin_frame_address(0));
  mprof_guard_leave();
  return -error;
}

static int take_locked(struct mprof_profile *p, uintptr_t value) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_PROFILES));
  uint32_t handle = mprof_bucket_map_take(&p->values, value);
  struct mprof_bucket *b = mprof_persistent_pointer(handle);
  if (b == NULL)
    return -ENOENT;
  MPROF_ASSERT(b->custom.values > 0);
  b->custom.values--;
  return 0;
}

MPROF_PUBLIC int mprof_profile_remove(struct mprof_profile *profile,
                                      uintptr_t value) {
  int error = enter(profile);
  if (error != 0)
    return -error;
  mprof_lock_acquire(&profile->lock);
  error = take_locked(profile, value);
  mprof_lock_release(&profile->lock);
  mprof_guard_leave();
  return -error;
}

MPROF_PUBLIC size_t mprof_profile_count(const struct mprof_profile *profile) {
  return is_profile(profile) ? mprof_bucket_map_count(&profile->values) : 0;
}

size_t mprof_custom_profile_values(size_t number) {
  return mprof_profile_count(&all[number]);
}

const char *mprof_custom_profile_of(const struct mprof_profile *profile) {
  return is_profile(profile) ? profile->name : NULL;
}

// --- snapshots ---

// (Go: first half of printCountProfile)

static bool has_more(const void *a, const void *b) {
  const struct mprof_custom_sample *x = a, *y = b;
  if (x->count != y->count)
    return x->count > y->count;
  // Samples with equal counts have an arbitrary but fixed order.
  return (uintptr_t)x->bucket < (uintptr_t)y->bucket;
}

// Copies the samples of profile `number` to v, but at most cap samples. Returns
// the number of samples that the profile has, which may exceed cap.
static size_t copy_locked(struct mprof_custom_sample *v, size_t cap,
                          size_t number) {
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_PROFILES));
  size_t n = 0;
  for (const struct mprof_bucket *b = mprof_bucket_first(MPROF_BUCKET_CUSTOM);
       b != NULL; b = b->allnext) {
    if (b->size != mprof_custom_profile_key(number) || b->custom.values == 0)
      continue;
    if (n < cap)
      v[n] =
          (struct mprof_custom_sample){.bucket = b, .count = b->custom.values};
    n++;
  }
  return n;
}

static int copy(struct mprof_custom_snapshot *s, size_t number) {
  size_t cap = 64;
  for (;;) {
    s->mapped_bytes = cap * (sizeof(*s->samples) + sizeof(*s->sorted));
    s->samples = mprof_os_map(s->mapped_bytes);
    if (s->samples == NULL)
      return -ENOMEM;
    mprof_lock_acquire(&all[number].lock);
    s->len = copy_locked(s->samples, cap, number);
    mprof_lock_release(&all[number].lock);
    if (s->len <= cap)
      break;
    mprof_os_unmap(s->samples, s->mapped_bytes);
    cap = s->len + 64; // room for samples that are added meanwhile
  }
  s->sorted = (const struct mprof_custom_sample **)(s->samples + cap);
  return 0;
}

int mprof_custom_snapshot_take(struct mprof_custom_snapshot *s, size_t number) {
  *s = (struct mprof_custom_snapshot){.name = mprof_custom_profile_name(number),
                                      .time_ns = mprof_sys_realtime_ns()};
  int error = copy(s, number);
  if (error != 0)
    return error;
  for (size_t i = 0; i < s->len; i++) {
    s->sorted[i] = &s->samples[i];
    s->values += s->samples[i].count;
  }
  mprof_sort((void **)s->sorted, s->len, has_more);
  return 0;
}

void mprof_custom_snapshot_free(struct mprof_custom_snapshot *s) {
  if (s->samples != NULL)
    mprof_os_unmap(s->samples, s->mapped_bytes);
  *s = (struct mprof_custom_snapshot){0};
}
