"""What Vivado reads of a folder: block design, IP-XACT, constraints; and what it writes: reports."""
