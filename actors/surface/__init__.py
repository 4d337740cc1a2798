"""The public names of the package `longform`: thin functions on texts, over the same judges as the commands."""
