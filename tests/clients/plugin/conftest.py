"""A project that uses the plugin, as its readers would write it: the voltage of the board once, and
the pod from the fixture. `held` writes down when this run had the pod to itself.
"""

import json
import os
import pathlib
import time

import pytest


@pytest.fixture(scope="session")
def benchpod_la_voltage():
    return 3.3


@pytest.fixture(scope="session")
def held(benchpod):
    since = time.monotonic()
    yield benchpod
    # Before the plugin's own clean-up, which gives the lease back.
    run = {"since": since, "until": time.monotonic(), "leased": benchpod.leased}
    pathlib.Path(os.environ["RUN_REPORT"]).write_text(json.dumps(run))
