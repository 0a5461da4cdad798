"""How tables are laid out as text, whatever printed them: isql, boxes, CSV, HTML. Readers of any product may use it."""
