"""What another setting would do, answered by the laws the rules use: no figure without a basis, and no script.

Each question becomes an `Answer`; what is asked for together (a larger table and a lower ratio, caches cut and new
ones) is answered together.
"""
