"""The keys that work everywhere, in the order in which the footer shows them; by its id each can be remapped."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from ncclcheck.tui.places import DESTINATIONS

KEYS: list[BindingType] = [
    *(
        Binding(to.key, f"place('{to.mode}')", to.label, show=False, id=f"place.{to.mode}", tooltip=to.purpose)
        for to in DESTINATIONS
    ),
    Binding("p", "probe", "Probe", id="probe", tooltip="Ask the real NCCL which network it takes"),
    Binding("f", "fix", "Fix", id="fix", tooltip="See what would change, apply it, prove it"),
    Binding("v", "prove", "Prove", id="prove", tooltip="NCCL's own handshake between the nodes, then their speed"),
    Binding("s", "speed", show=False, id="speed", tooltip="Measure latency and bandwidth between two nodes"),
    Binding("w", "what_if", show=False, id="what-if", tooltip="See what NCCL would take with another setting"),
    Binding("o", "open", "Open", id="open", tooltip="Open a file or a folder of logs"),
    Binding("c", "copy", "Copy", id="copy", tooltip="Copy the finding as text, and save it in a file"),
    Binding("C", "plain", show=False, id="plain", tooltip="Show it as plain text, out of this screen, to be marked"),
    Binding("L", "launcher", show=False, id="launcher", tooltip="Tell fixes for another launcher: Slurm, mpirun …"),
    Binding("enter", "best", show=False, id="best", tooltip="Take the next best step, wherever you are"),
    Binding("escape", "read", show=False, id="read", tooltip="Take the message about what failed out of the way"),
    Binding("question_mark", "help", "Help", key_display="?", id="help", tooltip="Every key of this place"),
    Binding("q", "quit", "Quit", id="quit", tooltip="Leave; changes that were made stay"),
    Binding("x", "stop", "Stop", id="stop", tooltip="End what is running after its present step"),
    Binding("m", "mouse", show=False, id="mouse", tooltip="Let the terminal have its mouse, or take it back"),
    Binding("ctrl+z", "suspend_process", show=False, id="suspend", tooltip="Leave for the shell; fg comes back here"),
    Binding("r", "rule", show=False, id="log.rule", tooltip="Make a rule of your own from the line under the cursor"),
    Binding("n", "finding(1)", "Next", id="log.next", tooltip="Next finding, with the first line that proves it"),
    Binding("N", "finding(-1)", show=False, id="log.previous", tooltip="The finding before"),
]
