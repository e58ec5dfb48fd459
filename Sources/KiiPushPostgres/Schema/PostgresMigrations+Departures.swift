#if Postgres
extension PostgresMigrations {
    /// The time at which a gateway left; version 4.
    static let departures = """
        -- When it has let go of its name by itself; NULL of one that runs, and of one that was killed.
        ALTER TABLE kii_push.gateway ADD COLUMN stopped_at timestamptz;

        DO $$
        DECLARE
            former regprocedure;
        BEGIN
            FOR former IN SELECT oid FROM pg_proc WHERE pronamespace = 'kii_push'::regnamespace LOOP
                EXECUTE 'DROP FUNCTION ' || former;
            END LOOP;
        END $$;

        \(functions)
        """
}
#endif
