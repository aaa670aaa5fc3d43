// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes and shows options while the program runs; see flags_change.h.

#include "sys/flags_change.h"

#include "sys/flags.h"
#include "sys/flags_table.h"
#include "sys/text.h"

#include <errno.h>
#include <string.h>

// Returns the reason why option o cannot change, or NULL.
static const char *why_fixed(const struct mprof_option *o) {
  static const char texts[][64] = {
      [MPROF_CHANGE_START] =
          "it has an effect only at the start of the program",
      [MPROF_CHANGE_MEMORY] = "memory for the present value is already in use",
      [MPROF_CHANGE_FILES] = "only the start of the program can choose files",
      [MPROF_CHANGE_COUNTS] =
          "earlier events were counted with the present value",
      [MPROF_CHANGE_SIGNALS] =
          "signal handlers are installed for the present value"};
  return o->change == MPROF_CHANGE_ALWAYS ? NULL : texts[o->change];
}

int mprof_flags_change(const char *name, const char *value, const char **why) {
  const struct mprof_piece v = {value, strlen(value)};
  const struct mprof_option *o =
      mprof_option_find((struct mprof_piece){name, strlen(name)});
  if (o == NULL)
    return -ENOENT;
  *why = why_fixed(o);
  if (*why != NULL)
    return -EPERM;
  // For an amount above the maximum, mprof_option_store stores the maximum and
  // returns false.
  struct mprof_flags copy = mprof_flags;
  if (!mprof_option_store(&copy, o, v))
    return -EINVAL;
  mprof_option_store(&mprof_flags, o, v);
  return 0;
}

bool mprof_flags_put(size_t i, struct mprof_text *t) {
  if (i >= MPROF_OPTION_COUNT)
    return false;
  const char *why = why_fixed(&mprof_options[i]);
  mprof_text_str(t, mprof_options[i].name);
  mprof_text_str(t, "=");
  mprof_option_put_value(t, &mprof_flags, &mprof_options[i]);
  if (why != NULL) {
    mprof_text_str(t, " (cannot change: ");
    mprof_text_str(t, why);
    mprof_text_str(t, ")");
  }
  return true;
}

size_t mprof_flags_find(const char *name) {
  const struct mprof_option *o =
      mprof_option_find((struct mprof_piece){name, strlen(name)});
  return o == NULL ? SIZE_MAX : (size_t)(o - mprof_options);
}
