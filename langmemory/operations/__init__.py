"""Operations: what a store can do, as rooms of methods over ledger and search; doors derive from them."""
