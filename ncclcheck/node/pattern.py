"""The syntax of NCCL_SOCKET_IFNAME, as NCCL itself reads it (pure).

Source: parseStringList, matchIf and matchIfList of NCCL's misc/utils.cc; measured with NCCL 2.13.4 to 2.32.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from ncclcheck.node.undecodable import shown
from ncclcheck.node.version import since

_MOST_NAMES = 16


@dataclass(frozen=True, slots=True)
class Pattern:
    """A list of names, or of beginnings of names, to take or to leave out."""

    text: str
    names: tuple[str, ...]
    exact: bool = False
    exclude: bool = False

    def lists(self, name: str) -> bool:
        """Whether the list holds the name; an empty list holds every name."""
        if not self.names:
            return True
        return name in self.names if self.exact else name.startswith(self.names)

    def admits(self, name: str) -> bool:
        """Whether NCCL may take an interface of this name."""
        return self.lists(name) != self.exclude

    @property
    def words(self) -> str:
        """The rule for a name, to follow "its name": ``begins with eth1``."""
        if not self.names:
            return "may be anything" if not self.exclude else "may be nothing at all"
        listed = " or ".join(f"“{shown(name)}”" for name in self.names)
        verbs = {
            (False, False): "begins with",
            (True, False): "is exactly",
            (False, True): "does not begin with",
            (True, True): "is not exactly",
        }
        return f"{verbs[self.exact, self.exclude]} {listed}"


def parse(text: str, nccl: str) -> Pattern:
    """``^=eth0,lo`` as NCCL of that version understands it; marks count only as the very first characters."""
    exclude = text.startswith("^")
    rest = text[1:] if exclude else text
    exact = rest.startswith("=") and since(nccl, 2, 5)
    return Pattern(text=text, names=split_names(rest[1:] if exact else rest), exact=exact, exclude=exclude)


def split_names(text: str) -> tuple[str, ...]:
    """The names of a comma list: what follows a colon is dropped, empty ones too, blanks and quotes stay."""
    # A NUL cannot come through the environment, so the comma and the colon are all that ends a name.
    names = (entry.split(":", 1)[0] for entry in text.split(","))
    return tuple(name for name in names if name)[:_MOST_NAMES]
