"""One end of a baseline, for the tests: ``serve ADDRESS INTERFACE TOOL`` until standard input ends, or ``call …``.

Loads the module by its path, as a Python without ncclcheck would.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "ncclcheck/speedtest/worker"))

import baseline

if sys.argv[1] == "serve":
    with baseline.serve(sys.argv[2], sys.argv[3] or None, sys.argv[4]) as server:
        print(server.port, flush=True)
        sys.stdin.read()
else:
    baseline.GRACE = float(os.environ["GRACE"])
    address, port, flows, seconds, interface, tool = sys.argv[2:]
    print(json.dumps(baseline.call(address, int(port), int(flows), float(seconds), interface or None, tool)))
