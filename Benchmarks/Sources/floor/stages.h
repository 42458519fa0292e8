#ifndef STAGES_H
#define STAGES_H

#include "options.h"

// Parts of a load alone; each prints its JSON line. False after printing why not.
bool scan_file(const floor_options *options);
bool decompress_file(const floor_options *options);

#endif
