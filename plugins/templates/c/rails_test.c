// The part of the plugin that needs no host, on the machine where it is written.
#include "rails.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(bool is_true, const char *what) {
    if (is_true) return;
    fprintf(stderr, "not so: %s\n", what);
    exit(1);
}

static bool warning(const char *json, int64_t *value) { return rails_warning(json, strlen(json), value); }

int main(void) {
    int64_t value = 0;
    expect(warning("{ \"warn_milliamperes\" : 250 }", &value) && value == 250, "a body has the setting");
    const char *wrong[] = {"", "{}", "[]", "{\"warn_milliamperes\"", "{\"warn_milliamperes\": 0}",
                           "{\"warn_milliamperes\": 10001}", "{\"warn_milliamperes\": \"9\"}",
                           "{\"warn_milliamperes\": 9.5}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) expect(!warning(wrong[i], &value), wrong[i]);

    expect(rails_is_high(true, 600000, 500), "600 mA is more than 500 mA");
    expect(!rails_is_high(true, 500000, 500), "500 mA is not");
    expect(!rails_is_high(false, 600000, 500), "a rail that is not measured is not high");

    rails_text text = {0};
    rails_print_string(&text, "a\"b\n", 4);
    rails_print_number(&text, true, -5);
    rails_print_number(&text, false, 7);
    expect(strcmp(text.bytes, "\"a\\\"b\\u000a\"-5null") == 0, text.bytes);
    free(text.bytes);
    puts("all is well");
}
