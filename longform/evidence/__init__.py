"""Evidence of a run as frames of polars: a study is a query over them."""
