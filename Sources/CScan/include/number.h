/* What a text says as a number, and whether SQLite's affinity would keep all that it says.
 *
 * A decimal becomes the nearest double, wherever it comes from. SQLite's own conversion differs from version to
 * version (x87 long double and one division before 3.43, up to ten multiplications later, double-double since), and
 * misses the nearest double by one bit for a few decimals in 100,000. So no decimal is left to it.
 *
 * D x 10^E (D < 2^53, |E| <= 22) becomes a double by one 64x64-bit multiplication of the normalised D with a 64-bit
 * mantissa of 10^E. The product is right to within 2 units of its 64th bit. So its upper 53 bits, rounded, are the
 * nearest double, unless the 11 bits below them are nearer than 4 units to the tie 0x400. Then (one in 250) D is divided by
 * or multiplied with 10^-E or 10^E: both are doubles, so IEEE 754 rounds to the nearest (W. D. Clinger, How to Read
 * Floating Point Numbers Accurately, 1990). Other decimals go to strtod.
 *
 *     "12.99" -> D = 1299, E = -2 -> product 0xCFD70A3D70A3D70B -> low bits 0x70B -> 12.99
 */
#ifndef UPSURGE_NUMBER_H
#define UPSURGE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What `upsurge_number_scan` found. */
enum {
  /* No number by SQLite's rule. */
  UPSURGE_NUMBER_NONE = 0,
  /* A 64-bit integer in its plain spelling. */
  UPSURGE_NUMBER_INTEGER = 1,
  /* A decimal that a double holds, and the nearest double. */
  UPSURGE_NUMBER_REAL = 2,
  /* SQLite sees a number, but the number would say less than the text. */
  UPSURGE_NUMBER_RESPELLED = 4
};

enum {
  UPSURGE_POWER_LIMIT = 22,
  UPSURGE_TIE_MARGIN = 4,
  /* No more digits decide which of two doubles is nearer, but whether any digit behind them is not zero. */
  UPSURGE_DIGIT_LIMIT = 800
};

/* The powers of ten that doubles hold exactly. */
static const double upsurge_powers[UPSURGE_POWER_LIMIT + 1] = {
  1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static inline uint64_t upsurge_double_bits(double value, bool negative) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits | (uint64_t)negative << 63;
}

/* 10^(i - 22) as mantissas with the top bit set, rounded to nearest. */
static const uint64_t upsurge_power_mantissas[2 * UPSURGE_POWER_LIMIT + 1] = {
  0xF1C90080BAF72CB1ULL, 0x971DA05074DA7BEFULL, 0xBCE5086492111AEBULL,
  0xEC1E4A7DB69561A5ULL, 0x9392EE8E921D5D07ULL, 0xB877AA3236A4B449ULL,
  0xE69594BEC44DE15BULL, 0x901D7CF73AB0ACD9ULL, 0xB424DC35095CD80FULL,
  0xE12E13424BB40E13ULL, 0x8CBCCC096F5088CCULL, 0xAFEBFF0BCB24AAFFULL,
  0xDBE6FECEBDEDD5BFULL, 0x89705F4136B4A597ULL, 0xABCC77118461CEFDULL,
  0xD6BF94D5E57A42BCULL, 0x8637BD05AF6C69B6ULL, 0xA7C5AC471B478423ULL,
  0xD1B71758E219652CULL, 0x83126E978D4FDF3BULL, 0xA3D70A3D70A3D70AULL,
  0xCCCCCCCCCCCCCCCDULL, 0x8000000000000000ULL, 0xA000000000000000ULL,
  0xC800000000000000ULL, 0xFA00000000000000ULL, 0x9C40000000000000ULL,
  0xC350000000000000ULL, 0xF424000000000000ULL, 0x9896800000000000ULL,
  0xBEBC200000000000ULL, 0xEE6B280000000000ULL, 0x9502F90000000000ULL,
  0xBA43B74000000000ULL, 0xE8D4A51000000000ULL, 0x9184E72A00000000ULL,
  0xB5E620F480000000ULL, 0xE35FA931A0000000ULL, 0x8E1BC9BF04000000ULL,
  0xB1A2BC2EC5000000ULL, 0xDE0B6B3A76400000ULL, 0x8AC7230489E80000ULL,
  0xAD78EBC5AC620000ULL, 0xD8D726B7177A8000ULL, 0x878678326EAC9000ULL,
};

/* D x 10^E to the nearest double, by one operation; false when D is too long or E too far for that. */
static bool upsurge_decimal_exact(uint64_t significand, int64_t exponent, bool negative, uint64_t *bits)
    __attribute__((unused, noinline, cold));
