"""How the shipped models are fitted, and what they reach on what they were not fitted on."""
