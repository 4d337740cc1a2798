"""One provider's limits shared by many workers: accounts, leases, holds and the pace that is found."""