static bool upsurge_decimal_exact(uint64_t significand, int64_t exponent, bool negative, uint64_t *bits) {
  if (significand >> 53 || exponent < -UPSURGE_POWER_LIMIT || exponent > UPSURGE_POWER_LIMIT) return false;
  double value = (double)(int64_t)significand;
  value = exponent < 0 ? value / upsurge_powers[-exponent] : value * upsurge_powers[exponent];
  *bits = upsurge_double_bits(value, negative);
  return true;
}

/* The same, in most cases without a division. */
static inline bool upsurge_decimal_fast(uint64_t significand, int64_t exponent, bool negative, uint64_t *bits) {
  uint64_t sign = (uint64_t)negative << 63;
  if (significand == 0) {
    *bits = sign;
    return true;
  }
  if (significand >> 53 || exponent < -UPSURGE_POWER_LIMIT || exponent > UPSURGE_POWER_LIMIT) return false;
  int zeros = __builtin_clzll(significand);
  unsigned __int128 product =
      (unsigned __int128)(significand << zeros) * upsurge_power_mantissas[exponent + UPSURGE_POWER_LIMIT];
  int64_t binary = 64 + ((exponent * 217706) >> 16) - zeros;
  if (!(product >> 127)) {
    product <<= 1;
    binary--;
  }
  uint64_t upper = (uint64_t)(product >> 64);
  uint64_t low = upper & 0x7FF;
  if (__builtin_expect(low - (0x400 - UPSURGE_TIE_MARGIN) <= 2 * UPSURGE_TIE_MARGIN, 0)) {
    return upsurge_decimal_exact(significand, exponent, negative, bits);
  }
  uint64_t rounded = (upper >> 11) + (low >> 10);
  *bits = sign | (((uint64_t)(binary + 1022) << 52) + rounded);
  return true;
}

/* A text taken apart by SQLite's rule. */
typedef struct {
  /* The significant digits as an integer, when there are at most 19. */
  uint64_t significand;
  /* How many digits are left without leading and trailing zeros. */
  size_t digit_count;
  /* Power of ten of the last significant digit. */
  int64_t exponent;
  size_t whole_count;
  bool is_negative;
  /* White space around, a plus sign, or leading zeros. */
  bool is_decorated;
  bool has_point, has_exponent, has_exponent_sign;
} upsurge_decimal;

static inline bool upsurge_is_digit(uint8_t byte) { return (uint8_t)(byte - '0') <= 9; }

/* What sqlite3Isspace takes for white space. */
static inline bool upsurge_is_space(uint8_t byte) { return byte == ' ' || (uint8_t)(byte - '\t') <= 4; }

/* Takes a text apart; false when it is no number by SQLite's rule (white space, sign, digits with at most one
 * point and at least one digit, exponent with at least one digit, white space). */
static bool upsurge_decimal_read(const uint8_t *text, size_t count, upsurge_decimal *decimal)
    __attribute__((unused, noinline));
static bool upsurge_decimal_read(const uint8_t *text, size_t count, upsurge_decimal *decimal) {
  const uint8_t *p = text, *end = text + count;
  memset(decimal, 0, sizeof *decimal);
  while (p < end && upsurge_is_space(*p)) p++;
  decimal->is_decorated = p > text;
  if (p < end && (*p == '-' || *p == '+')) {
    decimal->is_negative = *p == '-';
    decimal->is_decorated |= *p == '+';
    p++;
  }
  const uint8_t *digits = p;
  size_t index = 0, last = 0, zeros = 0;
  for (; p < end; p++) {
    if (*p == '.') {
      if (decimal->has_point) return false;
      decimal->has_point = true;
      decimal->whole_count = index;
      continue;
    }
    if (!upsurge_is_digit(*p)) break;
    index++;
    if (*p == '0') {
      zeros += decimal->digit_count > 0;
      continue;
    }
    decimal->digit_count += zeros + 1;
    if (decimal->digit_count <= 19) {
      for (; zeros > 0; zeros--) decimal->significand *= 10;
      decimal->significand = decimal->significand * 10 + (uint64_t)(*p - '0');
    }
    zeros = 0;
    last = index;
  }
  if (index == 0) return false;
  if (!decimal->has_point) decimal->whole_count = index;
  decimal->is_decorated |= decimal->whole_count > 1 && *digits == '0';
  int64_t exponent = 0;
  if (p < end && (*p | 0x20) == 'e') {
    decimal->has_exponent = true;
    p++;
    bool is_negative = p < end && *p == '-';
    decimal->has_exponent_sign = p < end && (*p == '-' || *p == '+');
    p += decimal->has_exponent_sign;
    if (p == end || !upsurge_is_digit(*p)) return false;
    for (; p < end && upsurge_is_digit(*p); p++) {
      if (exponent < 1000000) exponent = exponent * 10 + (*p - '0');
    }
    if (is_negative) exponent = -exponent;
  }
  decimal->exponent = exponent + (int64_t)decimal->whole_count - (int64_t)last;
  decimal->is_decorated |= p < end;
  while (p < end && upsurge_is_space(*p)) p++;
  return p == end;
}

