-- Functions of SQLite that the portable statements use, under their names. Their bodies are parsed when they
-- are created, so that an index on one needs no search_path.

-- What SQLite and Python read as JSON and PostgreSQL does not: numbers that are none, and the character NUL.
CREATE FUNCTION json_repaired(value text) RETURNS json LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN replace(value, '\u0000', '')::json;
EXCEPTION WHEN invalid_text_representation THEN
    RETURN replace(regexp_replace(
        value, '([:[,]\s*)(?:-?Infinity|NaN)(?=\s*[],}])', '\1null', 'g'
    ), '\u0000', '')::json;
END $$;
CREATE FUNCTION as_json(value text) RETURNS json LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN value ~ 'NaN|Infinity|\\u0000' THEN json_repaired(value) ELSE value::json END;
END;

CREATE FUNCTION json_at(value text, path text) RETURNS json LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN path = '$' THEN as_json(value) WHEN path NOT LIKE '$%' THEN as_json(value) -> path
    ELSE as_json(value) #> string_to_array(replace(substr(path, 3), '"', ''), '.') END;
END;

-- As SQLite: a truth value is 1 or 0, null is NULL, a list or an object is its JSON.
CREATE FUNCTION json_get(value text, path text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE json_typeof(found) WHEN 'boolean' THEN (found::text = 'true')::int::text
    ELSE found #>> '{}' END FROM (SELECT json_at(value, path)) AS one (found);
END;
CREATE FUNCTION json_get(value text, place int) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT value::json ->> place;
END;
CREATE FUNCTION json_part(value text, path text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT json_at(value, path)::text;
END;
CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_get);
CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = int, FUNCTION = json_get);
CREATE OPERATOR -> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_part);

CREATE FUNCTION json_type(value text, path text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE json_typeof(found) WHEN 'string' THEN 'text' WHEN 'boolean' THEN found::text
    WHEN 'number' THEN CASE WHEN found::text ~ '[.eE]' THEN 'real' ELSE 'integer' END
    ELSE json_typeof(found) END FROM (SELECT json_at(value, path)) AS one (found);
END;

CREATE FUNCTION json_quote(value anyelement) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(to_json(value)::text, 'null')
$$;

CREATE FUNCTION json_valid(value text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    PERFORM value::json;
    RETURN TRUE;
EXCEPTION WHEN others THEN
    RETURN FALSE;
END $$;

CREATE FUNCTION json_array_length(value text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE json_typeof(value::json) WHEN 'array' THEN json_array_length(value::json)::bigint ELSE 0 END;
END;
CREATE FUNCTION json_array_length(value text, path text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT json_array_length(json_at(value, path)::text);
END;

CREATE FUNCTION json_each(value text) RETURNS TABLE (key text, value text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT (place - 1)::text, CASE json_typeof(one) WHEN 'boolean' THEN (one::text = 'true')::int::text
    ELSE one #>> '{}' END
    FROM json_array_elements(CASE WHEN json_typeof($1::json) = 'array' THEN $1::json ELSE '[]' END)
    WITH ORDINALITY AS e (one, place)
    UNION ALL
    SELECT name, CASE json_typeof(one) WHEN 'boolean' THEN (one::text = 'true')::int::text
    ELSE one #>> '{}' END
    FROM json_each(CASE WHEN json_typeof($1::json) = 'object' THEN $1::json ELSE '{}' END) AS e (name, one);
END;

-- id and parent tell which values stand in one object or list.
CREATE FUNCTION json_tree(value text) RETURNS TABLE (key text, atom text, id text, parent text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    WITH RECURSIVE node (key, one, id, parent) AS (
        SELECT NULL::text, $1::json, '', NULL::text
        UNION ALL
        SELECT i.key, i.one, node.id || '/' || i.place, node.id FROM node, LATERAL (
            SELECT o.key, o.value, o.place FROM json_each(
                CASE WHEN json_typeof(node.one) = 'object' THEN node.one ELSE '{}'::json END
            ) WITH ORDINALITY AS o (key, value, place)
            UNION ALL
            SELECT (a.place - 1)::text, a.value, a.place FROM json_array_elements(
                CASE WHEN json_typeof(node.one) = 'array' THEN node.one ELSE '[]'::json END
            ) WITH ORDINALITY AS a (value, place)
        ) AS i (key, one, place)
    )
    SELECT node.key, CASE json_typeof(one) WHEN 'object' THEN NULL WHEN 'array' THEN NULL
    WHEN 'boolean' THEN (one::text = 'true')::int::text ELSE one #>> '{}' END, node.id, node.parent
    FROM node;
END;

CREATE FUNCTION json_remove(value text, VARIADIC paths text[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    found jsonb := value::jsonb;
    path text;
BEGIN
    FOREACH path IN ARRAY paths LOOP
        found := found #- string_to_array(replace(substr(path, 3), '"', ''), '.');
    END LOOP;
    RETURN found::text;
END $$;
CREATE FUNCTION json_set(value text, path text, given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT jsonb_set(value::jsonb, string_to_array(substr(path, 3), '.'), coalesce(to_jsonb(given), 'null'))::text;
END;

CREATE FUNCTION substr(text, bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT substr($1, $2::int);
END;
CREATE FUNCTION substr(text, bigint, bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT substr($1, $2::int, $3::int);
END;
CREATE FUNCTION instr(text, text) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT strpos($1, $2);
END;

-- A time without an offset is one of UTC, so that no setting of a session counts.
CREATE FUNCTION unixepoch(moment text, how text) RETURNS double precision LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN extract(epoch FROM CASE WHEN moment ~ '(Z|[+-]\d\d:?\d\d)$' THEN moment::timestamptz
        ELSE (moment || 'Z')::timestamptz END);
EXCEPTION WHEN others THEN
    RETURN NULL;
END $$;
CREATE FUNCTION unixepoch(moment text) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT floor(unixepoch(moment, 'subsec'));
END;

CREATE FUNCTION json_each(whole text, path text) RETURNS TABLE (key text, value text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT e.key, e.value FROM json_each(json_at($1, $2)::text) e;
END;

CREATE FUNCTION json_of(texts text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT to_json(texts)::text;
END;
CREATE AGGREGATE json_group_array (text) (
    SFUNC = array_append, STYPE = text[], INITCOND = '{}', FINALFUNC = json_of
);

-- A condition is true of a group where it is true of one row.
CREATE AGGREGATE max (boolean) (SFUNC = boolor_statefunc, STYPE = boolean);

CREATE FUNCTION date(day text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN CASE WHEN day ~ '^\d{4}-\d\d-\d\d$' THEN to_char(CAST(day AS pg_catalog.date), 'YYYY-MM-DD') END;
EXCEPTION WHEN others THEN
    RETURN NULL;
END $$;
