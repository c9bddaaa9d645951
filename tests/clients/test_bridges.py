"""Unmodified OpenOCD and pyserial at the simulated target, through `hostd connect`: while the lease holds, and when it
ends.
"""

import json
import os
import pathlib
import signal
import subprocess
import threading
import time
import urllib.request

import pytest
import serial

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIRMWARE = ROOT / "hostd/target-sim/firmware/demo.elf"
API = os.environ["BENCHPOD_API_BASE"] + "/api"
KEY = os.environ["BENCHPOD_API_KEY"]
DEVICE = os.environ["BENCHPOD_E2E_CLOUD_DEVICE"]
WAIT_S = 60

# OpenOCD sleeps three seconds before it looks again.
CUT_OFF_S = 8


class Connect:
    """A running `hostd connect`."""

    def __init__(self, *args):
        command = [os.environ["HOSTD_PROGRAM"], "connect", DEVICE, "--rx", "3", "--tx", "4", "--wait", "60s", *args]
        environment = {**os.environ, "HOSTD_URL": API, "HOSTD_KEY": KEY, "USER": "ada"}
        self.process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        self.told = []
        self.addresses = {}

    def __enter__(self):
        for line in self.process.stderr:
            self.told.append(line)
            if "Ctrl-C ends it" in line:
                # Whatever else it says is not waited for.
                threading.Thread(target=lambda: self.told.extend(self.process.stderr), daemon=True).start()
                return self
            words = line.split()
            if len(words) > 2 and ":" in words[1]:
                self.addresses[words[0]] = words[1]
        raise AssertionError("".join(self.told))

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.wait(WAIT_S)

    def take_away(self):
        """An administrator ends the lease."""
        token = post("/auth/token", {}, f"ApiKey {KEY}")["token"]
        holder = {"holder": "hostd connect (ada)"}
        ended = post(f"/cloud/devices/lease/release?device={DEVICE}", holder, f"Bearer {token}")
        assert ended["released"]
        assert self.process.wait(WAIT_S) == 5, self.told


def post(path, body, authorization):
    headers = {"Authorization": authorization, "Content-Type": "application/json"}
    request = urllib.request.Request(API + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def openocd(address, *commands):
    host, port = address.split(":")
    words = [
        "gdb_port disabled",
        "telnet_port disabled",
        "tcl_port disabled",
        "adapter driver cmsis-dap",
        "cmsis-dap backend tcp",
        f"cmsis-dap tcp host {host}",
        f"cmsis-dap tcp port {port}",
        "transport select swd",
        "source [find target/stm32f0x.cfg]",
        *commands,
    ]
    arguments = [argument for word in words for argument in ("-c", word)]
    return subprocess.Popen(["openocd", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def answers(port, awaited, asked=b"help\r"):
    """Whether the firmware says this when it is asked."""
    said = b""
    end = time.monotonic() + WAIT_S
    while awaited not in said and time.monotonic() < end:
        port.write(asked)
        said += port.read(4096)
    return awaited in said


@pytest.fixture(scope="module", autouse=True)
def flashed():
    """The target is blank at first."""
    with Connect("--dap", "0") as connect:
        programming = openocd(connect.addresses["dap"], f"program {FIRMWARE} verify reset exit")
        output, _ = programming.communicate(timeout=WAIT_S)
        assert programming.returncode == 0, output
        return output


def test_openocd_programs_verifies_and_debugs(flashed):
    assert "Verified OK" in flashed
    with Connect("--dap", "0") as connect:
        look = openocd(connect.addresses["dap"], "init", "reset halt", "step", "reg pc", "mdw 0x08000000 2", "resume", "exit")
        output, _ = look.communicate(timeout=WAIT_S)
        assert look.returncode == 0, output
        assert "pc (/32)" in output and "0x08000000: 2000" in output, output


def test_openocd_is_cut_off_when_the_lease_ends():
    with Connect("--dap", "0") as connect:
        look = openocd(connect.addresses["dap"], "init", "echo READY", "sleep 3000", "mdw 0x08000000", "exit")
        said = ""
        while "READY" not in said:
            line = look.stdout.readline()
            assert line, said
            said += line
        connect.take_away()
        # It does not get over a connection that was closed, and is not told apart from a probe that is slow.
        try:
            output, _ = look.communicate(timeout=CUT_OFF_S)
            assert look.returncode != 0, said + output
        except subprocess.TimeoutExpired:
            look.kill()
            output, _ = look.communicate(timeout=WAIT_S)
        assert "0x08000000: " not in output, said + output


def test_pyserial_talks_and_changes_the_rate():
    with Connect("--rfc2217", "0", "--uart", "0") as connect:
        url = "rfc2217://" + connect.addresses["rfc2217"]
        with serial.serial_for_url(url, baudrate=115200, timeout=0.3) as port:
            assert answers(port, b"commands:")
            port.baudrate = 9600
            assert port.baudrate == 9600
            port.send_break(0.05)
            port.baudrate = 115200
            port.dtr = False
            assert answers(port, b"commands:")
            assert port.cts and port.dsr and port.cd
            with pytest.raises(ValueError):
                port.bytesize = 7
            raw = serial.serial_for_url("socket://" + connect.addresses["uart"], timeout=0.3)
            assert answers(raw, b"commands:")
            raw.close()


def test_pyserial_is_cut_off_when_the_lease_ends():
    with Connect("--rfc2217", "0") as connect:
        url = "rfc2217://" + connect.addresses["rfc2217"]
        port = serial.serial_for_url(url, baudrate=115200, timeout=0.3)
        assert answers(port, b"commands:")
        connect.take_away()
        with pytest.raises(serial.SerialException):
            end = time.monotonic() + WAIT_S
            while time.monotonic() < end:
                port.write(b"help\r")
                port.read(4096)
        port.close()
