"""Citations replaced by those that a matrix or a judge supports."""
