#if Postgres
extension PostgresMigrations {
    /// What a person asks for; version 2.
    static let requests = """
        -- What is to be done with a message. It may be in hand, so whichever gateway has it does that. Whoever asks waits for the
        -- answer and removes the row.
        CREATE TABLE kii_push.request (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            -- The installation stays when its shard changes.
            installation bigint NOT NULL, message bigint NOT NULL,
            what text NOT NULL CHECK (what IN ('retry', 'drop')),
            -- -1 done, -2 there is no such message, else for how many ms its handler had been running, which it was left to.
            answer bigint, answered_at timestamptz
        );
        CREATE INDEX request_message ON kii_push.request (message);
        """
}
#endif