/* The correctly rounded double of at most 19 significant digits; false on overflow and underflow. The text
 * given to strtod has no decimal point, so the locale does not matter. */
static bool upsurge_decimal_round(const upsurge_decimal *decimal, double *value) __attribute__((unused, noinline));
static bool upsurge_decimal_round(const upsurge_decimal *decimal, double *value) {
  char text[64];
  if (decimal->significand == 0) {
    *value = decimal->is_negative ? -0.0 : 0.0;
    return true;
  }
  int64_t magnitude = decimal->exponent + (int64_t)decimal->digit_count;
  if (magnitude > 310 || magnitude < -325) return false;
  snprintf(text, sizeof text, "%s%llue%d", decimal->is_negative ? "-" : "",
           (unsigned long long)decimal->significand, (int)decimal->exponent);
  *value = strtod(text, NULL);
  return *value != 0 && *value - *value == 0;
}

/* Whether a double keeps every digit: always with up to 15 digits, with 16 and 17 when it prints the same. */
static bool upsurge_decimal_is_held(const upsurge_decimal *decimal) __attribute__((unused, noinline));
static bool upsurge_decimal_is_held(const upsurge_decimal *decimal) {
  if (decimal->digit_count > 17) return false;
  int64_t magnitude = decimal->exponent + (int64_t)decimal->digit_count;
  if (decimal->digit_count <= 15 && magnitude <= 308 && magnitude > -307) return true;
  if (decimal->digit_count == 0) return true;
  double value;
  if (!upsurge_decimal_round(decimal, &value)) return false;
  char text[64];
  snprintf(text, sizeof text, "%.*e", (int)decimal->digit_count - 1, value);
  uint64_t printed = 0;
  const char *p = text;
  for (; *p && *p != 'e'; p++) {
    if (upsurge_is_digit((uint8_t)*p)) printed = printed * 10 + (uint64_t)(*p - '0');
  }
  /* 9.99...e307 must not pass as 1.00...e308 */
  return printed == decimal->significand && *p == 'e' && strtol(p + 1, NULL, 10) == magnitude - 1;
}

static int upsurge_number_scan_slowly(const uint8_t *text, size_t count, uint64_t *bits)
    __attribute__((unused, noinline));
static int upsurge_number_scan_slowly(const uint8_t *text, size_t count, uint64_t *bits) {
  upsurge_decimal decimal;
  if (!upsurge_decimal_read(text, count, &decimal)) return UPSURGE_NUMBER_NONE;
  if (decimal.is_decorated) return UPSURGE_NUMBER_RESPELLED;
  /* A plain integer that was not fast, or `12E4`, which may be a code. */
  if (!decimal.has_point && !decimal.has_exponent_sign) return UPSURGE_NUMBER_RESPELLED;
  if (!upsurge_decimal_is_held(&decimal)) return UPSURGE_NUMBER_RESPELLED;
  if (upsurge_decimal_fast(decimal.significand, decimal.exponent, decimal.is_negative, bits)) {
    return UPSURGE_NUMBER_REAL;
  }
  double value;
  if (!upsurge_decimal_round(&decimal, &value)) return UPSURGE_NUMBER_RESPELLED;
  *bits = upsurge_double_bits(value, false);
  return UPSURGE_NUMBER_REAL;
}

/* Whether an integer is one of 64 bits. */
static inline bool upsurge_decimal_is_long(const upsurge_decimal *decimal) {
  int64_t magnitude = decimal->exponent + (int64_t)decimal->digit_count;
  if (magnitude < 19) return true;
  if (magnitude > 19) return false;
  uint64_t value = decimal->significand;
  for (int64_t zeros = decimal->exponent; zeros > 0; zeros--) value *= 10;
  return value <= (uint64_t)INT64_MAX + decimal->is_negative;
}

/* The nearest double of a RESPELLED number, which a column of numbers stores instead of it; false for no number, and for
 * an integer of 64 bits in whatever spelling, which SQLite reads exactly. */
static bool upsurge_number_nearest(const uint8_t *text, size_t count, uint64_t *bits)
    __attribute__((unused, noinline));
