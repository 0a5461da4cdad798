"""What Lockwright knows: facts in, findings out. Imports collectors.facts alone; no Django, no clock, no I/O."""
