"""Signs of containers and providers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncclcheck.errors import RuleError
from ncclcheck.model import Hint
from ncclcheck.node import places
from ncclcheck.rulebook.library import builtin_folder
from tests.node.files_made import write

PLACES = builtin_folder() / "places.toml"


@pytest.mark.parametrize(
    ("files", "env", "host", "hint"),
    [
        ({".dockerenv": ""}, {}, "a", Hint("Docker", "runtime", ("/.dockerenv exists",))),
        (
            {"proc/self/mountinfo": "1 2 /var/lib/docker/containers/ab/hosts /etc/hosts"},
            {},
            "a",
            Hint("Docker", "runtime", ("/proc/self/mountinfo says “/docker/containers/”",)),
        ),
        ({"run/.containerenv": ""}, {}, "a", Hint("Podman", "runtime", ("/run/.containerenv exists",))),
        (
            {},
            {"KUBERNETES_SERVICE_HOST": "10.0.0.1"},
            "a",
            Hint("Kubernetes", "runtime", ("KUBERNETES_SERVICE_HOST is set",)),
        ),
        ({}, {"container": "lxc"}, "a", Hint("LXC", "runtime", ("container is set",))),
        (
            {"proc/sys/kernel/osrelease": "5.15.0-microsoft-standard-WSL2"},
            {},
            "a",
            Hint("WSL", "runtime", ("/proc/sys/kernel/osrelease says “(?i)microsoft”",)),
        ),
        ({}, {"VAST_CONTAINERLABEL": "C.1"}, "a", Hint("vast.ai", "provider", ("VAST_CONTAINERLABEL is set",))),
        (
            {},
            {},
            "autodl-container-3e581195ae-be8c3f28",
            Hint("AutoDL", "provider", ("the host is called autodl-container-3e581195ae-be8c3f28",)),
        ),
        ({}, {"RUNPOD_POD_ID": "x"}, "a", Hint("RunPod", "provider", ("RUNPOD_POD_ID is set",))),
        (
            {"sys/class/dmi/id/sys_vendor": "Amazon EC2\n"},
            {},
            "a",
            Hint("AWS", "provider", ("/sys/class/dmi/id/sys_vendor says “^Amazon EC2”",)),
        ),
        (
            {"sys/class/dmi/id/product_name": "Google Compute Engine\n"},
            {},
            "a",
            Hint("GCP", "provider", ("/sys/class/dmi/id/product_name says “^Google Compute Engine”",)),
        ),
        (
            {"sys/class/dmi/id/chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77\n"},
            {},
            "a",
            Hint(
                "Azure", "provider", ("/sys/class/dmi/id/chassis_asset_tag says “^7783-7084-3265-9085-8269-3286-77”",)
            ),
        ),
    ],
)
def test_every_sign_is_told_with_its_evidence(
    tmp_path: Path, files: dict[str, str], env: dict[str, str], host: str, hint: Hint
) -> None:
    for name, text in files.items():
        write(tmp_path / name, text)

    assert places.hints(places.load(PLACES), tmp_path, env, host) == (hint,)


def test_a_place_without_signs_is_not_named(tmp_path: Path) -> None:
    write(tmp_path / "sys/class/dmi/id/sys_vendor", "Microsoft Corporation\n")

    assert places.hints(places.load(PLACES), tmp_path, {"container": "oci"}, "node-a") == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[place]]\nname = 'x'\nrole = 'cloud'\nmark = []", "cloud"),
        ("[[place]]\nname = 'x'\nrole = 'runtime'\ncolour = 1\nmark = []", "colour"),
        ("[[place]]\nname = 'x'\nrole = 'runtime'\nmark = [{file = '/x', env = 'X'}]", "one of file, env and host"),
        ("[[place]]\nname = 'x'\nrole = 'runtime'\nmark = [{host = '('}]", "unterminated"),
        ("[[place", "Expected"),
    ],
)
def test_a_broken_table_is_an_error_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    path = write(tmp_path / "places.toml", text)

    with pytest.raises(RuleError, match=problem) as caught:
        places.load(path)
    assert caught.value.place == str(path)
