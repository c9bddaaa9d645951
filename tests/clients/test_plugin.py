"""The SDK's pytest plugin, unmodified, in the sample project beside this file: two runs started at
once want the same device by name. One gets the lease, the other queues for it; both pass, and they
never had the device at the same time.
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request

PROJECT = pathlib.Path(__file__).resolve().parent / "plugin"
RUN_WAIT_S = 120
CONTENTION_WAIT_S = 60


def start(tmp_path, name):
    """One run of the sample project, as a CI job would start it."""
    report, log = tmp_path / f"{name}.json", tmp_path / f"{name}.txt"
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")},
        "RUN_REPORT": str(report),
        "RUN_GO": str(tmp_path / "go"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no"]
    command += ["--rootdir", PROJECT, PROJECT, "--benchpod-lease-wait", str(RUN_WAIT_S)]
    command += ["--benchpod-connection", f"embeddedci:{os.environ['BENCHPOD_E2E_CLOUD_DEVICE']}"]
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command, env=environment, cwd=tmp_path, stdout=output, stderr=subprocess.STDOUT
        )
    return process, report, log


def refused_leases():
    """How often the server has told a run that the device is busy."""
    with urllib.request.urlopen(os.environ["BENCHPOD_API_BASE"] + "/metrics") as answer:
        lines = answer.read().decode().splitlines()
    wanted = 'hostd_http_requests_total{route="cloud.lease_acquire",status="409"}'
    return sum(int(line.split()[-1]) for line in lines if line.startswith(wanted))


def test_two_runs_queue_for_one_device(tmp_path, capsys):
    before = refused_leases()
    runs = [start(tmp_path, name) for name in ("first", "second")]
    try:
        end = time.monotonic() + CONTENTION_WAIT_S
        while refused_leases() == before:
            assert time.monotonic() < end, [log.read_text() for _, _, log in runs]
            assert all(process.poll() is None for process, _, _ in runs)
            time.sleep(0.05)
        (tmp_path / "go").touch()
        for process, _, log in runs:
            assert process.wait(RUN_WAIT_S) == 0, log.read_text()
    finally:
        for process, _, _ in runs:
            process.kill()
            process.wait()
    for _, _, log in runs:
        assert "4 passed" in log.read_text()
    held = sorted((json.loads(report.read_text()) for _, report, _ in runs), key=lambda r: r["since"])
    assert all(run["leased"] for run in held)
    # The second run had the device only after the first one had given it back.
    assert held[0]["until"] < held[1]["since"], held
    zero = held[0]["since"]
    spans = [f"{run['since'] - zero:.2f} to {run['until'] - zero:.2f} s" for run in held]
    with capsys.disabled():
        print(f"\nNOTE the runs held the device from {spans[0]} and from {spans[1]}")
