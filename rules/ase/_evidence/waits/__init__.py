"""What tasks of SAP ASE wait for: by wait event, by cause of task switches, by table, and who blocks whom."""
