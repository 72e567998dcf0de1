"""Finds out why a multi-node PyTorch + NCCL job hangs, fixes it, and proves the fix."""

__version__ = "0.1.0"
