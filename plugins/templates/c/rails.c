#include "rails.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Room for so much more. Without memory there is nothing left to do, and the host replaces the instance.
static void reserve(rails_text *text, size_t more) {
    if (text->room - text->length >= more) return;
    text->room = 2 * text->room + more;
    text->bytes = realloc(text->bytes, text->room);
    if (!text->bytes) abort();
}

void rails_print(rails_text *text, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int length = vsnprintf(NULL, 0, format, values);
    va_end(values);
    reserve(text, (size_t)length + 1);
    va_start(values, format);
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, values);
    va_end(values);
    text->length += (size_t)length;
}

void rails_print_string(rails_text *text, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    rails_print(text, "\"");
    for (size_t i = 0; i < length; i++) {
        if (at[i] == '"' || at[i] == '\\') rails_print(text, "\\%c", at[i]);
        else if (at[i] < 0x20) rails_print(text, "\\u%04x", at[i]);
        else rails_print(text, "%c", at[i]);
    }
    rails_print(text, "\"");
}

void rails_print_number(rails_text *text, bool is_some, int64_t value) {
    if (is_some) rails_print(text, "%lld", (long long)value);
    else rails_print(text, "null");
}

bool rails_number(const void *bytes, size_t length, int64_t *value) {
    const char *at = bytes;
    int64_t number = 0;
    if (length == 0 || length > 9) return false;
    for (size_t i = 0; i < length; i++) {
        if (at[i] < '0' || at[i] > '9') return false;
        number = 10 * number + (at[i] - '0');
    }
    *value = number;
    return true;
}

static size_t skip_space(const char *json, size_t length, size_t at) {
    while (at < length && memchr(" \t\r\n", json[at], 4)) at++;
    return at;
}

bool rails_warning(const void *bytes, size_t length, int64_t *value) {
    static const char key[] = "\"" RAILS_KEY "\"";
    const size_t key_length = sizeof key - 1;
    const char *json = bytes;
    for (size_t at = 0; at + key_length < length; at++) {
        if (memcmp(json + at, key, key_length) != 0) continue;
        at = skip_space(json, length, at + key_length);
        if (at == length || json[at] != ':') return false;
        size_t begin = skip_space(json, length, at + 1), end = begin;
        while (end < length && json[end] >= '0' && json[end] <= '9') end++;
        size_t after = skip_space(json, length, end);
        bool ends = after < length && (json[after] == ',' || json[after] == '}');
        return ends && rails_number(json + begin, end - begin, value) && *value >= RAILS_LEAST && *value <= RAILS_MOST;
    }
    return false;
}

bool rails_is_high(bool is_some, int64_t microamperes, int64_t warn_milliamperes) {
    return is_some && microamperes > warn_milliamperes * 1000;
}
