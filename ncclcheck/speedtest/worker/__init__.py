"""The speed test's worker: it needs Python 3.8 and torch 1.13, nothing of ncclcheck, and runs under the job's Python.

``python ncclcheck/speedtest/worker …`` runs this folder, ``ncclcheck speedtest --save-worker FILE.pyz`` makes one file
of it. Within ncclcheck only its words are used. torch is an argument everywhere; only ``session`` and ``ddp`` load it.
"""

from .words import parse_place, parse_size, show

__all__ = ["parse_place", "parse_size", "show"]
