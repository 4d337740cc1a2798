"""Records of every model call: written before a call leaves, read before it is made again."""
