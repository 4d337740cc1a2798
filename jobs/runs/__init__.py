"""One run folder: its plan, its record, its order of stages and its judge cards."""
