"""The commands: a verb a file; the rooms hold what several verbs share."""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as on Ray's workers: more would move last digits, and take longer
if sys.argv[:1] == ["-m"]:  # `python -m jobs.VERB` is about to load the verb's modules
    from jobs.command.interrupts import end_at_once_while_loading

    end_at_once_while_loading("longform")
