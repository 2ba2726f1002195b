/* Compiled once for a machine, for all models: sizes are arguments here, not macros. */
#ifndef DA_READY_LIBRARY_H
#define DA_READY_LIBRARY_H

#include <math.h>
#include <stddef.h>

#define DA_READY __attribute__((visibility("default")))

/* What this was compiled from: a library that came with another version is not used. */
DA_READY const char *da_ready_digest(void) { return DA_READY_DIGEST; }

#endif
