"""``rules check`` on guides: what can't be looked at is said, translations are compared, manifests are read.

The mistakes of a guide itself, each with its answer, are in ``tests/bad_rules/guides``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ncclcheck.cli.diagnostics import ExitCode
from ncclcheck.cli.main import main
from ncclcheck.rulebook.check import check
from ncclcheck.rulebook.guide_check import bash_says, guide_flaws, shelf
from ncclcheck.rulebook.guide_manifest import manifest_flaws
from ncclcheck.rulebook.guide_schema import Guide
from ncclcheck.rulebook.guides import guide_files
from ncclcheck.rulebook.library import builtin_folder
from ncclcheck.rulebook.load import decoded
from tests.rulebook.small_guides import CLOUD, write_guides

POD = """
      hostNetwork: true
      restartPolicy: Never
      containers:
      - name: train
        image: pytorch/pytorch
        env:
        - {name: NCCL_DEBUG, value: INFO}
        volumeMounts:
        - {name: shm, mountPath: /dev/shm}
      volumes:
      - name: shm
        emptyDir: {medium: Memory, sizeLimit: 8Gi}
"""
JOB = f"""
apiVersion: batch/v1
kind: Job
metadata:
  name: train
spec:
  completions: 2
  parallelism: 2
  completionMode: Indexed
  template:
    metadata:
      labels: {{app: train}}
    spec:{POD}
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata:
  name: train
spec:
  clusterIP: None
  selector: {app: train}
"""
COMPOSE = """
services:
  train:
    image: pytorch/pytorch
    network_mode: host
    shm_size: 8gb
    ulimits: {memlock: -1}
    environment: {NCCL_DEBUG: INFO}
