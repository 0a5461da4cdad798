"""Reports about Oracle Rdb databases."""
