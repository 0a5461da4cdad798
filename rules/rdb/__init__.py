"""Rules about Oracle Rdb databases."""
