"""What a speaker takes back of what was told before, read without a model."""

from langmemory.formation.rules.retractions.held import Held, Told
from langmemory.formation.rules.retractions.reader import may_take_back, taken_back

__all__ = ["Held", "Told", "may_take_back", "taken_back"]
