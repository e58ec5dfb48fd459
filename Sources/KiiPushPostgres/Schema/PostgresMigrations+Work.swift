#if Postgres
extension PostgresMigrations {
    /// Some of the functions: handlers have things written with their answers.
    static let work = """
        -- Begins with statements of handlers. Raises KII06, with their places in the list, where messages are not in hand: their
        -- answers come too late. A constraint that is put off would be looked at when nobody can say whose it is. The server
        -- says nothing of warnings for which a handler's statement is the reason, and does not wait for it for long.
        CREATE FUNCTION kii_push.begin_work(installations bigint[], sequences bigint[]) RETURNS void
            \(plpgsql) AS $$
        DECLARE
            others text;
        BEGIN
            SELECT string_agg((place - 1)::text, ',') INTO others
                FROM unnest(installations, sequences) WITH ORDINALITY AS work (installation, sequence, place)
                LEFT JOIN kii_push.installation ON installation.key = work.installation
                LEFT JOIN kii_push.message
                    ON message.installation = work.installation AND message.sequence = work.sequence
                WHERE (message.state = 1 OR message.state IN (0, 2) AND work.sequence = ANY (installation.in_hand))
                    IS NOT TRUE;
            IF others IS NOT NULL THEN RAISE EXCEPTION '%', others USING ERRCODE = 'KII06'; END IF;
            SET CONSTRAINTS ALL IMMEDIATE;
            PERFORM set_config('statement_timeout', '1s', true), set_config('client_min_messages', 'error', true);
        END $$;

        -- Goes on with the statements of the next handler. Raises KII07 where the others have taken a second: the gateway's lease
        -- is renewed on the same connection.
        CREATE FUNCTION kii_push.go_on_with_work() RETURNS void \(plpgsql) AS $$
        BEGIN
            IF clock_timestamp() > transaction_timestamp() + interval '1 second' THEN
                RAISE EXCEPTION 'the statements of others have taken long' USING ERRCODE = 'KII07';
            END IF;
        END $$;

        -- The commit may have something to warn of, and waits for what it has to wait for, whatever a statement has set. A path
        -- of the function's own would put back that of the session.
        CREATE FUNCTION kii_push.end_work() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
            SET CONSTRAINTS ALL IMMEDIATE;
            PERFORM pg_catalog.set_config('statement_timeout', '5s', false),
                pg_catalog.set_config('client_min_messages', 'warning', false),
                pg_catalog.set_config('synchronous_commit', 'on', false),
                pg_catalog.set_config('search_path', 'pg_catalog', false);
        END $$;
        """
}
#endif
