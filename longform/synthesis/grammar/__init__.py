"""
Haystacks whose contents are known exactly: many documents that state the same few insights in different words.

The shape is SummHay's (section 3): a topic has subtopics, a subtopic has a query and insights, and which documents
state an insight is the gold standard. There a language model writes the documents and others check them; here a grammar
does, so that the gold standard is exact. Documents state an insight in words of their own, not in the reference's.
"""
