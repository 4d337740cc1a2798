"""Questions with key points, made from documents (LONG2RAG, section 3)."""
