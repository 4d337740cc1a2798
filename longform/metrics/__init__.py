"""One measure, one file: from judgements or rankings to a number for one summary or one query."""
