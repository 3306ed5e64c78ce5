"""What a kernel is: its loops and operands (``kernel``), and its body, text and values (``body``)."""
