/* What the C library does with memory that was freed. */
#ifndef UPSURGE_MEMORY_H
#define UPSURGE_MEMORY_H

#if defined(__GLIBC__) || defined(__linux__)
#include <malloc.h>
#endif

/* Large pieces go back to the system when they are freed: glibc would keep more and more after the first of them. */
static inline void upsurge_return_freed_memory(void) {
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
}

/* Gives the system what one large piece of work has left behind in small pieces, however they lie: glibc keeps it else. */
static inline void upsurge_trim_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

#endif
