"""What a run will ask and spend, counted before anything is asked."""
