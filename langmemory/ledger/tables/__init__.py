"""Tables: each declared once, with the DDL, columns and migrations that derive from the declarations."""
