"""Folders whose new files are taken in: listed and copied without following a link, each state of a file once."""
