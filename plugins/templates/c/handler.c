// The plugin: its routes, and which function answers each.
#include "bindings/plugin.h"
#include "rails.h"

#include <stdlib.h>
#include <string.h>

typedef exports_hostd_plugin_http_request_t request_t;
typedef exports_hostd_plugin_http_response_t response_t;
typedef hostd_plugin_types_error_t error_t;

// The bindings want to be told which object names the world. `hostd plugin component` reads the world itself.
void __component_type_object_force_link_plugin(void) {}

// A text of ours, which the callee does not free.
static plugin_string_t constant(const char *text) { return (plugin_string_t){(uint8_t *)text, strlen(text)}; }

static void reply(response_t *response, uint16_t status, rails_text body) {
    response->status = status;
    response->headers.ptr = malloc(sizeof *response->headers.ptr);
    response->headers.len = 1;
    plugin_string_dup(&response->headers.ptr[0].f0, "content-type");
    plugin_string_dup(&response->headers.ptr[0].f1, "application/json");
    response->body.ptr = (uint8_t *)body.bytes;
    response->body.len = body.length;
}

static uint16_t status_of(plugin_string_t code) {
    static const struct { const char *code; uint16_t status; } known[] = {
        {"invalid", 400}, {"not_granted", 403}, {"missing_scope", 403}, {"not_found", 404}, {"quota_exceeded", 507},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (code.len == strlen(known[i].code) && memcmp(code.ptr, known[i].code, code.len) == 0) return known[i].status;
    return 500;
}

static void refuse(response_t *response, const request_t *request, plugin_string_t code, plugin_string_t message) {
    rails_text body = {0};
    rails_print(&body, "{\"error\":");
    rails_print_string(&body, message.ptr, message.len);
    rails_print(&body, ",\"code\":");
    rails_print_string(&body, code.ptr, code.len);
    rails_print(&body, ",\"request_id\":");
    rails_print_string(&body, request->id.ptr, request->id.len);
    rails_print(&body, "}");
    reply(response, status_of(code), body);
}

// The current in mA above which a rail is marked: what was stored, else what the operator configured.
static bool warning(int64_t *value, error_t *error) {
    plugin_string_t key = constant(RAILS_KEY);
    hostd_plugin_store_option_entry_t kept;
    if (!hostd_plugin_store_get(&key, &kept, error)) return false;
    if (kept.is_some) {
        bool is_number = rails_number(kept.val.value.ptr, kept.val.value.len, value);
        hostd_plugin_store_option_entry_free(&kept);
        if (is_number) return true;
    }
    plugin_string_t config;
    hostd_plugin_config_get(&config);
    rails_warning(config.ptr, config.len, value);
    plugin_string_free(&config);
    return true;
}

static void print_rails(rails_text *text, plugin_string_t name, hostd_plugin_power_list_rail_t rails, int64_t warn) {
    for (size_t i = 0; i < rails.len; i++) {
        hostd_plugin_power_rail_t *rail = &rails.ptr[i];
        bool is_high = rails_is_high(rail->microamperes.is_some, rail->microamperes.val, warn);
        rails_print(text, "%s{\"device\":", text->length ? "," : "");
        rails_print_string(text, name.ptr, name.len);
        rails_print(text, ",\"rail\":%d,\"on\":%s,\"millivolts\":", rail->id, rail->on ? "true" : "false");
        rails_print_number(text, rail->millivolts.is_some, rail->millivolts.val);
        rails_print(text, ",\"microamperes\":");
        rails_print_number(text, rail->microamperes.is_some, rail->microamperes.val);
        rails_print(text, ",\"high\":%s}", is_high ? "true" : "false");
    }
}

// Ask one device.
static void print_device(rails_text *rails, rails_text *skipped, hostd_plugin_devices_borrow_device_t device, int64_t warn) {
    plugin_string_t id, name;
    hostd_plugin_devices_method_device_id(device, &id);
    hostd_plugin_devices_method_device_name(device, &name);
    hostd_plugin_power_list_rail_t found;
    error_t error;
    if (hostd_plugin_power_rails(&id, &found, &error)) {
        print_rails(rails, name, found, warn);
        hostd_plugin_power_list_rail_free(&found);
    } else {
        rails_print(skipped, "%s{\"device\":", skipped->length ? "," : "");
        rails_print_string(skipped, name.ptr, name.len);
        rails_print(skipped, ",\"code\":");
        rails_print_string(skipped, error.code.ptr, error.code.len);
        rails_print(skipped, "}");
        hostd_plugin_types_error_free(&error);
    }
    plugin_string_free(&id);
    plugin_string_free(&name);
}

static bool show(const request_t *request, response_t *response, error_t *error) {
    (void)request;
    int64_t warn = RAILS_MOST;
    hostd_plugin_devices_list_own_device_t devices;
    if (!warning(&warn, error) || !hostd_plugin_devices_list(&devices, error)) return false;
    rails_text rails = {0}, skipped = {0}, body = {0};
    for (size_t i = 0; i < devices.len; i++)
        print_device(&rails, &skipped, hostd_plugin_devices_borrow_device(devices.ptr[i]), warn);
    hostd_plugin_devices_list_own_device_free(&devices);
    rails_print(&body, "{\"" RAILS_KEY "\":%lld,\"rails\":[%.*s],\"skipped\":[%.*s]}", (long long)warn, (int)rails.length,
                rails.length ? rails.bytes : "", (int)skipped.length, skipped.length ? skipped.bytes : "");
    free(rails.bytes);
    free(skipped.bytes);
    reply(response, 200, body);
    return true;
}

static bool set_warning(const request_t *request, response_t *response, error_t *error) {
    int64_t value;
    if (!rails_warning(request->body.ptr, request->body.len, &value)) {
        refuse(response, request, constant("invalid"), constant(RAILS_KEY " must be a number from 1 to 10000"));
        return true;
    }
    rails_text text = {0}, body = {0};
    rails_print(&text, "%lld", (long long)value);
    plugin_string_t key = constant(RAILS_KEY);
    plugin_list_u8_t bytes = {(uint8_t *)text.bytes, text.length};
    uint64_t version;
    bool is_kept = hostd_plugin_store_put(&key, &bytes, &version, error);
    free(text.bytes);
    if (!is_kept) return false;
    rails_print(&body, "{\"" RAILS_KEY "\":%lld}", (long long)value);
    reply(response, 200, body);
    return true;
}

static const struct {
    const char *name, *method, *pattern, *summary;
    uint32_t body_limit;
    bool (*answer)(const request_t *, response_t *, error_t *);
} ROUTES[] = {
    {"rails", "GET", "/rails", "What every rail of every device draws", 0, show},
    {"warning", "PUT", "/warning", "Set the current above which a rail is marked", 1024, set_warning},
};
#define ROUTES_LEN (sizeof ROUTES / sizeof *ROUTES)

void exports_hostd_plugin_http_routes(exports_hostd_plugin_http_list_route_t *routes) {
    routes->len = ROUTES_LEN;
    routes->ptr = calloc(ROUTES_LEN, sizeof *routes->ptr);
    for (size_t i = 0; i < ROUTES_LEN; i++) {
        exports_hostd_plugin_http_route_t *route = &routes->ptr[i];
        plugin_string_dup(&route->name, ROUTES[i].name);
        plugin_string_dup(&route->method, ROUTES[i].method);
        plugin_string_dup(&route->pattern, ROUTES[i].pattern);
        plugin_string_dup(&route->summary, ROUTES[i].summary);
        plugin_string_dup(&route->openapi, "");
        route->scope.is_some = true;
        plugin_string_dup(&route->scope.val, "bench:control");
        route->body_limit = ROUTES[i].body_limit;
    }
}

void exports_hostd_plugin_http_handle(request_t *request, response_t *response) {
    error_t error;
    memset(response, 0, sizeof *response);
    if (!ROUTES[request->route].answer(request, response, &error)) {
        refuse(response, request, error.code, error.message);
        hostd_plugin_types_error_free(&error);
    }
    exports_hostd_plugin_http_request_free(request);
}
