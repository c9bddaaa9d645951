"""The published MCP server `embeddedci-mcp`, unmodified, as an agent's program starts it: over stdio,
driven by a real MCP client, with a device of a running hostd by its name.
"""

import contextlib
import json
import os
import pathlib
import sys
import urllib.request

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIRMWARE = ROOT / "hostd/target-sim/firmware/demo.elf"
DEVICE = os.environ["BENCHPOD_E2E_CLOUD_DEVICE"]
BASE = os.environ["BENCHPOD_API_BASE"]
# How the demo bench's target is wired to its pod.
UART = {"rx": 3, "tx": 4, "baud": 115200}
SWD = {"swclk": 11, "swdio": 12, "target": "target/stm32f0x.cfg"}
SESSION_WAIT_S = 90


@contextlib.asynccontextmanager
async def started():
    """A client of a server of its own, which is not connected to a device yet."""
    command = str(pathlib.Path(sys.executable).parent / "embeddedci-mcp")
    parameters = StdioServerParameters(command=command, env=dict(os.environ))
    with anyio.fail_after(SESSION_WAIT_S):
        async with stdio_client(parameters) as (read, write):
            async with ClientSession(read, write) as session:
                await session.initialize()
                yield session


async def ask(session, tool, **arguments):
    """What a tool answers, as data."""
    result = await session.call_tool(tool, arguments)
    assert not result.isError, result.content
    return result.structuredContent


async def connected(session):
    status = await ask(session, "connect", connection=f"embeddedci:{DEVICE}", la_voltage=3.3)
    assert status["connected"] and status["leased"], status
    return status


def run(steps):
    async def whole():
        async with started() as session:
            await steps(session)
            await ask(session, "disconnect")

    anyio.run(whole)


def call(path, body=None, content_type="application/json", credential=None):
    """One request to hostd, with the key or another credential."""
    headers = {"Authorization": credential or f"ApiKey {os.environ['BENCHPOD_API_KEY']}"}
    if body is not None:
        headers["Content-Type"] = content_type
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, body, headers)
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


def uploaded_build():
    """A finished build with the demo firmware, as a CI run leaves it."""
    token = call("/api/auth/token", {})["token"]
    credential = f"Bearer {token}"
    build = call("/api/cloud/builds", {"repo": "demo", "ref": "main"}, credential=credential)
    path = f"/api/cloud/builds/{build['build_id']}"
    content_type = "application/octet-stream"
    elf = FIRMWARE.read_bytes()
    call(f"{path}/artifacts?name=demo.elf", elf, content_type, credential=credential)
    call(f"{path}/status", {"success": True}, credential=credential)
    return build["build_id"]


def test_devices_are_listed():
    async def steps(session):
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert {"connect", "flash", "capture_la", "decode_la", "uart_open"} <= tools
        listed = await ask(session, "cloud_list_devices")
        assert listed["auth"] == "api_key"
        device = next(d for d in listed["devices"] if d["name"] == DEVICE)
        assert device["online"] and device["parameters"]["cap.board"] == "stm32h563"

    run(steps)


def test_power():
    async def steps(session):
        await connected(session)
        for tool, on in (("power_on", True), ("power_off", False)):
            assert (await ask(session, tool, efuse=1))["on"] is on
            rails = await ask(session, "power_status")
            assert rails["internal"]["enabled"] is on, rails

    run(steps)


def test_capture_and_decode():
    async def steps(session):
        await connected(session)
        capture = await ask(session, "capture_la", samples=1_000_000, sample_rate_hz=1e6)
        assert capture["samples"] == 1_000_000 and len(capture["channels"]) == 14
        decoded = await ask(session, "decode_la", protocol="i2c", scl=1, sda=2)
        # A DS1307 clock chip is read over and over.
        assert decoded["count"] > 0 and any("0x68" in item for item in decoded["items"]), decoded

    run(steps)


def test_a_replay_from_the_library():
    async def steps(session):
        await connected(session)
        await ask(session, "capture_adc", samples=2048, sample_rate_hz=1e5)
        saved = await ask(session, "save_capture_as_recording", name="an agent's")
        try:
            played = await ask(session, "replay_waveform", waveform_id=saved["id"], dac_path="5v")
            assert played["samples"] == 2048, played
        finally:
            await ask(session, "dac_stop")

    run(steps)


def test_flash_and_console():
    if "/api/bench/devices/{id}/flash" not in call("/api/openapi.json")["paths"]:
        pytest.skip("this server flashes nothing yet, and the tool would need OpenOCD here")
    build = uploaded_build()

    async def steps(session):
        await connected(session)
        flashed = await ask(session, "flash", build=build, target_power=1, **SWD)
        assert flashed["ok"], flashed
        await ask(session, "power_off", efuse=1)
        await ask(session, "uart_open", **UART)
        await ask(session, "power_on", efuse=1)
        banner = await ask(session, "uart_read", until_regex="APP_OK", timeout=20)
        assert banner["matched"], banner
        await ask(session, "uart_write", text="status", line_ending="crlf")
        told = await ask(session, "uart_read", until_regex="bmp280_detected=no", timeout=10)
        assert told["matched"], told
        await ask(session, "uart_close")
        await ask(session, "power_off", efuse=1)

    run(steps)
