"""What the team checks with the SDK, whose fixture finds the bench that the job has."""


def test_the_target_is_powered(benchpod):
    assert benchpod.target_status().internal.enabled


def test_the_bus_is_alive(benchpod):
    """A clock chip on LA1 (SCL) and LA2 (SDA) is read all the time."""
    capture = benchpod.capture_la(1_000_000, sample_rate_hz=1_000_000)
    assert any(transaction.to(0x68) for transaction in capture.decode("i2c", scl=1, sda=2))
