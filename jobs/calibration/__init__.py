"""
A judge against people's labels, whatever it judges, and the sheets on which people give them.

In order: `calibrated` reads the command line, `labelled` finds labels and the work that they mean for a judge, `asking`
has the judge answer, `measured` puts its answer beside each label and makes the figures of its kind
(`longform.judges.worth`), `card` makes cards and the page. People fill sheets of `subjects`, by `sheets`, `annotated`.
"""
