-- Words with vowel signs (Hindi, Tamil, …), vowel points (Hebrew, Arabic), of Thai, Lao, Myanmar and Khmer, and
-- letters of other width stood in the keyword index in pieces. A file with such texts has its words read anew.
INSERT OR REPLACE INTO setting (name, value)
SELECT 'keywords', 'lost' WHERE EXISTS (
    SELECT 1 FROM item
    WHERE value GLOB '*[' || char(1425) || '-' || char(7423) || char(173) || char(8205) || ']*'
    OR value GLOB '*[' || char(43008) || '-' || char(44031) || char(64256) || '-' || char(64262)
        || char(65281) || '-' || char(65439) || ']*'
);
