#if Postgres
extension PostgresMigrations {
    /// What is in hand, beside the rows; version 3.
    static let hands = """
        ALTER TABLE kii_push.installation
            -- Messages in hand whose rows say 0 or 2, in order. A row says 1 only of a message that was taken in hand as it
            -- was stored, and of one that runs alone.
            ADD COLUMN in_hand bigint[] NOT NULL DEFAULT '{}',
            -- What the last turn that took any added to the list, and the number of that turn.
            ADD COLUMN taken bigint[] NOT NULL DEFAULT '{}', ADD COLUMN taken_in bigint NOT NULL DEFAULT 0,
            SET (fillfactor = 50, autovacuum_vacuum_threshold = 500);
        ALTER TABLE kii_push.message DROP COLUMN turn;

        -- As in version 1, with what is in hand beside the rows.
        CREATE OR REPLACE FUNCTION kii_push.begin_work(installations bigint[], sequences bigint[]) RETURNS void
            LANGUAGE plpgsql VOLATILE AS $$
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
        """
}
#endif
