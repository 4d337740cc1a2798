"""Fit the shipped models, and measure them on data kept from the fit."""
