"""Files as a command names them: answers, folders here or on `s3://`, tables of vectors."""
