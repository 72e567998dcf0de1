"""The places, each a mode of the app, in the order of the keys that lead there. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Destination:
    """A place as the bar above every screen names it."""

    key: str
    mode: str
    label: str
    purpose: str


DESTINATIONS = (
    Destination("1", "overview", "Overview", "Each node, what NCCL does there, and the ways on"),
    Destination("2", "log", "Log", "The log with its findings beside it"),
    Destination("3", "ranks", "Ranks", "How far each rank came, and whom it waits for"),
    Destination("4", "peers", "Peers", "What is wrong between nodes, and who reaches whom"),
    Destination("5", "speeds", "Speed", "The last speed test, what it means, and earlier runs"),
    Destination("6", "setup", "Setup", "From two fresh nodes to a measured bandwidth, step by step"),
    Destination("7", "history", "History", "Changes that were made, to take back; speed tests, to compare"),
)
