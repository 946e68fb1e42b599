"""One CTA, run abstractly, with vector clocks."""
