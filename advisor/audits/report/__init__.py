"""How an audit is written: the contract's JSON, text for a terminal, one self-contained HTML file."""
