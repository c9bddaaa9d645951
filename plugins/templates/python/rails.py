"""What the rails of all devices draw, and above which current a rail is marked.

The host's functions are arguments of everything here, so that tests can stand in for them.
"""

import json

KEY = "warn_milliamperes"
LEAST, MOST = 1, 10_000


class Refused(Exception):
    """A request that is refused, with a code that programs understand."""

    def __init__(self, status, code, message):
        super().__init__(message)
        self.status = status
        self.code = code


def warning(config, store):
    """The current in mA above which a rail is marked: what was stored, else what the operator configured."""
    entry = store.get(KEY)
    if entry is not None:
        return int(bytes(entry.value))
    return json.loads(config.get())[KEY]


def set_warning(store, body):
    """Store what a body such as {"warn_milliamperes": 250} says."""
    try:
        value = json.loads(bytes(body))[KEY]
    except (ValueError, KeyError, TypeError):
        value = None
    if type(value) is not int or not LEAST <= value <= MOST:
        raise Refused(400, "invalid", f"{KEY} must be a number from {LEAST} to {MOST}")
    store.put(KEY, str(value).encode())
    return value


def report(devices, power, warn_milliamperes, failed):
    """Every rail of every device. `failed` is the exception that the host's functions raise."""
    rails, skipped = [], []
    for device in devices.list():
        name = device.name()
        try:
            found = power.rails(device.id())
        except failed as error:
            skipped.append({"device": name, "code": error.value.code})
            continue
        for rail in found:
            drawn = rail.microamperes
            rails.append(
                {
                    "device": name,
                    "rail": rail.id,
                    "on": rail.on,
                    "millivolts": rail.millivolts,
                    "microamperes": drawn,
                    "high": drawn is not None and drawn > warn_milliamperes * 1000,
                }
            )
    return {KEY: warn_milliamperes, "rails": rails, "skipped": skipped}
