"""Serve NCCL's bootstrap root until standard input ends; a stand-alone script for any Python from 3.8 on.

It knows nothing of ncclcheck: the interpreter that trains runs it, with the path of a libnccl.so.2 as its only
argument. ncclGetUniqueId starts the root in a thread of its own, which lives as long as this process. Standard output
gets one JSON line, as bootstrap_probe.py beside it prints; NCCL's own chatter goes to standard error.
"""

import json
import os
import runpy
import sys
import threading

PROBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bootstrap_probe.py")


def wait_for_the_end() -> None:
    """End this process when whoever started it closes our standard input, or is gone."""
    while os.read(0, 4096):
        pass
    # Not sys.exit: NCCL's threads may sit in calls that never return.
    os._exit(0)


def main() -> None:
    """Start the root, tell its unique id, and stay."""
    # Before NCCL is called: it may hang, and we must end all the same.
    end = threading.Thread(target=wait_for_the_end)
    end.start()
    results = os.dup(1)
    os.dup2(2, 1)
    answer = runpy.run_path(PROBE)["answer"](sys.argv[1])
    os.write(results, (json.dumps(answer) + "\n").encode())
    end.join()


if __name__ == "__main__":
    main()
