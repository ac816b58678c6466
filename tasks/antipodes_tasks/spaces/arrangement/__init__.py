"""The space of pieces that move to empty places: arrangements, or the half of them that parity allows."""
