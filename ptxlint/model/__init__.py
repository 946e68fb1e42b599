"""What PTX means for memory."""
