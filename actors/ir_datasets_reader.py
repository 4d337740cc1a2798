"""Opens data sets of the library `ir_datasets`, which finds or fetches their files itself."""

from __future__ import annotations

from longform.errors import UsageError
from longform.formats.ir_rows import IrDataset


def open_ir_dataset(name: str) -> tuple[IrDataset, str]:
    """
    Return the data set of a name, and the version of the library.

    Raises:
        UsageError: The library is not installed, or knows no such name.
    """
    try:
        import ir_datasets
    except ImportError as error:
        raise UsageError("ingest ir_datasets needs the library of this name: pip install ir_datasets") from error
    try:
        found: IrDataset = ir_datasets.load(name)
    except KeyError as error:
        raise UsageError(
            f"ir_datasets {ir_datasets.__version__} knows no data set {name!r}; see ir-datasets.com"
        ) from error
    return found, str(ir_datasets.__version__)
