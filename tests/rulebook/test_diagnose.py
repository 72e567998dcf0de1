"""Running rules: what is found, in which order, and what is folded under what."""

from __future__ import annotations

from ncclcheck.logs.events import Shape, Shapes
from ncclcheck.logs.job import read_job
from ncclcheck.logs.sources import pasted
from ncclcheck.model import Confidence, FileContent, Finding, Fix, Risk, Scope, Severity, Where
from ncclcheck.rulebook.diagnose import findings
from ncclcheck.rulebook.schema import Also, Bound, FixSpec, Match, RuleSpec

SHAPES = Shapes(
    (Shape("cold", "is cold", r"(?P<name>\w+) is cold"), Shape("warm", "is warm", r"(?P<name>\w+) is warm"))
)


def rule(id: str, *match: Match, **parts: object) -> RuleSpec:
    """A rule of a few words."""
    told: dict[str, object] = {
        "name": "x",
        "cause": "bad-link",
        "title": "{event.name} is out",
        "severity": "error",
        "confidence": "likely",
        "explanation": "",
        "not_proof_of": "",
        "sample": (),
    }
    return RuleSpec(id=id, match=match, **{**told, **parts})  # type: ignore[arg-type]


def found(text: str, *rules: RuleSpec) -> tuple[Finding, ...]:
    """What the rules find in a text."""
    return findings(read_job([pasted(text, "log")], SHAPES, ()).job, rules)


COLD = Match("event", where={"kind": "cold"})
WARM = Match("event", where={"kind": "warm"})


def test_a_finding_has_its_places_and_words() -> None:
    fix = FixSpec(
        title="Heat {event.name}",
        scope="this-node",
        risk="safe",
        env={"HEAT": "{event.name}"},
        commands=("heat {name}",),
        conf=True,
    )
    assert found("it is cold\nhe is cold", rule("NC950", COLD, fix=(fix,))) == (
        Finding(
            rule="NC950",
            cause="bad-link",
            severity=Severity.ERROR,
            confidence=Confidence.LIKELY,
            title="it is out",
            explanation="",
            not_proof_of="",
            subject=(("host", "the node of log"),),
            ranks=(),
            evidence=(Where("log", 1), Where("log", 2)),
            fixes=(
                Fix(
                    title="Heat it",
                    scope=Scope.THIS_NODE,
                    risk=Risk.SAFE,
                    env=(("HEAT", "it"),),
                    commands=("heat it",),
                    files=(FileContent("/etc/nccl.conf", "HEAT=it\n"),),
                ),
            ),
        ),
    )


def test_by_makes_one_finding_for_each() -> None:
    titles = [finding.title for finding in found("it is cold\nhe is cold", rule("NC950", COLD, by=("event.name",)))]
    assert titles == ["it is out", "he is out"]


def test_count_asks_for_several() -> None:
    twice = Match("event", where={"kind": "cold"}, count=2)
    assert found("it is cold", rule("NC950", twice)) == ()
    assert len(found("it is cold\nit is cold", rule("NC950", twice))) == 1


def test_with_and_without() -> None:
    warm_too = (Also("event", where={"kind": "warm"}, same=("event.name",), name="other"),)
    beside = rule("NC950", Match("event", where={"kind": "cold"}, with_=warm_too), title="{other.name}")
    alone = rule("NC950", Match("event", where={"kind": "cold"}, without=warm_too))
    assert [finding.title for finding in found("it is cold\nit is warm", beside)] == ["it"]
    assert found("it is cold\nhe is warm", beside) == ()
    assert found("it is cold\nit is warm", alone) == ()
    assert len(found("it is cold\nhe is warm", alone)) == 1


def test_roots_come_first_and_hide_their_echoes() -> None:
    rules = (
        rule("NC951", WARM, severity="info"),
        rule("NC952", COLD, confidence="possible"),
        rule("NC953", COLD, explains=("NC954",)),
        rule("NC954", WARM),
    )
    told = found("it is cold\nit is warm", *rules)
    assert [(finding.rule, finding.explains) for finding in told] == [
        ("NC953", ("NC954",)),
        ("NC952", ()),
        ("NC951", ()),
    ]


def test_an_echo_is_told_only_where_nothing_else_is() -> None:
    rules = (rule("NC951", COLD, echo=True), rule("NC952", WARM))
    assert [finding.rule for finding in found("it is cold", *rules)] == ["NC951"]
    assert [finding.rule for finding in found("it is cold\nit is warm", *rules)] == ["NC952"]


def test_a_fix_without_its_names_is_left_out_and_a_title_says_unknown() -> None:
    half = FixSpec(title="Ask {nobody}", scope="this-node", risk="manual")
    never = FixSpec(title="Never", scope="this-node", risk="manual", when={"nobody": Bound(present=True)})
    (finding,) = found("it is cold", rule("NC950", COLD, title="{nobody} is out", fix=(half, never)))
    assert (finding.title, finding.fixes) == ("(unknown) is out", ())


def test_names_are_quoted_for_the_shell() -> None:
    fix = FixSpec(title="x", scope="this-node", risk="manual", commands=("heat {shown}",))
    shapes = Shapes((Shape("cold", "is cold", r"(?P<shown>.+) is cold"),))
    job = read_job([pasted("a; rm -rf / is cold", "log")], shapes, ()).job
    (finding,) = findings(job, (rule("NC950", COLD, title="x", fix=(fix,)),))
    assert finding.fixes[0].commands == ("heat 'a; rm -rf /'",)
