"""Chat models behind one pool: within the limits, never paid twice, each failure a reply."""