"""
SET = (
    JOB.replace("batch/v1", "apps/v1")
    .replace("kind: Job", "kind: StatefulSet")
    .replace(
        "  completions: 2\n  parallelism: 2\n  completionMode: Indexed\n",
        "  serviceName: train\n  replicas: 2\n  selector:\n    matchLabels: {app: train}\n",
    )
)


@pytest.fixture(autouse=True)
def _no_rules_of_ones_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def one(folder: Path, text: str = CLOUD) -> Path:
    """A folder of rules with one guide in it."""
    write_guides(folder, cloud=text)
    for name in ("run", "nodes"):
        (folder / "guides" / f"{name}.toml").unlink()
    return folder


def test_a_sound_guide_passes(tmp_path: Path) -> None:
    checked = check((one(tmp_path),))
    assert (checked.guides, checked.faults, checked.undone) == (1, (), ())


def test_the_example_in_the_authors_guide_passes(tmp_path: Path) -> None:
    text = (builtin_folder() / "README.md").read_text(encoding="utf-8").partition("## Guides")[2]
    checked = check((one(tmp_path, text.partition("```toml\n")[2].partition("```")[0]),))
    assert (checked.guides, checked.faults) == (1, ())


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("bash", "the commands of guides were not parsed: there is no bash here"),
        ("yaml", "the manifests of guides were not read: pip install 'ncclcheck[guides]'"),
    ],
)
def test_what_cannot_be_looked_at_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], missing: str, said: str
) -> None:
    doubled = SERVICE.replace("{", "{{").replace("}", "}}")
    folder = one(tmp_path, CLOUD.replace('undo = "`cloud remove`"', f"manifest = '''{doubled}'''"))
    if missing == "bash":
        monkeypatch.setenv("PATH", str(tmp_path))
    else:
        monkeypatch.setattr("ncclcheck.rulebook.guide_check.find_spec", lambda name: None)
    assert main(["rules", "check", str(folder)]) == ExitCode.UNKNOWN
    assert f"not checked: {said}\n" in capfd.readouterr().out


def test_nothing_to_look_at_needs_no_tool(tmp_path: Path) -> None:
    plain = CLOUD.replace('commands = ["cloud make {project}", "env {setting} cloud list"]', "")
    path = next(guide_files((one(tmp_path, plain),)))
    known = replace(shelf({path: decoded(path, Guide)}, frozenset({"NC802"})), parses=None, yaml=False)
    assert known.undone(known.guides) == ()
    assert [flaw.key for flaw in guide_flaws(path, known.guides[path], known)] == ["step[0].ask.project"]


def test_bash_reads_a_command_and_does_not_run_it(tmp_path: Path) -> None:
    assert bash_says("bash", f"touch {tmp_path}/hit; cd /nowhere") == ""
    assert bash_says("bash", "if true; then x").startswith("syntax error: unexpected end of file")
    assert list(tmp_path.iterdir()) == []


def test_a_guide_in_the_wrong_place_is_told_where_to_go(tmp_path: Path) -> None:
    (tmp_path / "cloud.toml").write_text(CLOUD, encoding="utf-8")
    (fault,) = check((tmp_path,)).faults
    assert (fault.place, fault.next_step) == ("cloud.toml", f"move it to {tmp_path.name}/guides/")


@pytest.mark.parametrize(
    ("texts", "place", "problem"),
    [
        ('text = "Hallo."\n', "", ""),
        ('titel = "X"\n', "de/cloud.toml", "Object contains unknown field `titel`"),
        ('commands = ["rm"]\n', "de/cloud.toml", "Object contains unknown field `commands`"),
        ('[[step]]\nid = "mak"\n', "de/cloud.toml, key step[0].id", "cloud has no step mak"),
        (
            '[[step]]\nid = "make"\ntext = "{wirt}"\n',
            "de/cloud.toml, key step[0].text",
            "{wirt} has no source",
        ),
        (
            '[[step]]\nid = "make"\nask = { projekt = { question = "?" } }\n',
            "de/cloud.toml, key step[0].ask.projekt",
            "the step does not ask projekt",
        ),
        (
            '[[step]]\nid = "make"\ncheck = [{ fails = "X" }]\n',
            "de/cloud.toml, key step[0].check",
            "the step has 0 checks, not 1",
        ),
        ('terms = { Netz = "…" }\n', "de/cloud.toml, key terms.Netz", "the term is explained and never used"),
    ],
)
def test_translations(tmp_path: Path, texts: str, place: str, problem: str) -> None:
    (one(tmp_path) / "guides" / "de").mkdir()
    (tmp_path / "guides" / "de" / "cloud.toml").write_text(texts, encoding="utf-8")
    faults = [(fault.place, fault.problem) for fault in check((tmp_path,)).faults]
    assert faults == ([(place, problem)] if place else [])


def test_a_translation_of_no_guide_is_told(tmp_path: Path) -> None:
    (one(tmp_path) / "guides" / "de").mkdir()
    (tmp_path / "guides" / "de" / "cloudy.toml").write_text('text = "Hallo."\n', encoding="utf-8")
    (fault,) = check((tmp_path,)).faults
    assert (fault.problem, fault.next_step) == ("there is no guide cloudy to translate", "did you mean cloud?")


@pytest.mark.parametrize("text", [JOB, SERVICE, COMPOSE, SET, f"{SERVICE}---{JOB}"])
def test_sound_manifests(text: str) -> None:
    assert list(manifest_flaws("manifest", text)) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (JOB.replace("Indexed", "Index"), "Job, completionMode: Invalid enum value 'Index'"),
        (JOB.replace("Memory", "memory"), "Job, template.spec.volumes[0].emptyDir.medium: Invalid enum value 'memory'"),
        (JOB.replace("Never", "Always"), "a Job's pods cannot be restarted always"),
        (JOB.replace("  name: train\nspec", "  labels: {}\nspec"), "Job has no name"),
        (JOB.replace("image: pytorch/pytorch", "imagePullPolicy: Always"), "missing required field `image`"),
        (JOB.replace("batch/v1", "batch/v2"), "nothing is known of Job of batch/v2"),
        (JOB.replace("spec:\n  completions", "spce:\n  completions"), "Job takes no spce"),
        (SET.replace("matchLabels: {app: train}", "matchLabels: {app: x}"), "the selector does not select the pods"),
        (COMPOSE.replace("memlock: -1", "memlock: none"), "compose file, services[...].ulimits[...]: "),
        (COMPOSE + "    shm_size: 1gb\n", "the key shm_size stands twice"),
        ("- just a list\n", "is a text or a list, not a manifest"),
        ("# nothing\n", "holds nothing"),
        ("a: !!python/object/apply:os.system [true]\n", "is no YAML: could not determine a constructor"),
    ],
)
def test_mistakes_in_manifests(text: str, problem: str) -> None:
    assert problem in next(manifest_flaws("manifest", text)).problem
