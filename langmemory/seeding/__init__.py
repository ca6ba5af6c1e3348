"""Fill a memory from a workspace: Markdown, chat exports, and what git knows."""

from langmemory.seeding.seed import SeedReport, seed
from langmemory.seeding.workspace import SeedPlan, SeedSource, plan_seed

__all__ = ["SeedPlan", "SeedReport", "SeedSource", "plan_seed", "seed"]
