"""What a firmware team would check: power, the bus, a pin."""

import os
import pathlib
import time

import pytest

GO_WAIT_S = 60


def test_wait_for_go(held):
    """Keeps the pod until whoever started the runs has seen that the other one waits for it."""
    go = pathlib.Path(os.environ["RUN_GO"])
    end = time.monotonic() + GO_WAIT_S
    while not go.exists():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_target_power(held):
    held.power_on(1)
    assert held.target_status().internal.enabled
    held.power_off(1)


@pytest.mark.benchpod_capability("analyzer")
def test_clock_chip_is_read(held):
    """The bench has a DS1307 at address 0x68 on LA1 (SCL) and LA2 (SDA)."""
    capture = held.capture_la(1_000_000, sample_rate_hz=1_000_000)
    assert any(transaction.to(0x68) for transaction in capture.decode("i2c", scl=1, sda=2))


def test_a_pin_is_ours(held):
    held.gpio(9, "output", level=1)
    assert held.pin_levels()[9] == 1
    held.release_gpio(9)
