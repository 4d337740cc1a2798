"""The training of the models that ship."""
