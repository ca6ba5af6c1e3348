"""What a speaker takes back of what was told before, read without a model."""

from langmemory.formation.rules.retractions.held import Held, held_of
from langmemory.formation.rules.retractions.reader import may_take_back, taken_back

__all__ = ["Held", "held_of", "may_take_back", "taken_back"]
