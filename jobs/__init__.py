"""The commands: a verb a file; the rooms hold what several verbs share."""

import sys

if sys.argv[:1] == ["-m"]:  # `python -m jobs.VERB` is about to load the verb's modules
    from jobs.command.interrupts import end_at_once_while_loading

    end_at_once_while_loading("longform")
