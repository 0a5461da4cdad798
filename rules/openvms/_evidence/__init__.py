"""An OpenVMS node: its CPUs, its lock manager."""
