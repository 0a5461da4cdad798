"""Record locking: who waits for whom, what variants cost, at which clock they ran."""
