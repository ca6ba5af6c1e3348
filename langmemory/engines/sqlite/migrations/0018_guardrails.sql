-- Guardrails are looked up by themselves for every prompt.
CREATE INDEX item_guardrail ON item (namespace) WHERE priority = 'guardrail';
