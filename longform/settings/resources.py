"""Resources that a component asks of the cluster for each process that holds it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field, model_validator

from longform.settings.strict import Strict


class ResourcesSettings(Strict):
    """
    Resources of each Ray worker that holds a local model; shares are allowed: four of `num_gpus: 0.25` share a GPU.

    They change no answer, and are no part of an identity.
    """

    num_gpus: float | None = Field(None, ge=0, allow_inf_nan=False)  # null: none
    num_cpus: float | None = Field(None, ge=0, allow_inf_nan=False)  # null: what the command says

    @model_validator(mode="after")
    def _whole_above_one(self) -> ResourcesSettings:
        if self.num_gpus is not None and self.num_gpus > 1 and self.num_gpus != int(self.num_gpus):
            raise ValueError(f"expected num_gpus as a share below 1, or a whole number, found {self.num_gpus:g}")
        return self

    @property
    def gpus(self) -> float:
        """The GPUs of a worker."""
        return self.num_gpus or 0.0


def together(asked: Iterable[ResourcesSettings | None]) -> ResourcesSettings | None:
    """Return what a worker asks for that holds several models: the most that one of them asks; None: nothing."""
    found = [one for one in asked if one is not None]
    if not found:
        return None
    cpus = [one.num_cpus for one in found if one.num_cpus is not None]
    return ResourcesSettings(num_gpus=max(one.gpus for one in found), num_cpus=max(cpus, default=None))
