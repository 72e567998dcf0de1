"""What nodes find out together: cards, the way between them, and NCCL's own handshake."""
