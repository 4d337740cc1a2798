"""
Haystacks written by chat models: outline, documents, and the check of every step (SummHay, section 3.2 and A.1).

Each step is a plan: a generator that yields questions and is sent their replies. A plan does no I/O, so that the same
plan runs over the chat pool, over a scripted model, and in a test without either.
"""
