"""A speed test in words. Pure."""

from __future__ import annotations

from ncclcheck.model import Baseline, Comparison, DdpProof, Judgement, Pattern, Speed, SpeedTest
from ncclcheck.speedtest.reports import Suspected
from ncclcheck.speedtest.worker.words import size_words

_HEAD = ("pattern", "size", "min", "median", "p99", "algbw GB/s", "busbw GB/s", "Gbit/s")
_WIDTHS = (-10, 7, 8, 8, 8, 10, 10, 8)


def size_text(size: int) -> str:
    """Bytes as the command line takes them, where they are a round number of a unit: ``64M``."""
    return size_words(size)


def time_text(seconds: float) -> str:
    """Three digits and a unit: ``113 µs``."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms")):
        # What would be rounded up to the next unit is that unit's.
        if seconds >= 0.9995 * factor:
            return f"{_three(seconds / factor)} {unit}"
    return f"{_three(seconds / 1e-6)} µs"


def _three(value: float) -> str:
    """Three digits, never with an exponent."""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def rate_text(rate: float) -> str:
    """GB/s and Gbit/s, both decimal as NCCL counts."""
    return f"{rate:.3g} GB/s ({8 * rate:.3g} Gbit/s)"


def row_text(speed: Speed) -> str:
    """One pattern at one size as a row of the table; Gbit/s are those of the bus bandwidth."""
    times = (time_text(value) for value in (min(speed.seconds), speed.median, speed.quantile(0.99)))
    rates = (_rate(value) for value in (speed.algbw, speed.busbw, 8 * speed.busbw))
    damage = "" if speed.verified else "  DAMAGED"
    return _row((speed.pattern.value, size_words(speed.size), *times, *rates)) + damage


def _rate(value: float) -> str:
    """Three digits, or what four places after the point leave of it."""
    return f"{value:.4f}" if value < 0.1 else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _row(words: tuple[str, ...]) -> str:
    cells = (word.ljust(-width) if width < 0 else word.rjust(width) for word, width in zip(words, _WIDTHS, strict=True))
    return "  " + " ".join(cells).rstrip()


def test_text(test: SpeedTest) -> str:
    """The result: what was measured over what, or why not."""
    where = f" over {test.interface}" if test.interface else ""
    many = f", {test.ranks} ranks" if test.ranks != 2 else ""
    head = f"speed test with {test.backend or 'torch'}{where}{many}: {'passed' if test.passed else 'FAILED'}"
    return "\n".join([head, *_table(test), *_besides(test), *_reason(test)])


def _table(test: SpeedTest) -> list[str]:
    return [_row(_HEAD), *map(row_text, test.speeds)] if test.speeds else []


def _besides(test: SpeedTest) -> list[str]:
    """What does not fit into the table."""
    lines = []
    if test.latency is not None:
        lines.append(f"  latency {time_text(test.latency)}: the median of one way at the smallest size")
    if test.baseline:
        lines.append(f"  {baseline_text(test.baseline)}")
    if test.ddp:
        lines.append(f"  {ddp_text(test.ddp)}")
    if test.speeds:
        right = all(speed.verified for speed in test.speeds)
        lines.append(f"  {'every byte arrived right' if right else 'DAMAGED: what arrived is not what was sent'}")
    return lines


def _reason(test: SpeedTest) -> list[str]:
    return [f"  {test.failure}"] if test.failure else []


def baseline_text(baseline: Baseline) -> str:
    """What plain TCP did, or why nobody knows."""
    if baseline.rate is None:
        return f"plain TCP ({baseline.tool}) was not measured: {baseline.failure or 'nothing came back'}"
    flows = "1 connection" if baseline.flows == 1 else f"{baseline.flows} connections"
    where = f" over {baseline.interface}" if baseline.interface else ""
    again = f", {baseline.retransmits} segments sent again" if baseline.retransmits else ""
    return f"plain TCP ({baseline.tool}, {flows}{where}): {rate_text(baseline.rate)}{again}"


def ddp_text(proof: DdpProof) -> str:
    """Whether training over all ranks worked, and what the exchange of gradients costs."""
    same = "the same on all ranks" if proof.same else "DIFFERENT between ranks"
    loss = f"loss {proof.first_loss:.3g} → {proof.last_loss:.3g}"
    step = f"{time_text(proof.step_seconds)} a step, {proof.share:.0%} of it for the exchange of gradients"
    return f"DDP on {proof.ranks} ranks, {proof.steps} steps: parameters {same}, {loss}, {step}"


def judgement_text(judgement: Judgement) -> str:
    """What the figure means, how we know, and the one thing to try."""
    share = f", {_percent(judgement.percent)} of {rate_text(judgement.expected)}" if judgement.expected else ""
    source = f" ({judgement.source})" if judgement.source else ""
    lines = [f"{judgement.rating.value.upper()}{share}{source}: {judgement.reason}"]
    return "\n".join([*lines, *([f"  try: {judgement.next_step}"] if judgement.next_step else [])])


def _percent(value: float | None) -> str:
    return f"{value or 0:.0f} %" if (value or 0) >= 9.5 else f"{value or 0:.1f} %"


def suspicion_text(suspected: Suspected) -> str:
    """What the log gives cause to suspect, and how to read on."""
    return f"  the log points to this: {suspected.title} (ncclcheck explain {suspected.rule})"


def comparison_text(comparison: Comparison) -> str:
    """Before and after, and whether that is a proof."""
    rows = [f"  before  {_brief(comparison.before)}", f"  after   {_brief(comparison.after)}"]
    if comparison.proved:
        verdict = "Proved: the same test failed before the fix and passes now."
    else:
        verdict = "NOT proved: " + ("it passed before already." if comparison.before.passed else "it still fails.")
    return "\n".join([*rows, verdict])


def _brief(test: SpeedTest) -> str:
    """The largest size of each pattern, or why there is none."""
    where = f"{test.interface or 'unknown interface'}: "
    if not test.passed:
        return f"{where}failed, {test.failure or 'the payload was damaged'}"
    best = (speed for pattern in Pattern if (speed := test.best(pattern)))
    return where + ", ".join(f"{speed.pattern.value} {rate_text(speed.algbw)}" for speed in best)
