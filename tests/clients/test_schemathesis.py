"""Schemathesis against a running server: requests made up from its own OpenAPI document, seeded and
bounded, each operation an item. No answer may be a 5xx that says the server failed, and every answer
must be one that the document describes."""

import itertools
import os

import hypothesis
import pytest
import requests
import schemathesis
from schemathesis.specs.openapi import checks as openapi

BASE = os.environ["BENCHPOD_API_BASE"]
KEY = os.environ["BENCHPOD_API_KEY"]
DEVICE = os.environ["BENCHPOD_E2E_CLOUD_DEVICE"]

# Requests for each operation.
EXAMPLES_MAX = 20

# Patience with one answer: the longest that a command may ask for is cut by the checks below.
ANSWER_WAIT_S = 30

CHECKS = [
    openapi.status_code_conformance,
    openapi.content_type_conformance,
    openapi.response_schema_conformance,
]

# Refusals that tell of the bench or the load, not of a fault of the server.
EXPECTED_5XX = {"device_offline", "device_timeout", "overloaded", "pod_protocol"}

TURNS = itertools.count()

schema = schemathesis.openapi.from_url(f"{BASE}/api/openapi.json")


def api(method, path, **arguments):
    answer = requests.request(
        method,
        f"{BASE}/api{path}",
        headers={"Authorization": f"ApiKey {KEY}"},
        timeout=ANSWER_WAIT_S,
        **arguments,
    )
    answer.raise_for_status()
    return answer.json()


@pytest.fixture(scope="session")
def real():
    """Objects that exist, by the name of the member or parameter that takes them."""
    device = next(d for d in api("GET", "/bench/devices")["devices"] if d["name"] == DEVICE)
    order = {"device_id": device["id"], "samples": 1000, "sample_rate_mhz": 1.0, "voltage_mv": 3300}
    capture = api("POST", "/la/captures/start", json=order)["capture_id"]
    return {"device": DEVICE, "device_id": device["id"], "/bench/devices/{id}": device["id"],
            "/capture/{id}": capture}


def credential(security):
    """What the operation takes: the key, or a session token made for this one request."""
    kinds = {kind for one in security for kind in one}
    if "apiKey" in kinds:
        return f"ApiKey {KEY}"
    if "cloudSession" in kinds:
        return f"Bearer {api('POST', '/auth/token')['token']}"
    # Signing in takes a code that only the server's terminal shows: 403 must do.
    return f"ApiKey {KEY}"


def point_at_real(case, real):
    """Every other request is about something that exists."""
    for pattern in ("/bench/devices/{id}", "/capture/{id}"):
        removes = case.method == "DELETE"
        if pattern in case.path and case.path_parameters and not removes:
            case.path_parameters["id"] = real[pattern]
    if isinstance(case.body, dict) and "device_id" in case.body:
        case.body["device_id"] = real["device_id"]
    if case.method == "PATCH" and isinstance(case.body, dict):
        # Others look for it by its name.
        case.body.pop("name", None)
    if case.path.startswith("/api/cloud/devices"):
        case.query = {**(case.query or {}), "device": real["device"]}


@schema.parametrize()
@hypothesis.settings(
    max_examples=EXAMPLES_MAX,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
def test_operation(case, real):
    if next(TURNS) % 2:
        point_at_real(case, real)
    # A made-up wait must not hold the run up.
    if isinstance(case.body, dict) and isinstance(case.body.get("timeout_ms"), int):
        case.body["timeout_ms"] = min(case.body["timeout_ms"], 1000)
    security = case.operation.definition.raw.get("security", [])
    answer = case.call(headers={"Authorization": credential(security)}, timeout=ANSWER_WAIT_S)
    if answer.status_code >= 500:
        assert answer.json()["code"] in EXPECTED_5XX, answer.text
    case.validate_response(answer, checks=CHECKS)
