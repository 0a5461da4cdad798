"""Publications that several rules take figures from, as they are named in limits and findings."""

TALLMAN = '"ASE 16 & Managing VLDB\'s with VLH", Jeff Tallman 2014'
JCC = "JCC Consulting's slides on the OpenVMS lock manager, 2014"
"""The slides are dated 10 January 2014 and name the company, no author."""
HP = "HP's talk on the performance of OpenVMS on Integrity, 2004"
"""Gregory Jordan, OpenVMS Engineering, HP World 2004."""
