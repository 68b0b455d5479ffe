"""Colours that keep apart for the colour-blind and that stand out from their ground.

The ground is a dark one of the picture's own: no colour reads well on both Discord's dark and its light
background, while a dark card sits well on either. Series have the colours of Okabe and Ito, "Color Universal
Design" (2008), without the dark blue, which would drown in it.
"""

from typing import Final

GROUND: Final = "#1E1F22"
INK: Final = "#F2F3F5"
SOFT: Final = "#B5BAC1"
"""For what is read second: numbers along an axis."""
LINES: Final = "#3F4147"

SERIES: Final = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#D55E00")
SLICES: Final = (*SERIES, "#E8E8E8", "#8B8F98")
"""One for each slice of a pie, the grey one last: it is that of what has no slice of its own."""
