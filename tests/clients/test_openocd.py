"""Real OpenOCD, driven by the published SDK's own `flash()`, on the simulated target: through a
byte tunnel of a running hostd, to the pod's debug probe.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from embeddedci.benchpod import BenchPod

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIRMWARE = ROOT / "hostd/target-sim/firmware/demo.elf"
WIRES = {"swclk": 11, "swdio": 12}
BOOT_WAIT_S = 25


@pytest.fixture
def pod():
    name = os.environ["BENCHPOD_E2E_CLOUD_DEVICE"]
    with BenchPod(f"embeddedci:{name}", la_voltage=3.3, lease_wait=30) as pod:
        yield pod


def boots(pod):
    boot = pod.power_cycle_and_capture(
        rx=3, tx=4, efuse=1, delay=0.5, duration=BOOT_WAIT_S, until=re.compile("APP_OK")
    )
    return boot.matched and "SCENARIO:" in boot.text


def test_openocd_programs_and_verifies_through_the_tunnel(pod):
    flashed = pod.flash(
        file=str(FIRMWARE),
        target="target/stm32f0x.cfg",
        target_power=1,
        server_side=False,
        **WIRES,
    )
    assert flashed.ok
    assert "Verified OK" in flashed.stderr
    assert boots(pod)


def test_openocd_finds_nothing_where_nothing_is_wired(pod):
    flashed = pod.flash(
        file=str(FIRMWARE),
        target="target/stm32f0x.cfg",
        target_power=1,
        connect_attempts=1,
        server_side=False,
        check=False,
        swclk=13,
        swdio=14,
    )
    assert not flashed.ok and flashed.target_unreachable
    # The pod is free for the next one.
    assert pod.flash(file=str(FIRMWARE), target="target/stm32f0x.cfg", target_power=1, **WIRES).ok


def test_the_guide_for_ci(monkeypatch):
    guide = (ROOT / "docs/ci.md").read_text()
    after = guide.split("<!-- The client tests run this block as it stands. -->\n```sh\n")[1]
    install, after = after.split("```", 1)
    program = after.split("```python\n")[1].split("```")[0]
    # Where `pip` puts commands; what it would fetch is there.
    commands = str(pathlib.Path(sys.executable).parent)
    monkeypatch.setenv("PATH", commands, prepend=os.pathsep)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    subprocess.run(["bash", "-e", "-c", install], check=True)
    assert pathlib.Path(commands, "openocd").exists()
    # The one of the tools finds the libusb that came with the packages.
    monkeypatch.setenv("PATH", os.environ["PATH"].removeprefix(commands + os.pathsep))
    monkeypatch.chdir(ROOT)
    exec(compile(program, "docs/ci.md", "exec"), {})
