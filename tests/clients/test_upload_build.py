"""The published command `embeddedci-upload-build`, unmodified, against a running hostd that trusts
an identity provider of this machine: a CI run without a key leaves its firmware, and it is found.
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from embeddedci.benchpod import BenchPod

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KEYS = ROOT / "hostd/identity/src/oidc/tests"
HOSTD = os.environ.get("HOSTD", str(ROOT / "target/release/hostd"))
START_WAIT_S = 30


@pytest.fixture
def issuer():
    command = [sys.executable, HERE / "issuer.py", KEYS / "key.pem", KEYS / "keys.json"]
    process = subprocess.Popen([*command, "acme/blinky", "refs/heads/main"], stdout=subprocess.PIPE)
    yield process.stdout.readline().decode().strip()
    process.kill()
    process.wait()


@pytest.fixture
def server(tmp_path, issuer):
    config = tmp_path / "hostd.toml"
    config.write_text(f'[oidc]\nissuer = "{issuer}"\njwks = "{issuer}/jwks"\n')
    ready = tmp_path / "ready.json"
    data = ["--data-dir", tmp_path / "data"]
    trust = [HOSTD, "trust", "add", "acme/blinky", "--ref", "refs/heads/*", *data]
    serve = [HOSTD, "serve", "--demo", "--listen", "127.0.0.1:0", "--config", config, *data]
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen([*serve, "--ready-file", ready], stdout=log, stderr=log)
    end = time.monotonic() + START_WAIT_S
    while not (ready.exists() and ready.read_text().endswith("\n")):
        assert process.poll() is None and time.monotonic() < end, (tmp_path / "log").read_text()
        time.sleep(0.01)
    subprocess.run(trust, check=True)
    yield json.loads(ready.read_text())
    process.terminate()
    process.wait()


def upload(tmp_path, issuer, server, swclk=1, swdio=2):
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GITHUB_ACTIONS": "true",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_REF_NAME": "main",
        "GITHUB_REPOSITORY": "acme/blinky",
        "GITHUB_REPOSITORY_OWNER": "acme",
        "GITHUB_SHA": "0a1b2c3",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "unused",
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"{issuer}/token",
    }
    command = [pathlib.Path(sys.executable).parent / "embeddedci-upload-build"]
    command += ["--firmware", tmp_path / "app.elf", "--api-base", server["url"]]
    command += ["--build-target", "stm32f0", "--openocd-target", "target/stm32f0x.cfg"]
    command += ["--swclk", str(swclk), "--swdio", str(swdio)]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def get(server, path):
    headers = {"Authorization": f"ApiKey {server['api_key']}"}
    request = urllib.request.Request(server["url"] + path, headers=headers)
    with urllib.request.urlopen(request) as answer:
        return answer.read()


def test_a_run_leaves_its_firmware(tmp_path, issuer, server):
    firmware = os.urandom(300_000)
    (tmp_path / "app.elf").write_bytes(firmware)
    (tmp_path / "app.hex").write_text(":00000001FF\n")
    done = upload(tmp_path, issuer, server)
    assert done.returncode == 0, done.stdout + done.stderr
    output = (tmp_path / "output").read_text()
    build = output.strip().removeprefix("build_id=")
    query = "build=latest&repo=acme/blinky&ref=main"
    found = json.loads(get(server, f"/api/benchpod/builds/artifact?{query}"))["artifact"]
    assert (found["job_id"], found["name"]) == (build, "app.elf")
    wiring = {"target": "target/stm32f0x.cfg", "swclk": 1, "swdio": 2}
    assert found["wiring_defaults"] == wiring
    path = f"/api/benchpod/builds/{build}/packs/{found['pack_id']}/artifacts"
    assert get(server, f"{path}/app.elf") == firmware
    assert get(server, f"{path}/app.hex") == b":00000001FF\n"


def test_nobody_else_gets_in(tmp_path, issuer, server):
    command = [HOSTD, "trust", "list", "--data-dir", tmp_path / "data"]
    rules = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "acme/blinky" in rules.stdout
    body = json.dumps({"token": "a.b.c"}).encode()
    headers = {"Content-Type": "application/json"}
    url = server["url"] + "/api/github/oidc/token"
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(url, body, headers))
    assert refused.value.code == 401


def test_the_server_flashes_what_a_run_left(tmp_path, issuer, server, monkeypatch):
    (tmp_path / "app.elf").write_bytes((ROOT / "hostd/target-sim/firmware/demo.elf").read_bytes())
    done = upload(tmp_path, issuer, server, swclk=11, swdio=12)
    assert done.returncode == 0, done.stdout + done.stderr
    build = (tmp_path / "output").read_text().strip().removeprefix("build_id=")
    monkeypatch.setenv("BENCHPOD_API_BASE", server["url"])
    monkeypatch.setenv("BENCHPOD_API_KEY", server["api_key"])
    name = server["devices"][0]["name"]
    with BenchPod(f"embeddedci:{name}", la_voltage=3.3, lease_wait=30) as pod:
        wires = {"swclk": 11, "swdio": 12, "target_power": 1}
        flashed = pod.flash(build=build, **wires)
        assert flashed.ok and "verified" in flashed.stdout
        assert flashed.artifact["job_id"] == build
        assert pod.flash(repo="acme/blinky", ref="main", **wires).ok
        wrong = pod.flash(build=build, target="target/stm32f1x.cfg", check=False, **wires)
        assert not wrong.ok and "STM32" in wrong.stderr
