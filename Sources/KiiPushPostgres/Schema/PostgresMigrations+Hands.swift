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
        """
}
#endif
