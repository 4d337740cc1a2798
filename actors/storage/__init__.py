"""Folders of Parquet tables, local or on S3, and the benchmark in one of them."""
