"""The words that deflate takes for known when it packs a card.

They are a part of card version 1: a card that was packed with them can only be unpacked with the very same bytes.
Another list would be another version. What is likely stands last, where references are shortest (RFC 1950, 2.2).
"""

from __future__ import annotations


def _words(text: str) -> bytes:
    """Each word behind its length, as msgpack writes a short text."""
    return b"".join(bytes([0xA0 | len(word)]) + word.encode() for word in text.split())


_RARE = """
tunnel wireless virbr0 virbr bond0 bond vlan macvlan ipvlan dummy openvswitch vxlan wireguard tun0 tap0 wg0
ibp ibs enp enx ens eno wlan0 flannel.1 cni0 cali weave br0 br- lxcbr0 podman0 tailscale0
ib0 ib1 ib2 ib3 ib4 ib5 ib6 ib7 ib8 ipoib mlx5_bond_0 rocep roceo
enp1s0 enp2s0 enp3s0 enp5s0f0 enp5s0f1 ens3 ens5 ens160 eno1 eno2
e1000e igb ixgbe ixgbevf i40e ice bnxt_en bnx2x r8169 tg3 vmxnet3 gve ena efa hv_netvsc mana virtio_net mlx4_core
mlx5_core qede atlantic ib_ipoib bridge veth
NCCL_TOPO_FILE NCCL_GRAPH_FILE NCCL_ALGO NCCL_PROTO NCCL_MIN_NCHANNELS NCCL_MAX_NCHANNELS NCCL_BUFFSIZE NCCL_NTHREADS
NCCL_SHM_DISABLE NCCL_P2P_DISABLE NCCL_P2P_LEVEL NCCL_P2P_NET_CHUNKSIZE NCCL_NET_GDR_LEVEL NCCL_NET_GDR_READ
NCCL_NVLS_ENABLE NCCL_CROSS_NIC NCCL_IB_QPS_PER_CONNECTION NCCL_IB_SPLIT_DATA_ON_QPS NCCL_IB_SL NCCL_IB_TC
NCCL_IB_TIMEOUT NCCL_IB_RETRY_CNT NCCL_IB_PCI_RELAXED_ORDERING NCCL_IB_ADAPTIVE_ROUTING NCCL_IB_PKEY
NCCL_IB_CUDA_SUPPORT NCCL_COLLNET_ENABLE NCCL_NET_PLUGIN NCCL_TUNER_PLUGIN NCCL_NET NCCL_DMABUF_ENABLE
NCCL_CUMEM_ENABLE NCCL_NSOCKS_PERTHREAD NCCL_SOCKET_NTHREADS NCCL_ASYNC_ERROR_HANDLING NCCL_BLOCKING_WAIT
NCCL_LAUNCH_MODE NCCL_COMM_ID NCCL_CONF_FILE NCCL_DEBUG_FILE NCCL_DEBUG_SUBSYS NCCL_SET_THREAD_NAME
NCCL_OOB_NET_ENABLE NCCL_OOB_NET_IFNAME NCCL_SOCKET_FAMILY AF_INET AF_INET6 NCCL_IB_GID_INDEX NCCL_IB_HCA
NCCL_IB_DISABLE GLOO_SOCKET_IFNAME MASTER_ADDR MASTER_PORT 29500 TRACE WARN INFO NCCL_DEBUG NCCL_SOCKET_IFNAME
Apptainer WSL LXC Podman Kubernetes RunPod AWS Azure GCP AutoDL vast.ai provider Docker runtime
"""
_LOOSE = (
    b"NVIDIA GeForce RTX 3090NVIDIA GeForce RTX 4090NVIDIA GeForce RTX 5090NVIDIA L40SNVIDIA A10GNVIDIA L4Tesla V100-"
    b"SXM2-32GBNVIDIA A100-SXM4-40GBNVIDIA A100-SXM4-80GBNVIDIA B200NVIDIA GB200NVIDIA H20NVIDIA H200NVIDIA H100 80GB "
    b"HBM3a card leaves out what is too long or too much for itthe value of routes beyond the first 32interfaces beyond"
    b"the first 256.compute.internal.ec2.internal.localdomain.cluster.local.svc\xb0~/.nccl.conf\xae/etc/nccl.conf"
    b"=eth0=eth1^docker0^docker0,lo^lo,docker0^docker,lo\xabenvironment\xc0\xa6"
    b"40 Gb/sec (4X QDR)56 Gb/sec (4X FDR)25 Gb/sec (1X EDR)100 Gb/sec (2X HDR)800 Gb/sec (8X NDR)\xb2"
    b"100 Gb/sec (4X EDR)\xb3200 Gb/sec (4X HDR)\xb3400 Gb/sec (4X NDR)"
    b"\x94\x01\xa8Ethernet\xa4DOWN\x94\x01\xaaInfiniBand\xa4INIT\x94\x01\xaaInfiniBand\xa6ACTIVE\xb3400 Gb/sec (4X NDR)"
    b"\x94\x01\xa8Ethernet\xa6ACTIVE\xb3100 Gb/sec (4X EDR)"
    b"\x93\xa6mlx5_0\x91\xa4eth2\x91\xa6mlx5_1\x91\xa6mlx5_2\x91\xa6mlx5_3\xa6mlx5_4\xa6mlx5_5\xa6mlx5_6\xa6mlx5_7"
)
_LIMITS = (
    b"\x93\xa7memlock\xce\x00\x80\x00\x00\xa5bytes\x93\xacmemlock_hard\xce\x00\x80\x00\x00\xa5bytes"
    b"\x93\xa7memlock\xc0\xa5bytes\x93\xacmemlock_hard\xc0\xa5bytes"
    b"\x93\xa6nofile\xcd\x04\x00\xa5files\x93\xabnofile_hard\xce\x00\x10\x00\x00\xa5files"
    b"\x93\xa3shm\xce\x04\x00\x00\x00\xa5bytes\x93\xa8shm_free\xce\x04\x00\x00\x00\xa5bytes\x93\xa3shm\xcf\x00\x00\x00"
    b"\x93\xaaport_first\xcd\x80\x00\xa0\x93\xa9port_last\xcd\xeeG\xa0"
    b"\x93\xaasomaxconn\xcd\x10\x00\xa0\x93\xaftcp_syn_retries\x06\xa0\x93\xa9rp_filter\x00\xa0"
    b"\x93\xa9rp_filter\x01\xa0\x93\xa9rp_filter\x02\xa0"
)
_LINKS = (
    b"172.31.100.64.172.20.172.18.0.1169.254.fe80::fc00::fd00:2001:db8:169.254.0.0/16172.16.0.0/12"
    b"\xc0\xc0\x80\x93\xb0172.17.0.0/16\xa7docker0\xc0\x00"
    b"172.17.0.2\x10\xc0127.0.1.1localhost\xa7reverse\x90\xabMASTER_ADDR\xa8own name\x91"
    b"net:[4026531840]net:[402653\xb010.0.0.0/8 10.0.0.0/24\xae192.168.0.0/24192.168.1.0/24"
    b"\x94\xa4::/0\xa4eth0\xa7fe80::1\xcd\x04\x00\x94\xa90.0.0.0/0\xa4eth0\xaa172.17.0.1\x00"
    b"\x94\xa90.0.0.0/0\xa4eth0\xa810.0.0.1\xcd\x64\x94\xa90.0.0.0/0\xa4eth0\xab192.168.1.1\x00"
    b"2.18.12.19.32.20.52.21.52.22.32.23.42.24.32.25.12.26.22.26.52.27.32.27.52.28.32.28.92.29.22.30.42.32.3"
    b"\xa62.29.7\x92\xa0"
    b"\x9b\xa3ib0\x05\xa5ipoib\xc3\xc3\xcd\x08\x00\xce\x00\x06\x1a\x80\x91\x93\xa8mlx5_core\xc0\x90"
    b"\x9b\xa4eth1\x03\xa8ethernet\xc3\xc3\xcd\x23\x28\xce\x00\x01\x86\xa0\x92\x93\x18\xc0\x93\xb8fe80::\x40\xc0"
    b"\xa9mlx5_core\xc0\x90\x9b\xa4eth0\x02\xa4veth\xc3\xc3\xcd\x05\xdc\xc0\x91\x93\xaa172.17.0.2\x10\xc0\xa4veth\xc0\x90"
    b"\x9b\xa7docker0\x04\xa6docker\xc3\xc2\xcd\x05\xdc\xc0\x91\x93\xaa172.17.0.1\x10\xc0\xa6bridge\xc0\x90"
    b"\x9b\xa4eth0\x02\xa8ethernet\xc3\xc3\xcd\x05\xdc\xcd\x27\x10\x91\x93\xab192.168.1.\x18\xc0\xaavirtio_net\xc0\x90"
)

WORDS = _words(_RARE) + _LOOSE + _LIMITS + _LINKS
