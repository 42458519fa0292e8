/* SwiftPM wants one C file in a C target; the kernels are header-only. */
#include "CScan.h"
