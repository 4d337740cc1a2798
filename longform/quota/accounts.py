"""The balance of a quota in one resource."""

from __future__ import annotations

from math import inf

_BURST_S = 0.05  # what an account holds, beside one call
_PATIENT_BURST_S = 0.5  # the same where one call takes longer than that to accrue: workers ask every half second


class Account:
    """Amounts that accrue at a pace. More may be taken than is there, and is then owed. It starts empty."""

    def __init__(self) -> None:
        self.level = 0.0
        self._pace = inf
        self._capacity = 0.0

    def accrue(self, seconds: float, pace: float, one_call: float) -> None:
        """Fill for *seconds*; *one_call* is the amount of a usual call."""
        self._pace = pace
        if pace == inf:
            self.level = 0.0
            return
        self._capacity = one_call + pace * _BURST_S + min(one_call, pace * _PATIENT_BURST_S)
        self.level = min(self.level + pace * seconds, self._capacity)

    @property
    def seconds(self) -> float:
        """The level, as the time it takes to accrue."""
        return inf if self._pace == inf else self.level / self._pace

    def empty(self, one_call: float) -> None:
        """Drop the accrued amount and owe one call, as all workers ask at once when a hold ends. Debts stay."""
        self.level = min(self.level, -one_call)

    def wait_s(self, amount: float) -> float:
        """Seconds until *amount* may go, 0 or less if now; what exceeds the capacity goes when that is reached."""
        return -inf if self._pace == inf else (min(amount, self._capacity) - self.level) / self._pace
