"""Lines of an nccl.conf that do not do what their author meant, each with its trouble and the line as it should be."""

from __future__ import annotations

from ncclcheck.model import Trouble

GUIDE = "NCCL_SOCKET_IFNAME=eth1  # Replace with your own network interface name"

TRAPS = [
    (GUIDE, Trouble.COMMENT, "NCCL_SOCKET_IFNAME=eth1"),
    ("NCCL_SOCKET_IFNAME=^lo,docker0  # skip", Trouble.COMMENT, "NCCL_SOCKET_IFNAME=^lo,docker0"),
    ("NCCL_DEBUG=INFO # x", Trouble.COMMENT, "NCCL_DEBUG=INFO"),
    ("NCCL_IB_DISABLE=1  # off", Trouble.COMMENT, "NCCL_IB_DISABLE=1"),
    ("NCCL_SOCKET_IFNAME = eth0", Trouble.BLANKS, "NCCL_SOCKET_IFNAME=eth0"),
    ("  NCCL_SOCKET_IFNAME=eth0", Trouble.BLANKS, "NCCL_SOCKET_IFNAME=eth0"),
    ("NCCL_SOCKET_IFNAME= eth0", Trouble.BLANKS, "NCCL_SOCKET_IFNAME=eth0"),
    ("NCCL_SOCKET_IFNAME=eth0\t", Trouble.BLANKS, "NCCL_SOCKET_IFNAME=eth0"),
    ("NCCL_SOCKET_IFNAME=eth9, eth0", Trouble.BLANKS, "NCCL_SOCKET_IFNAME=eth9,eth0"),
    ("NCCL_DEBUG_SUBSYS=INIT, NET", Trouble.BLANKS, "NCCL_DEBUG_SUBSYS=INIT,NET"),
    ('NCCL_SOCKET_IFNAME="eth0"', Trouble.QUOTES, "NCCL_SOCKET_IFNAME=eth0"),
    ("NCCL_SOCKET_IFNAME=eth0;", Trouble.QUOTES, "NCCL_SOCKET_IFNAME=eth0"),
    ("export NCCL_SOCKET_IFNAME=eth0", Trouble.EXPORT, "NCCL_SOCKET_IFNAME=eth0"),
    ("NCCL_SOCKET_IFNAME=eth0\r", Trouble.CARRIAGE_RETURN, "NCCL_SOCKET_IFNAME=eth0"),
    ("\ufeffNCCL_SOCKET_IFNAME=eth0", Trouble.BYTE_ORDER_MARK, "NCCL_SOCKET_IFNAME=eth0"),
    ("NCCL_SOCKET_IFNAME eth0", Trouble.NO_EQUALS, "NCCL_SOCKET_IFNAME=eth0"),
    ("NCCL_SOCKET_IFNAME: eth0", Trouble.NO_EQUALS, "NCCL_SOCKET_IFNAME=eth0"),
    ("NCCL_SOCKET_IFNAME=^docker", Trouble.EXCLUSION, "NCCL_SOCKET_IFNAME=^docker,lo"),
    ("NCCL_SOCKET_IFNAME=^eth0", Trouble.EXCLUSION, "NCCL_SOCKET_IFNAME=^eth0,docker,lo"),
    ("NCCL_SOCKET_IFNAME=^=eth0", Trouble.EXCLUSION, "NCCL_SOCKET_IFNAME=^=eth0,docker0,lo"),
    ("NCCL_SOCKET_IFNAME=^eth0,^lo", Trouble.MISPLACED_MARK, "NCCL_SOCKET_IFNAME=^eth0,lo"),
    ("NCCL_SOCKET_IFNAME=eth9,=eth1", Trouble.MISPLACED_MARK, "NCCL_SOCKET_IFNAME==eth9,eth1"),
    ("NCCL_SOCKET_IFNAME==^lo,docker0", Trouble.MISPLACED_MARK, "NCCL_SOCKET_IFNAME=^=lo,docker0"),
    ("NCCL_SOCKET_IFNAME=eth*", Trouble.WILDCARD, "NCCL_SOCKET_IFNAME=eth"),
    ("NCCL_SOCKET_IFNAME=e", Trouble.TOO_SHORT, ""),
    ("NCCL_DEBUG=WARNING", Trouble.SILENCED, "NCCL_DEBUG=WARN"),
    ("NCCL_DEBUG=on", Trouble.SILENCED, "NCCL_DEBUG=INFO"),
    ("NCCL_DEBUG_SUBSYS=FOO", Trouble.SILENCED, "NCCL_DEBUG_SUBSYS=INIT,BOOTSTRAP,ENV,NET"),
    ("NCCL_DEBUG_SUBSYS=INIT,FOO", Trouble.NOT_A_CHOICE, "NCCL_DEBUG_SUBSYS=INIT"),
    ("NCCL_SOCKET_FAMILY=ipv6", Trouble.NOT_A_CHOICE, "NCCL_SOCKET_FAMILY=AF_INET6"),
    ("NCCL_IB_DISABLE=true", Trouble.NOT_A_NUMBER, "NCCL_IB_DISABLE=1"),
    ("NCCL_IB_GID_INDEX=03", Trouble.NOT_A_NUMBER, "NCCL_IB_GID_INDEX=3"),
    ("NCCL_IB_GID_INDEX=three", Trouble.NOT_A_NUMBER, "NCCL_IB_GID_INDEX=0"),
    ("NCCL_IB_TIMEOUT=200", Trouble.OUT_OF_RANGE, "NCCL_IB_TIMEOUT=31"),
    ("NCCL_SOCKET_INAME=eth0", Trouble.UNKNOWN_NAME, "NCCL_SOCKET_IFNAME=eth0"),
    ("nccl_socket_ifname=eth0", Trouble.UNKNOWN_NAME, "NCCL_SOCKET_IFNAME=eth0"),
    ("NCCL_AGG_CHANNEL_SIZE=1", Trouble.OTHER_VERSION, "NCCL_AGG_CHANNEL_SIZE=1"),
    ("NCCL_IGNORE_NET_MISMATCH=0", Trouble.OTHER_VERSION, "NCCL_IGNORE_NET_MISMATCH=0"),
    ("NCCL_CONF_FILE=/opt/nccl.conf", Trouble.NO_EFFECT, ""),
    ("NCCL_TOPO_FILE=~/topo.xml", Trouble.TILDE, "NCCL_TOPO_FILE=~/topo.xml"),
]
