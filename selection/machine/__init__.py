"""What instructions of a text with meaning compute on tensors, typed by memory."""
