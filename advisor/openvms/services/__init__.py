"""What the pages show of an OpenVMS capture: its CPUs, its cluster, its day, and what another setting would give."""
