import pytest

from ncclcheck.lab.storage import passwd

ROOT = "root:x:0:0:root:/root:/bin/bash\n"
DAEMON = "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (ROOT + DAEMON, "root:x:0:0:root:/etc/lab-home:/bin/bash\n" + DAEMON),
        (DAEMON, "root:x:0:0::/etc/lab-home:/bin/sh\n" + DAEMON),
        ("", "root:x:0:0::/etc/lab-home:/bin/sh\n"),
        ("# not a user\n" + ROOT, "root:x:0:0:root:/etc/lab-home:/bin/bash\n"),
    ],
    ids=["replaced", "added", "empty file", "odd lines are dropped"],
)
def test_only_the_labs_user_moves(before, after):
    assert passwd(before, 0, "/etc/lab-home") == after
