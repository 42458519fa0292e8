#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "random.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static const char *const first_names[] = {
  "Ada", "Amir", "Bruno", "Chloé", "Dinah", "Emeka", "Fatima", "Grace", "Hiro", "Ingrid", "Jorge", "Katarzyna",
  "Liam", "Mei", "Nadia", "Oluwaseun", "Priya", "Quentin", "Rosa", "Søren", "Tomás", "Uma", "Viktor", "Yasmin",
};
static const char *const last_names[] = {
  "Andersen", "Baker", "Castillo", "Dubois", "Eriksen", "Fischer", "Garcia", "Haddad", "Ivanova", "Johnson",
  "Kowalski", "Larsen", "Müller", "Nakamura", "Okafor", "Petrov", "Quinn", "Rossi", "Schmidt", "Tanaka",
  "Underwood", "Vasquez", "Williams", "Zhang",
};
static const char *const categories[] = {
  "books", "garden", "grocery", "hardware", "kitchen", "lighting", "music", "office", "outdoor", "sports", "toys",
};
static const char *const companies[] = {
  "Acme", "Blue Harbor", "Cobalt Works", "Delta Freight", "Meyer, Son & Co", "Northwind", "O'Brien Ltd",
  "Pine \"Hill\" Dairy", "Quarry", "Sunrise Foods",
};
static const char *const streets[] = {
  "Church Street", "High Street", "Hill Road", "Lake View", "Main Street", "Mill Lane", "Oak Avenue", "Park Road",
};
static const char *const cities[] = {
  "Berlin", "Chicago", "Lagos", "Lima", "Lyon", "Oslo", "Osaka", "Porto", "São Paulo", "Warsaw", "Washington, D.C.",
};
static const char *const countries[] = {"BR", "DE", "FR", "JP", "NG", "NO", "PE", "PL", "PT", "US"};
static const char *const notes[] = {
  "called back", "prefers mail", "said \"later\"", "gate code, then ring", "two lines:\nleave at the door", "",
};

static void put_word(record_writer *writer, const char *word) { put_text(writer, word, strlen(word)); }

static const char *pick(random_stream *stream, const char *const *words, uint32_t count) {
  return words[random_below(stream, count)];
}

static void put_two_digits(char *text, uint32_t value) {
  text[0] = (char)('0' + value / 10);
  text[1] = (char)('0' + value % 10);
}

// A day of 2020-2025 as YYYY-MM-DD; never the 29th to 31st, so that every month serves.
static void put_date(char *text, random_stream *stream) {
  memcpy(text, "2020-01-01", 10);
  text[3] = (char)('0' + random_below(stream, 6));
  put_two_digits(text + 5, 1 + random_below(stream, 12));
  put_two_digits(text + 8, 1 + random_below(stream, 28));
}

static void put_date_time(record_writer *writer, random_stream *stream) {
  char text[19];
  put_date(text, stream);
  memcpy(text + 10, "T00:00:00", 9);
  put_two_digits(text + 11, random_below(stream, 24));
  put_two_digits(text + 14, random_below(stream, 60));
  put_two_digits(text + 17, random_below(stream, 60));
  put_text(writer, text, sizeof text);
}

// The stream of the columns that a later delivery may change: another one for the changed rows.
static random_stream changeable_stream(const generation *generation, uint64_t row) {
  random_stream stream = stream_for_row(generation->seed + 1, row);
  bool is_changed = random_below(&stream, 100) < generation->changed_percent;
  if (is_changed) stream.state ^= 0xA5A5A5A5A5A5A5A5u;
  return stream;
}

void put_narrow_row(record_writer *writer, const generation *generation, uint64_t row) {
  random_stream stream = stream_for_row(generation->seed, row);
  random_stream changeable = changeable_stream(generation, row);
  char name[64];
  const char *first = pick(&stream, first_names, COUNT(first_names));
  const char *last = pick(&stream, last_names, COUNT(last_names));
  size_t first_length = strlen(first), last_length = strlen(last);
  memcpy(name, first, first_length);
  name[first_length] = ' ';
  memcpy(name + first_length + 1, last, last_length);

  put_integer(writer, (int64_t)row);
  put_text(writer, name, first_length + 1 + last_length);
  put_word(writer, pick(&stream, categories, COUNT(categories)));
  put_integer(writer, random_below(&changeable, 1000));
  put_decimal(writer, random_below(&changeable, 1000000), 2);
  put_date_time(writer, &changeable);
}

static void put_wide_address(record_writer *writer, random_stream *stream) {
  char text[96];
  put_word(writer, pick(stream, companies, COUNT(companies)));
  uint32_t house = 1 + random_below(stream, 400);  // drawn before the street: arguments have no order in C
  int length = snprintf(text, sizeof text, "%u %s", house, pick(stream, streets, COUNT(streets)));
  put_text(writer, text, (size_t)length);
  put_word(writer, pick(stream, cities, COUNT(cities)));
  put_word(writer, pick(stream, countries, COUNT(countries)));
}

static void put_wide_person(record_writer *writer, random_stream *stream) {
  const char *first = pick(stream, first_names, COUNT(first_names));
  const char *last = pick(stream, last_names, COUNT(last_names));
  char text[96];
  put_word(writer, first);
  put_word(writer, last);
  int length = snprintf(text, sizeof text, "%s.%u@example.org", last, random_below(stream, 100000));
  put_text(writer, text, (size_t)length);
  put_wide_address(writer, stream);
  length = snprintf(text, sizeof text, "%05u", random_below(stream, 100000));
  put_text(writer, text, (size_t)length);
  length = snprintf(text, sizeof text, "+1 555 %07u", random_below(stream, 10000000));
  put_text(writer, text, (size_t)length);
}

void put_wide_row(record_writer *writer, const generation *generation, uint64_t row) {
  random_stream stream = stream_for_row(generation->seed, row);
  random_stream changeable = changeable_stream(generation, row);
  uint64_t key = mix(row ^ mix(generation->seed));  // a bijection of the row number: unique, in no order
  char text[32];
  text[0] = 'k';  // no key may look like a number
  for (int digit = 0; digit < 16; digit++) text[1 + digit] = "0123456789abcdef"[key >> (60 - 4 * digit) & 15];
  put_text(writer, text, 17);
  put_wide_person(writer, &stream);
  put_integer(writer, random_below(&changeable, 2));
  if (random_below(&stream, 20) == 0) put_null(writer);
  else put_integer(writer, 18 + random_below(&stream, 70));
  put_integer(writer, random_below(&changeable, 10000));
  put_decimal(writer, (int64_t)random_below(&changeable, 2000000) - 500000, 2);
  put_decimal(writer, (int64_t)random_below(&stream, 1800000) - 900000, 4);
  put_decimal(writer, (int64_t)random_below(&stream, 3600000) - 1800000, 4);
  if (random_below(&stream, 10) == 0) put_null(writer);
  else put_decimal(writer, random_below(&stream, 1000), 1);
  put_date(text, &stream);
  put_text(writer, text, 10);
  put_date_time(writer, &changeable);
  if (random_below(&stream, 2) == 0) put_null(writer);
  else put_word(writer, pick(&stream, notes, COUNT(notes)));
}
