"""The actors behind Ray Serve: embeddings, rerankers and judges over HTTP, for other jobs and people."""
