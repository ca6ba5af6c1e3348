"""Fill a memory from a workspace: Markdown, chat exports, and what git knows."""

from langmemory.parts.importing.seeding.seed import SeedReport, seed
from langmemory.parts.importing.seeding.workspace import SeedPlan, SeedSource, plan_seed

__all__ = ["SeedPlan", "SeedReport", "SeedSource", "plan_seed", "seed"]
