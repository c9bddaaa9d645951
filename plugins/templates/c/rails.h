// What needs no host: numbers and JSON.
#ifndef RAILS_H
#define RAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAILS_KEY "warn_milliamperes"
#define RAILS_LEAST 1
#define RAILS_MOST 10000

// Text that grows.
typedef struct {
    char *bytes;
    size_t length, room;
} rails_text;

// Append as printf does.
void rails_print(rails_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Append a JSON string.
void rails_print_string(rails_text *text, const void *bytes, size_t length);

// Append a number, or null if there is none.
void rails_print_number(rails_text *text, bool is_some, int64_t value);

// The whole number that the member `warn_milliamperes` of a JSON object has; false if there is none, or if it is out of
// bounds.
bool rails_warning(const void *json, size_t length, int64_t *value);

// The decimal number that a text is.
bool rails_number(const void *bytes, size_t length, int64_t *value);

// Whether a rail draws more than it should.
bool rails_is_high(bool is_some, int64_t microamperes, int64_t warn_milliamperes);

#endif
