"""How strongly documents support a claim, measured in words they share."""
