"""The ledger: every row of a store, from the list of tables to change sets, forgetting and transfer."""
