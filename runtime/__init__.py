"""The batching loader: runs the transition table over torch.distributed."""
