"""The science: pure functions and types. No Ray, no network, no clock, no environment."""

__version__ = "0.6.0"
