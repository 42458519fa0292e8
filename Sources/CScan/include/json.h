/* JSON kernels (RFC 8259). */
#ifndef UPSURGE_JSON_H
#define UPSURGE_JSON_H

#include "json_machine.h"
#include "json_members.h"
#include "json_string.h"
#include "json_value.h"

#endif
