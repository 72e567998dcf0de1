"""Bandwidth between two machines, measured by a stand-alone worker under the interpreter that trains.

``worker`` is that script; ``plan`` says how it is started and where two nodes can meet, ``reports`` reads what it
prints, ``run`` starts it and keeps it within its time. Only the worker loads torch.
"""
