"""Reports about record locks and processor clocks of UNIX."""
