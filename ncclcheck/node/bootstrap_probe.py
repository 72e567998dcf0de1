"""Ask the real NCCL for a unique id; a stand-alone script for any Python from 3.8 on.

It knows nothing of ncclcheck: the interpreter that trains runs it, with the path of a libnccl.so.2 as its only
argument. Standard output gets one JSON line and nothing else; NCCL's own chatter goes to standard error.
"""

import ctypes
import json
import os
import sys

UNIQUE_ID_BYTES = 128


class UniqueId(ctypes.Structure):
    """The 128 opaque bytes of ncclUniqueId (nccl.h)."""

    _fields_ = [("internal", ctypes.c_char * UNIQUE_ID_BYTES)]


def answer(library: str) -> "dict[str, object]":
    """Load NCCL, let it choose an interface, and tell what it did."""
    try:
        nccl = ctypes.CDLL(library)
    except OSError as error:
        return {"error": str(error)}
    version = ctypes.c_int()
    nccl.ncclGetVersion(ctypes.byref(version))
    unique_id = UniqueId()
    code = nccl.ncclGetUniqueId(ctypes.byref(unique_id))
    return {"version": version.value, "code": code, "id": bytes(unique_id).hex()}


def main() -> None:
    """Print the answer on the real standard output, which NCCL never sees."""
    results = os.dup(1)
    os.dup2(2, 1)
    os.write(results, (json.dumps(answer(sys.argv[1])) + "\n").encode())


if __name__ == "__main__":
    main()
