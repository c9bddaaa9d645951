"""The plugin: its routes, and which function answers each."""

import json

import rails
from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.http import Request, Response, Route
from wit_world.imports import config, devices, power, store

STATUS = {"invalid": 400, "not_granted": 403, "missing_scope": 403, "not_found": 404, "quota_exceeded": 507}


def show(_):
    return rails.report(devices, power, rails.warning(config, store), Err)


def set_warning(request):
    return {rails.KEY: rails.set_warning(store, request.body)}


def get(name, pattern, summary):
    return Route(name, "GET", pattern, "bench:control", False, 0, summary, "", [])


ROUTES = [
    (get("rails", "/rails", "What every rail of every device draws"), show),
    (
        Route(
            "warning", "PUT", "/warning", "bench:control", False, 1024,
            "Set the current above which a rail is marked", "", [],
        ),
        set_warning,
    ),
]


def reply(status, value):
    return Response(status, [("content-type", "application/json")], json.dumps(value).encode(), [])


def refusal(request, status, code, message):
    return reply(status, {"error": message, "code": code, "request_id": request.id})


class Http(exports.Http):
    def routes(self):
        return [route for route, _ in ROUTES]

    def handle(self, request: Request) -> Response:
        _, answer = ROUTES[request.route]
        try:
            return reply(200, answer(request))
        except rails.Refused as refused:
            return refusal(request, refused.status, refused.code, str(refused))
        except Err as error:
            code = error.value.code
            return refusal(request, STATUS.get(code, 500), code, error.value.message)
