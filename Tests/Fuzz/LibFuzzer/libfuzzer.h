/* The fuzzer as a library (https://llvm.org/docs/LibFuzzer.html); clang has no header for it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Runs the fuzzer's main loop with its command line; `one_input` returns 0. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one_input)(const uint8_t *data, size_t byte_count));
