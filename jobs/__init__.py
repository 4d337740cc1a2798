"""What one submits: a stage a file, in the order of the data, and the commands over them."""
