-- Words of Greek, Cyrillic, Armenian, Arabic and Devanagari letters stood in the keyword index as they were said;
-- their stems stand there now. A file with such texts has its words read anew.
INSERT OR REPLACE INTO setting (name, value)
SELECT 'keywords', 'lost' WHERE EXISTS (
    SELECT 1 FROM item
    WHERE value GLOB '*[' || char(880) || '-' || char(1423) || char(1536) || '-' || char(1791)
        || char(1872) || '-' || char(1919) || char(2160) || '-' || char(2431)
        || char(7936) || '-' || char(8191) || ']*'
);
