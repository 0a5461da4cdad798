"""An Oracle Rdb database: its attributes, its lock statistics, its waits."""