static bool upsurge_number_nearest(const uint8_t *text, size_t count, uint64_t *bits) {
  upsurge_decimal decimal;
  if (!upsurge_decimal_read(text, count, &decimal)) return false;
  if (!decimal.has_point && !decimal.has_exponent && upsurge_decimal_is_long(&decimal)) return false;
  if (decimal.digit_count <= 19 &&
      upsurge_decimal_fast(decimal.significand, decimal.exponent, decimal.is_negative, bits)) {
    return true;
  }
  /* Without a point, so that the locale does not matter. */
  char digits[UPSURGE_DIGIT_LIMIT + 32];
  size_t kept = 0, wanted = decimal.digit_count < UPSURGE_DIGIT_LIMIT ? decimal.digit_count : UPSURGE_DIGIT_LIMIT;
  for (const uint8_t *p = text; kept < wanted; p++) {
    if (upsurge_is_digit(*p) && (kept > 0 || *p != '0')) digits[kept++] = (char)*p;
  }
  int64_t exponent = decimal.exponent + (int64_t)(decimal.digit_count - kept);
  if (kept < decimal.digit_count) {
    digits[kept++] = '1';
    exponent--;
  }
  if (kept == 0) digits[kept++] = '0';
  snprintf(digits + kept, sizeof digits - kept, "e%lld", (long long)exponent);
  *bits = upsurge_double_bits(strtod(digits, NULL), decimal.is_negative);
  return true;
}

/* Classifies a text by what SQLite's numeric affinities would make of it. `bits` receives the integer's or the
 * double's bits for INTEGER and REAL. */
static inline int upsurge_number_scan(const uint8_t *text, size_t count, uint64_t *bits) {
  const uint8_t *p = text, *end = text + count;
  bool negative = count > 0 && *p == '-';
  p += negative;
  const uint8_t *digits = p;
  uint64_t value = 0; /* wraps when there are too many digits, which is tested below */
  while (p < end && upsurge_is_digit(*p)) value = value * 10 + (uint64_t)(*p++ - '0');
  size_t whole = (size_t)(p - digits);
  if (p == end) {
    bool is_plain = whole - 1 < 19 && (*digits != '0' || (whole == 1 && !negative));
    if (!is_plain || value > (uint64_t)INT64_MAX + negative) return upsurge_number_scan_slowly(text, count, bits);
    *bits = negative ? 0 - value : value;
    return UPSURGE_NUMBER_INTEGER;
  }
  if (*p == '.' && whole - 1 < 15 && (*digits != '0' || whole == 1)) {
    const uint8_t *fraction = ++p;
    while (p < end && upsurge_is_digit(*p)) value = value * 10 + (uint64_t)(*p++ - '0');
    size_t places = (size_t)(p - fraction);
    if (p == end && places > 0 && whole + places <= 15) {
      upsurge_decimal_fast(value, -(int64_t)places, negative, bits);
      return UPSURGE_NUMBER_REAL;
    }
  }
  return upsurge_number_scan_slowly(text, count, bits);
}

/* The same for a JSON number (RFC 8259 grammar already checked): INTEGER or REAL with its bits, or RESPELLED when
 * neither 64 bits nor a double hold what it says. */
static int upsurge_number_scan_json_slowly(const uint8_t *text, size_t count, uint64_t *bits)
    __attribute__((unused, noinline));
static int upsurge_number_scan_json_slowly(const uint8_t *text, size_t count, uint64_t *bits) {
  upsurge_decimal decimal;
  double value;
  if (!upsurge_decimal_read(text, count, &decimal)) return UPSURGE_NUMBER_NONE;
  bool is_integer = !decimal.has_point && !decimal.has_exponent;
  if (is_integer && decimal.significand != 0) return UPSURGE_NUMBER_RESPELLED;
  if (!upsurge_decimal_is_held(&decimal)) return UPSURGE_NUMBER_RESPELLED;
  if (upsurge_decimal_fast(decimal.significand, decimal.exponent, decimal.is_negative, bits)) {
    return UPSURGE_NUMBER_REAL;
  }
  if (!upsurge_decimal_round(&decimal, &value)) return UPSURGE_NUMBER_RESPELLED;
  *bits = upsurge_double_bits(value, false);
  return UPSURGE_NUMBER_REAL;
}

static inline int upsurge_number_scan_json(const uint8_t *text, size_t count, uint64_t *bits) {
  int found = upsurge_number_scan(text, count, bits);
  if (found == UPSURGE_NUMBER_INTEGER || found == UPSURGE_NUMBER_REAL) return found;
  return upsurge_number_scan_json_slowly(text, count, bits);
}

#endif
