"""One provider's limits shared by many workers: leases, fair shares, and what is believed of the provider."""
