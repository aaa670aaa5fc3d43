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

#define OFFSET(Name) offsetof(struct mprof_flags, Name)

enum reason { CHANGES, AT_START, MEMORY, FILES, COUNTS, SIGNALS, REASONS };

// The options that cannot change. The program reads an option that is not
// listed here each time that it uses it.
static const struct {
  uint16_t offset;
  uint8_t reason;
} fixed[] = {
    {OFFSET(log_path), FILES},
    {OFFSET(heap), COUNTS},
    {OFFSET(heapx), COUNTS},
    {OFFSET(peak), COUNTS},
    {OFFSET(alloc_log), FILES},
    {OFFSET(alloc_log_mb), FILES},
    {OFFSET(block_kinds), AT_START},
    {OFFSET(stuck), COUNTS},
    {OFFSET(stuck_report), AT_START},
    {OFFSET(threads_signal), SIGNALS},
    {OFFSET(stack_depth), MEMORY},
    {OFFSET(coroutines), COUNTS},
    {OFFSET(max_labels), MEMORY},
    {OFFSET(max_memory_mb), MEMORY},
    {OFFSET(dump_on_signal), SIGNALS},
    {OFFSET(listen), AT_START},
    {OFFSET(control_signal), SIGNALS},
    {OFFSET(trace), AT_START},
    {OFFSET(trace_max_mb), MEMORY},
    {OFFSET(trace_last), AT_START},
    {OFFSET(trace_last_mb), MEMORY},
    {OFFSET(trace_format), AT_START},
    {OFFSET(external_symbolizer_path), AT_START},
    {OFFSET(seed), AT_START},
    {OFFSET(help), AT_START},
};

static enum reason reason_of(const struct mprof_option *o) {
  for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
    if (fixed[i].offset == o->offset)
      return (enum reason)fixed[i].reason;
  return CHANGES;
}

// Returns the reason why option o cannot change, or NULL.
static const char *why_fixed(const struct mprof_option *o) {
  static const char texts[REASONS][64] = {
      [AT_START] = "it has an effect only at the start of the program",
      [MEMORY] = "memory for the present value is already in use",
      [FILES] = "files with the present value may be open",
      [COUNTS] = "earlier events were counted with the present value",
      [SIGNALS] = "signal handlers are installed for the present value"};
  const enum reason r = reason_of(o);
  return r == CHANGES ? NULL : texts[r];
}

int mprof_flags_change(const char *name, const char *value, const char **why) {
  const struct mprof_option *o =
      mprof_option_find((struct mprof_piece){name, strlen(name)});
  if (o == NULL)
    return -ENOENT;
  *why = why_fixed(o);
  if (*why != NULL)
    return -EPERM;
  return mprof_option_store(&mprof_flags, o,
                            (struct mprof_piece){value, strlen(value)})
             ? 0
             : -EINVAL;
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
