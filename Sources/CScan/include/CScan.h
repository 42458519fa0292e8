/* C kernels of the parsers: header-only, so that Swift inlines them. One topic a header. */
#ifndef UPSURGE_CSCAN_H
#define UPSURGE_CSCAN_H

#include <stddef.h>
#include <stdint.h>

#include "json.h"
#include "memory.h"
#include "number.h"
#include "structural.h"
#include "utf8.h"

#endif
