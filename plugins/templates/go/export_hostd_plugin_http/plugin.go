// Package export_hostd_plugin_http is the plugin: its routes, and which function answers each. The generated
// wit_exports.go calls it, and knows it by this name.
package export_hostd_plugin_http

import (
	"encoding/json"

	wit "go.bytecodealliance.org/pkg/wit/types"
	"wit_component/hostd_plugin_http"
	"wit_component/rails"
)

type route struct {
	hostd_plugin_http.Route
	answer func(hostd_plugin_http.Request) (any, error)
}

var routes = []route{
	{declared("rails", "GET", "/rails", 0, "What every rail of every device draws"), show},
	{declared("warning", "PUT", "/warning", 1024, "Set the current above which a rail is marked"), setWarning},
}

func declared(name, method, pattern string, bodyLimit uint32, summary string) hostd_plugin_http.Route {
	return hostd_plugin_http.Route{
		Name: name, Method: method, Pattern: pattern, Scope: wit.Some("bench:control"), BodyLimit: bodyLimit,
		Summary: summary,
	}
}

func show(hostd_plugin_http.Request) (any, error) {
	warning, err := rails.Warning(host{})
	if err != nil {
		return nil, err
	}
	return rails.Take(host{}, warning)
}

func setWarning(request hostd_plugin_http.Request) (any, error) {
	value, err := rails.SetWarning(host{}, request.Body)
	return map[string]int64{rails.Key: value}, err
}

// Routes returns the endpoints.
func Routes() []hostd_plugin_http.Route {
	var all []hostd_plugin_http.Route
	for _, route := range routes {
		all = append(all, route.Route)
	}
	return all
}

// Handle answers one request.
func Handle(request hostd_plugin_http.Request) hostd_plugin_http.Response {
	value, err := routes[request.Route].answer(request)
	if err == nil {
		return reply(200, value)
	}
	code := rails.Code(err)
	body := map[string]string{"error": err.Error(), "code": code, "request_id": request.Id}
	return reply(status(code), body)
}

func status(code string) uint16 {
	switch code {
	case "invalid":
		return 400
	case "not_granted", "missing_scope":
		return 403
	case "not_found":
		return 404
	case "quota_exceeded":
		return 507
	}
	return 500
}

func reply(status uint16, value any) hostd_plugin_http.Response {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	headers := []wit.Tuple2[string, string]{{F0: "content-type", F1: "application/json"}}
	return hostd_plugin_http.Response{Status: status, Headers: headers, Body: body}
}
