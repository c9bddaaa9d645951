"""What published clients of board analysis ask of a server, and in which order: the CI action's shell script, and the
plugin of a board editor. Neither is in a package registry, so the requests are made here as they make them. Where
EMI_ACTION names the folder with the script `emi-analyze.sh`, that runs, too, unmodified.
"""

import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOARD = ROOT / "hostd/emi/testdata/slot.kicad_pcb"
HOSTD = os.environ.get("HOSTD", str(ROOT / "target/release/hostd"))
ACTION = os.environ.get("EMI_ACTION", "")
RUN_WAIT_S = 60
START_WAIT_S = 30


def send(method, url, body=None, headers=()):
    request = urllib.request.Request(url, body, dict(headers), method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


class Api:
    """The server with a key, or without any."""

    def __init__(self, base, key=None):
        self.base = base
        self.headers = {"Accept": "application/json"}
        if key:
            self.headers["Authorization"] = f"ApiKey {key}"

    def ask(self, method, path, body=None):
        headers = dict(self.headers)
        if body is not None:
            body = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        status, answer = send(method, self.base + path, body, headers)
        told = json.loads(answer or b"null")
        if status >= 400:
            assert isinstance(told["error"], str), told
        return status, told

    def get(self, path):
        status, told = self.ask("GET", path)
        assert status == 200, told
        return told

    def post(self, path, body, expected):
        status, told = self.ask("POST", path, body)
        assert status == expected, told
        return told

    def ended(self, run):
        end = time.monotonic() + RUN_WAIT_S
        while True:
            told = self.get(f"/api/emi/runs/{run}")
            if told["status"] in ("done", "failed", "timed_out"):
                return told
            assert time.monotonic() < end, told
            time.sleep(0.05)

    def artifact(self, run, name):
        reference = self.get(f"/api/emi/runs/{run}/artifacts/{name}")
        status, content = send("GET", reference["url"])
        assert status == 200 and len(content) == reference["size_bytes"]
        return json.loads(content)

    def upload(self, project, filename, content, content_type, **more):
        """Sends the bytes unless they are there; the board, its run, and whether something was sent."""
        digest = hashlib.sha256(content).hexdigest()
        asked = {"filename": filename, "sha256": digest, "content_type": content_type, **more}
        begun = self.post(f"/api/emi/projects/{project}/uploads", asked, 200)
        is_there = begun.get("already_uploaded", False)
        if not is_there:
            kind = {"Content-Type": begun.get("content_type") or content_type}
            assert send("PUT", begun["upload_url"], content, kind)[0] == 200
        body = {"input_key": begun["key"], "sha256": digest}
        made = self.post(f"/api/emi/projects/{project}/boards", body, 201)
        return made["board"], made["run"], not is_there


@pytest.fixture
def api():
    return Api(os.environ["BENCHPOD_API_BASE"], os.environ["BENCHPOD_API_KEY"])


@pytest.fixture
def local(tmp_path):
    """A server that asks programs of this computer for no credential."""
    config = tmp_path / "hostd.toml"
    config.write_text("[emi]\nlocal = true\n")
    ready = tmp_path / "ready.json"
    serve = [HOSTD, "serve", "--demo", "--listen", "127.0.0.1:0", "--config", config]
    # Variables of that prefix are a server's configuration.
    own = {name: value for name, value in os.environ.items() if not name.startswith("HOSTD_")}
    with open(tmp_path / "log", "wb") as log:
        command = [*serve, "--data-dir", tmp_path / "data", "--ready-file", ready]
        process = subprocess.Popen(command, stdout=log, stderr=log, env=own)
    end = time.monotonic() + START_WAIT_S
    while not (ready.exists() and ready.read_text().endswith("\n")):
        assert process.poll() is None and time.monotonic() < end, (tmp_path / "log").read_text()
        time.sleep(0.01)
    yield json.loads(ready.read_text())["url"]
    process.terminate()
    process.wait()


def test_the_requests_of_a_ci_action(api):
    content = BOARD.read_bytes()
    name = f"board-{time.time_ns()}"
    projects = api.get("/api/emi/projects?limit=200")["projects"]
    assert [p for p in projects if p["name"] == name] == []
    made = api.post("/api/emi/projects", {"name": name, "source_kind": "kicad"}, 201)
    board, run, was_sent = api.upload(made["id"], BOARD.name, content, "application/octet-stream")
    assert was_sent and board["project_id"] == made["id"] and run["kind"] == "ingest"
    ended = api.ended(run["id"])
    assert ended["status"] == "done", ended
    rules = api.artifact(run["id"], "rules.json")
    assert rules["summary"]["critical"] == ended["summary"]["critical"] == 0
    assert rules["summary"]["warning"] > 0
    for finding in rules["findings"]:
        for member in ("severity", "rule", "title", "detail", "net"):
            assert isinstance(finding[member], str), finding
        assert finding["severity"] in ("critical", "warning", "info")
    # The next run of the same job finds its project by name, and sends nothing.
    projects = api.get("/api/emi/projects?limit=200")["projects"]
    found = [p["id"] for p in projects if p["name"] == name]
    assert found == [made["id"]]
    _, again, was_sent = api.upload(found[0], BOARD.name, content, "application/octet-stream")
    assert not was_sent and api.ended(again["id"])["status"] == "done"


def test_a_run_that_fails_says_why(api):
    made = api.post("/api/emi/projects", {"name": "broken"}, 201)
    _, run, _ = api.upload(made["id"], "a.kicad_pcb", b"(kicad_pcb (version", "text/plain")
    ended = api.ended(run["id"])
    assert ended["status"] == "failed" and re.search(r"line \d+, column \d+", ended["error"]), ended
    status, told = api.ask("GET", f"/api/emi/runs/{run['id']}/artifacts/rules.json")
    assert status == 404 and "artifact" in told["error"]


def test_the_requests_of_a_board_editors_plugin(local):
    api = Api(local)
    status = api.get("/api/local/status")
    assert status["version"] and status["worker"]["message"]
    content = BOARD.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    assert api.ask("GET", "/api/emi/projects/none")[0] == 404
    assert not api.get("/api/emi/boards/lookup?sha256=" + urllib.parse.quote(digest))["found"]
    made = api.post("/api/emi/projects", {"name": "slot", "source_kind": "kicad"}, 201)
    board, run, was_sent = api.upload(
        made["id"], "slot.zip", content, "application/zip", size_bytes=len(content)
    )
    assert was_sent and api.ended(run["id"])["status"] == "done"
    found = api.get("/api/emi/boards/lookup?sha256=" + digest)
    assert found["found"] and found["parsed"] and found["board"]["id"] == board["id"]
    assert api.get(f"/api/emi/projects/{found['project']['id']}")["name"] == "slot"
    runs = api.get(f"/api/emi/projects/{made['id']}/runs")["runs"]
    assert [(r["kind"], r["status"]) for r in runs] == [("ingest", "done")]
    rules = api.artifact(run["id"], "rules.json")
    nets = [f["net"] for f in rules["findings"] if f["severity"] in ("critical", "warning")]
    assert "SCK" in nets
    # Nothing else is open, and pages of other sites are not let in.
    assert send("GET", local + "/api/bench/devices")[0] == 401
    for origin in ("http://elsewhere.example", "null"):
        assert send("GET", local + "/api/emi/projects", None, {"Origin": origin})[0] == 401
    assert send("GET", local + "/api/emi/projects", None, {"Host": "elsewhere.example"})[0] == 401


def test_a_project_as_an_archive(api):
    """As the plugin sends it: the board and its project in a zip."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(BOARD.name, BOARD.read_bytes())
        archive.writestr("slot.kicad_pro", "{}")
    made = api.post("/api/emi/projects", {"name": "archive"}, 201)
    content = packed.getvalue()
    _, run, _ = api.upload(made["id"], "slot.zip", content, "application/zip", size_bytes=len(content))
    ended = api.ended(run["id"])
    assert ended["status"] == "done", ended


@pytest.mark.skipif(not ACTION, reason="EMI_ACTION names no folder with the published action")
@pytest.mark.parametrize("fail_on, code", [("critical", 0), ("warning", 1), ("none", 0)])
def test_the_published_action(tmp_path, fail_on, code):
    missing = [tool for tool in ("bash", "curl", "jq") if not shutil.which(tool)]
    if missing:
        pytest.skip(f"it needs {', '.join(missing)}")
    output, summary = tmp_path / "output", tmp_path / "summary"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(summary),
        "EMI_API_BASE": os.environ["BENCHPOD_API_BASE"],
        "EMI_API_KEY": os.environ["BENCHPOD_API_KEY"],
        "EMI_BOARD": str(BOARD),
        "EMI_PROJECT": "action",
        "EMI_FAIL_ON": fail_on,
        "EMI_TIMEOUT": str(RUN_WAIT_S),
    }
    script = pathlib.Path(ACTION) / "emi-analyze.sh"
    ran = subprocess.run(["bash", script], env=environment, capture_output=True, text=True)
    assert ran.returncode == code, ran.stdout + ran.stderr
    told = dict(line.split("=", 1) for line in output.read_text().splitlines())
    assert told["critical"] == "0" and int(told["warning"]) > 0
    assert "## EMI analysis" in summary.read_text()
    assert environment["EMI_API_KEY"] not in ran.stdout + ran.stderr
