"""`python -m unittest`: the plugin beside doubles of the host's functions."""

import json
import unittest
from types import SimpleNamespace as Double

import rails


class Failed(Exception):
    value = Double(code="device_offline", message="it is offline")


class Store:
    def __init__(self):
        self.kept = {}

    def get(self, key):
        value = self.kept.get(key)
        return None if value is None else Double(value=value)

    def put(self, key, value):
        self.kept[key] = value


CONFIG = Double(get=lambda: json.dumps({rails.KEY: 500}))


def device(name):
    return Double(id=lambda: f"id-of-{name}", name=lambda: name)


def rails_of(device):
    if device == "id-of-far":
        raise Failed
    rail = {"on": True, "fault": False, "millivolts": 5000}
    return [
        Double(id=1, microamperes=600_000, **rail),
        Double(id=2, microamperes=None, **rail),
    ]


class Rails(unittest.TestCase):
    def test_rails_that_draw_too_much_are_marked(self):
        devices = Double(list=lambda: [device("near"), device("far")])
        told = rails.report(devices, Double(rails=rails_of), 500, Failed)
        self.assertEqual([rail["high"] for rail in told["rails"]], [True, False])
        self.assertEqual(told["skipped"], [{"device": "far", "code": "device_offline"}])

    def test_what_was_stored_counts_before_the_configuration(self):
        store = Store()
        self.assertEqual(rails.warning(CONFIG, store), 500)
        rails.set_warning(store, b'{"warn_milliamperes": 250}')
        self.assertEqual(rails.warning(CONFIG, store), 250)

    def test_a_body_that_makes_no_sense_is_refused(self):
        for body in [b"", b"{}", b"[]", b'{"warn_milliamperes": 0}', b'{"warn_milliamperes": true}']:
            with self.assertRaises(rails.Refused):
                rails.set_warning(Store(), body)


if __name__ == "__main__":
    unittest.main()
