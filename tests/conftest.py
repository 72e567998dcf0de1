"""In CI property tests draw the same examples every time: a gate says the same twice; elsewhere they search on."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
