"""Speed test between machines: ``python FILE.pyz HOST:PORT SIZE[K|M|G] RANK [DEVICE]``, or started by a launcher.

By hand: on both machines with the same HOST:PORT and SIZE, rank 0 on the machine that owns HOST. torchrun names
HOST:PORT and RANK, srun and mpirun name RANK. It runs under the interpreter that trains, so that its NCCL is the one
measured; without CUDA devices it uses gloo. Standard output is one JSON object a line: started, waiting, connected,
baseline, round, result, skipped, step, ddp, log, note, finished, failure. Exit code 0: measured to the end and every
byte right; 1: some payload was damaged; 2: wrong usage; 3: it did not come to its end, and the last line says why and
at which stage; 4: no torch here.
"""

import importlib
import os
import sys
import types

if __name__ == "__main__":
    # A package made of wherever this file is, a folder or a zip archive: with its modules on sys.path instead, a
    # ``wire`` or ``words`` of the user's would be hidden by ours, or ours by theirs.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    package = types.ModuleType("ncclcheck_speedtest")
    package.__path__ = [here]
    sys.modules[package.__name__] = package
    code = importlib.import_module("ncclcheck_speedtest.session").main(sys.argv[1:])
    # Not by way of the interpreter's own end: until Python 3.13 it makes a thread that comes back from torch's C++
    # exit there (pthread_exit), which those frames cannot stand: SIGABRT, after a good measurement. The watch's ear may
    # be in the store at any time. Nothing is left in a buffer: what is said is written at once.
    sys.stderr.flush()
    os._exit(code)
