/* Which files the process brings to the disk, in order: fsync and fdatasync of this program, and of the libraries
 * that it loads, come by here on Linux. */
#ifndef SYNC_LOG_H
#define SYNC_LOG_H

#include <stddef.h>

/* Begins to note the files under a folder (its path without links), and forgets what was noted. */
void sync_log_begin(const char *folder);

/* What was noted: the path of each file behind the folder's and a line end; empty for the folder itself. Ends the
 * noting. Returns the count of bytes that were copied, at most `capacity`. */
size_t sync_log_end(char *text, size_t capacity);

#endif
