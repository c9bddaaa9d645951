"""Schemathesis against a running server: requests made up from its own OpenAPI document, seeded and
bounded, each operation an item. No answer may be a 5xx that says the server failed, and every answer
must be one that the document describes."""

import io
import itertools
import os
import tarfile

import hypothesis
import pytest
import requests
import schemathesis
from schemathesis.specs.openapi import checks as openapi

BASE = os.environ["BENCHPOD_API_BASE"]
KEY = os.environ["BENCHPOD_API_KEY"]
DEVICE = os.environ["BENCHPOD_E2E_CLOUD_DEVICE"]
CODE = os.environ["HOSTD_SIGN_IN_CODE"]
LOGIN = "tester"
PASSWORD = "known to this test alone"

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


@schemathesis.serializer("application/x-tar")
def package(_context, value):
    """A packed plugin whose manifest is what was made up."""
    manifest = value if isinstance(value, bytes) else str(value).encode(errors="replace")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as files:
        about = tarfile.TarInfo("plugin.toml")
        about.size = len(manifest)
        files.addfile(about, io.BytesIO(manifest))
    return packed.getvalue()


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


# What can be made: the path that makes it with the document's own example, the member of its answer
# that names it, and the member of the example that must be another each time.
MAKERS = {
    "/bench/waveforms/{id}": ("/bench/waveforms", "id", "name"),
    "/cloud/builds/{build}": ("/cloud/builds", "build_id", "run_id"),
    "/github/trust/{id}": ("/github/trust", "id", None),
    "/keys/{kid}": ("/keys", "kid", "name"),
    "/users/{id}": ("/users", "id", "login"),
}


class Real:
    """Objects that exist, by the pattern of the paths that take them."""

    def __init__(self, person):
        self.person = person
        devices = api("GET", "/bench/devices")["devices"]
        self.device = next(d["id"] for d in devices if d["name"] == DEVICE)
        order = {"device_id": self.device, "samples": 1000, "sample_rate_mhz": 1.0, "voltage_mv": 3300}
        capture = api("POST", "/la/captures/start", json=order)["capture_id"]
        self.objects = {"/bench/devices/{id}": self.device, "/capture/{id}": capture}

    def of(self, pattern, is_removed):
        """The object for a path; a new one, where it can be made, for a request that removes it."""
        if pattern in MAKERS and (is_removed or pattern not in self.objects):
            made = self.make(*MAKERS[pattern])
            if is_removed:
                return made
            self.objects[pattern] = made
        return None if is_removed else self.objects.get(pattern)

    def make(self, path, named, unique):
        operation = schema.raw_schema["paths"][f"/api{path}"]["post"]
        body = dict(operation["requestBody"]["content"]["application/json"]["example"])
        if "devices" in body:
            body["devices"] = [DEVICE]
        if unique:
            body[unique] = f"{next(TURNS) + 1_000_000}"
        headers = {"Authorization": credential(operation["security"], self.person)}
        answer = requests.post(f"{BASE}/api{path}", json=body, headers=headers, timeout=ANSWER_WAIT_S)
        assert answer.ok, answer.text
        return answer.json()[named]


@pytest.fixture(scope="session")
def real(person):
    return Real(person)


class Person:
    """The owner that the code belongs to. Operations may end its session."""

    token = None
    has_password = False

    def authorization(self):
        if not self.has_password:
            self.token = self.call("POST", "/auth/session", {"code": CODE})["token"]
            self.token = self.call("PUT", "/auth/password", {"new": PASSWORD})["token"]
            self.has_password = True
        if not self.is_signed_in():
            self.token = None
            proof = {"login": LOGIN, "password": PASSWORD}
            self.token = self.call("POST", "/auth/session", proof)["token"]
        return f"Bearer {self.token}"

    def is_signed_in(self):
        headers = {"Authorization": f"Bearer {self.token}"}
        return requests.get(f"{BASE}/api/auth/session", headers=headers, timeout=ANSWER_WAIT_S).ok

    def call(self, method, path, body):
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        answer = requests.request(
            method, f"{BASE}/api{path}", headers=headers, json=body, timeout=ANSWER_WAIT_S
        )
        answer.raise_for_status()
        return answer.json()


@pytest.fixture(scope="session")
def person():
    return Person()


def credential(security, person):
    """What the operation takes: the key, or a session made for it."""
    kinds = {kind for one in security for kind in one}
    if "apiKey" in kinds:
        return f"ApiKey {KEY}"
    if "cloudSession" in kinds:
        return f"Bearer {api('POST', '/auth/token')['token']}"
    if "userSession" in kinds:
        return person.authorization()
    return f"ApiKey {KEY}"


def point_at_real(case, real):
    """Every other request is about something that exists."""
    path = case.path.removeprefix("/api")
    pattern = path[: path.find("}") + 1]
    is_removed = case.method == "DELETE" and path == pattern
    existing = real.of(pattern, is_removed) if case.path_parameters else None
    if existing:
        case.path_parameters[pattern[pattern.find("{") + 1 : -1]] = existing
    if isinstance(case.body, dict):
        if "device_id" in case.body:
            case.body["device_id"] = real.device
        if "waveform_id" in case.body:
            case.body["waveform_id"] = real.of("/bench/waveforms/{id}", is_removed=False)
        if case.method == "PATCH" and pattern == "/bench/devices/{id}":
            # Others look for it by its name.
            case.body.pop("name", None)
    if path.startswith("/cloud/devices"):
        case.query = {**(case.query or {}), "device": DEVICE}


@schema.parametrize()
@hypothesis.settings(
    max_examples=EXAMPLES_MAX,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
def test_operation(case, real, person):
    if next(TURNS) % 2:
        point_at_real(case, real)
    # A stream of events goes on until its client leaves.
    if case.operation.path == "/api/events":
        case.query = {**(case.query or {}), "seconds": 0}
    # A made-up wait must not hold the run up.
    if isinstance(case.body, dict) and isinstance(case.body.get("timeout_ms"), int):
        case.body["timeout_ms"] = min(case.body["timeout_ms"], 1000)
    security = case.operation.definition.raw.get("security", [])
    answer = case.call(headers={"Authorization": credential(security, person)}, timeout=ANSWER_WAIT_S)
    if answer.status_code >= 500:
        assert answer.json()["code"] in EXPECTED_5XX, answer.text
    case.validate_response(answer, checks=CHECKS)
