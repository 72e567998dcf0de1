"""A speed test in words. Pure."""

from __future__ import annotations

from ncclcheck.model import Comparison, Speed, SpeedTest


def size_text(size: int) -> str:
    """Bytes as the command line takes them, where they are a round number of a unit: ``64M``."""
    for exponent, unit in ((3, "G"), (2, "M"), (1, "K")):
        if size % 1024**exponent == 0:
            return f"{size // 1024**exponent}{unit}"
    return str(size)


def rate_text(speed: Speed) -> str:
    """GB/s and Gbit/s, both decimal as NCCL counts."""
    rate = speed.algbw
    return f"{rate:.3g} GB/s ({8 * rate:.3g} Gbit/s)"


def speed_text(speed: Speed) -> str:
    """One direction on one line."""
    checksum = "every byte arrived right" if speed.verified else "DAMAGED: what arrived is not what was sent"
    rounds = f"median of {len(speed.seconds)} rounds of {size_text(speed.size)}"
    return f"{speed.pattern.value:<9}  {rate_text(speed)}, {rounds}; {checksum}"


def test_text(test: SpeedTest) -> str:
    """The result: what was measured over what, or why not."""
    where = f" over {test.interface}" if test.interface else ""
    head = f"speed test with {test.backend or 'torch'}{where}: {'passed' if test.passed else 'FAILED'}"
    rows = [f"  {speed_text(speed)}" for speed in test.speeds]
    reason = [f"  {test.failure}"] if test.failure else []
    return "\n".join([head, *rows, *reason])


def comparison_text(comparison: Comparison) -> str:
    """Before and after, and whether that is a proof."""
    rows = [f"  before  {_brief(comparison.before)}", f"  after   {_brief(comparison.after)}"]
    if comparison.proved:
        verdict = "Proved: the same test failed before the fix and passes now."
    else:
        verdict = "NOT proved: " + ("it passed before already." if comparison.before.passed else "it still fails.")
    return "\n".join([*rows, verdict])


def _brief(test: SpeedTest) -> str:
    where = f"{test.interface or 'unknown interface'}: "
    if not test.passed:
        return f"{where}failed, {test.failure or 'the payload was damaged'}"
    return where + ", ".join(f"{speed.pattern.value} {rate_text(speed)}" for speed in test.speeds)
