"""Models on this machine: checkpoints, encoders, tokenizers and their training."""
