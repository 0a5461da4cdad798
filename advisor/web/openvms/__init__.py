"""The views of an OpenVMS capture."""
