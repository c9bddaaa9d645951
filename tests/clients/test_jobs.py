"""A whole job: the example board's firmware is built in a jail, flashed, watched, and tested by a pytest with the
SDK as it is published. It finds its bench by the variables of the job alone.
"""

import importlib.metadata
import io
import json
import os
import pathlib
import re
import subprocess
import tarfile
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree

from embeddedci.benchpod import BenchPod

ROOT = pathlib.Path(__file__).resolve().parents[2]
JOB_WAIT_S = 180
# What the job's own tests import, with all that it needs.
PACKAGES = ["embeddedci", "websocket-client", "pytest"]


def ask(path, body=None, content_type=None):
    headers = {"Authorization": f"ApiKey {os.environ['BENCHPOD_API_KEY']}"}
    if content_type:
        headers["Content-Type"] = content_type
    url = os.environ["BENCHPOD_API_BASE"] + "/api" + path
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def installed(names):
    """The distributions of these names, and those that they need here."""
    found, todo = {}, list(names)
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # Of an extra, or of another platform.
        needs = found[name].requires or []
        todo += [re.match(r"[\w.-]+", need)[0] for need in needs if "extra ==" not in need]
    return found.values()


def sources():
    """The example, the firmware's sources, and the SDK beside them."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=1) as tar:
        tar.add(ROOT / "docs/example/board", ".")
        for file in sorted((ROOT / "hostd/target-sim/firmware").iterdir()):
            tar.add(file, file.name)
        for distribution in installed(PACKAGES):
            for file in distribution.files or []:
                path = distribution.locate_file(file)
                if ".." not in file.parts and path.suffix != ".pyc" and path.is_file():
                    tar.add(path, f"sdk/{file}")
    return archive.getvalue()


def form(parts):
    boundary = "a-boundary-that-is-nowhere-else"
    body = b""
    for name, file, content in parts:
        file = f'; filename="{file}"' if file else ""
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'.encode()
        body += content + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def flash_from_outside(job_id):
    """What the job built goes to the same board once more, by the SDK of somebody who built nothing."""
    with BenchPod(f"embeddedci:{os.environ['BENCHPOD_E2E_CLOUD_DEVICE']}", la_voltage=3.3, lease_wait=60) as pod:
        for build in (job_id, "latest"):
            flashed = pod.flash(build=build, swclk=11, swdio=12, target_power=1)
            assert flashed.ok, flashed.stderr
            named = flashed.artifact["job_id"], flashed.artifact["pack_id"], flashed.artifact["name"]
            assert named == (job_id, "fw.f0", "demo.elf"), named


def test_a_job_builds_flashes_and_tests_with_the_sdk(capsys):
    body, content_type = form(
        [
            ("archive", "sources.tar.gz", sources()),
            ("ci_yaml", None, b"pipeline.yml"),
            ("ref", None, b"main"),
        ]
    )
    status, answer = ask("/jobs/submit", body, content_type)
    job_id = json.loads(answer).get("id")
    if status == 503 and json.loads(answer)["code"] == "no_isolation":
        # All that such a machine can be asked: that it says what to do.
        assert "hostd doctor" in json.loads(answer)["error"]
        with capsys.disabled():
            print(f"\nNOTE no job was run: {json.loads(answer)['error']}")
        return
    assert status == 201, answer
    job_path = f"/jobs/{job_id}"
    end = time.monotonic() + JOB_WAIT_S
    while True:
        job = json.loads(ask(job_path)[1])
        if job["state"] == "finished":
            break
        assert time.monotonic() < end, job
        time.sleep(0.2)
    log = ask(job_path + "/log")[1].decode()
    assert (job["verdict"], job["ended_because"]) == ("success", "completed"), (job, log)
    suites = ElementTree.fromstring(ask(job_path + "/junit.xml")[1])
    cases = {case.get("name").split("::")[-1] for case in suites.iter("testcase")}
    wanted = {"compiles", "flashes", "says hello", "the clock chip answers"}
    assert wanted <= cases, cases
    assert {"test_the_target_is_powered", "test_the_bus_is_alive"} <= cases, cases
    assert "APP_OK" in log
    flash_from_outside(job_id)
    # The key of the job is in its programs' environment and nowhere else.
    assert "bk_" not in log
    with capsys.disabled():
        print(f"\nNOTE {len(cases)} cases in {job['started_at']} to {job['finished_at']}")


def test_the_job_of_the_readme_runs_with_the_sdk(capsys):
    """The block as it stands, with the package index that the default tests do without."""
    nothing = {"definition": "version: 1\nbuilds: [{ id: nothing, steps: [{ run: 'true' }] }]"}
    if ask("/jobs/submit", json.dumps(nothing).encode(), "application/json")[0] == 503:
        with capsys.disabled():
            print("\nNOTE the README's job was not run: this machine cannot isolate jobs")
        return
    readme = (ROOT / "README.md").read_text()
    section = readme.split("### Submit a job")[1]
    block, after = section.split("```sh\n")[1].split("```", 1)
    shown = after.split("```text\n")[1].split("```")[0].splitlines()
    base = os.environ["BENCHPOD_API_BASE"]
    env = os.environ | {"HOSTD_URL": base, "HOSTD_KEY": os.environ["BENCHPOD_API_KEY"]}
    run = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", block], cwd=ROOT, env=env, capture_output=True, text=True, timeout=300
    )
    printed = [line.rstrip() for line in run.stdout.splitlines()]
    assert run.returncode == 0, (run.stdout, run.stderr)
    missing = [line for line in shown if line not in printed]
    assert not missing, (missing, run.stdout, run.stderr)
    assert not any("skipped>" in line for line in printed), printed
