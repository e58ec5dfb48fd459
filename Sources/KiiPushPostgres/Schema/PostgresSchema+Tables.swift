#if Postgres
extension PostgresSchema {
    /// The number of shards. It must never change: the table of installations stores shard numbers.
    static let shards = 1024
    /// The key of the advisory lock for changes of the schema: "KiiP" in ASCII.
    static let lock = 0x4B69_6950

    // Columns `…_ms` are in milliseconds, columns `…_after` in milliseconds after `received_ms`.
    static let tables = """
        CREATE TABLE IF NOT EXISTS kii_push.migration (
            version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());

        -- Whoever receives.
        CREATE TABLE kii_push.gateway (
            id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL UNIQUE,
            -- Rises with each process that takes the name. One that holds another token is not the gateway any more.
            token bigint NOT NULL DEFAULT 0,
            -- Which of its connections may write: it rises. What an earlier one has sent may come to the server late.
            session bigint NOT NULL DEFAULT 0,
            -- The number of its last turn that was committed; no two gateways have the same.
            turn bigint NOT NULL DEFAULT 0,
            -- Since when, and until when, it counts as alive, by this server's clock.
            alive_since timestamptz NOT NULL DEFAULT '-infinity',
            alive_until timestamptz NOT NULL DEFAULT '-infinity',
            -- When it has let go of its name by itself; NULL of one that runs, and of one that was killed.
            stopped_at timestamptz,
            -- Its process, and the server's process for its connection.
            host text, process integer, backend integer,
            -- Whether it is to hand over all that it has.
            is_draining boolean NOT NULL DEFAULT false,
            -- How often others have declared it dead, and how many shards of dead ones it has declared free.
            declared_dead bigint NOT NULL DEFAULT 0, taken_over bigint NOT NULL DEFAULT 0,
            -- What it has counted for good.
            received bigint NOT NULL DEFAULT 0, duplicates bigint NOT NULL DEFAULT 0,
            pruned bigint NOT NULL DEFAULT 0, expired bigint NOT NULL DEFAULT 0, dropped bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500);

        -- An agent belongs to the shard that its name leads to, and a shard to one gateway or to none.
        CREATE TABLE kii_push.shard (
            id integer PRIMARY KEY,
            gateway integer REFERENCES kii_push.gateway,
            -- Rises with each change of its agents' declarations.
            revision bigint NOT NULL DEFAULT 0
        );
        CREATE INDEX shard_gateway ON kii_push.shard (gateway);
        INSERT INTO kii_push.shard (id) SELECT generate_series(0, \(shards - 1));

        -- Who is to be received as: the declaration and the state hold what it signs in with.
        CREATE TABLE kii_push.agent (
            name text PRIMARY KEY,
            shard integer NOT NULL REFERENCES kii_push.shard,
            declaration text NOT NULL,
            state text,
            -- Whether it is to be removed, which the gateway does that has stopped it.
            is_leaving boolean NOT NULL DEFAULT false
        );
        CREATE INDEX agent_shard ON kii_push.agent (shard);

        CREATE TABLE kii_push.installation (
            key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            id text NOT NULL UNIQUE,
            -- The name of the agent that receives as it, which need not be declared.
            agent text NOT NULL,
            shard integer NOT NULL REFERENCES kii_push.shard,
            proven_sequence bigint NOT NULL DEFAULT 0,
            -- Whose it is; NULL where no agent has said so yet.
            site text, app text, principal text,
            -- The key of the installation that handles the messages of this one in its place.
            adopter bigint,
            -- Messages in hand whose rows say 0 or 2, in order. A row says 1 only of a message that was taken in hand as it
            -- was stored, and of one that runs alone.
            in_hand bigint[] NOT NULL DEFAULT '{}',
            -- What the last turn that took any added to the list, and the number of that turn.
            taken bigint[] NOT NULL DEFAULT '{}', taken_in bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500);
        CREATE INDEX installation_shard ON kii_push.installation (shard);
        CREATE INDEX installation_owner ON kii_push.installation (principal);
        CREATE INDEX installation_adopter ON kii_push.installation (adopter) WHERE adopter IS NOT NULL;

        -- Numbers of messages, given out in blocks. A gateway takes a new block with each shard that it gains, so that the
        -- numbers of an installation rise whoever receives for it.
        CREATE SEQUENCE kii_push.message_block INCREMENT BY 65536 MINVALUE 1;

        CREATE TABLE kii_push.message (
            installation bigint NOT NULL,
            sequence bigint NOT NULL,
            -- 0 waiting, 1 in hand, 2 retry, 3 presented, 4 done, 5 dead.
            state smallint NOT NULL,
            bytes bigint NOT NULL,
            attempts integer NOT NULL DEFAULT 0, crashes integer NOT NULL DEFAULT 0,
            -- How many events are in the table event, 256 at most. 257 says that later ones were left out.
            events integer NOT NULL DEFAULT 0,
            -- By the database's clock; everything else is by its gateway's.
            next_attempt_ms bigint,
            updated_ms bigint NOT NULL, received_ms bigint NOT NULL,
            qos smallint NOT NULL, duplicate boolean NOT NULL, retain boolean NOT NULL, packet_id integer,
            connection bigint NOT NULL, original_length bigint, reason text,
            topic text NOT NULL, payload bytea NOT NULL,
            stored_after bigint, acknowledged_after bigint, started_after bigint, answer smallint,
            opened text,
            -- NULL of a message that no handler is to see, and of one that waits for the next run of its agent.
            source bigint,
            PRIMARY KEY (installation, sequence)
        ) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);
        -- Payloads are looked at as a whole, and compressing them costs more than they take.
        ALTER TABLE kii_push.message ALTER COLUMN payload SET STORAGE EXTERNAL;
        CREATE INDEX message_open ON kii_push.message (installation, state, sequence) WHERE state BETWEEN 1 AND 3;
        CREATE INDEX message_waiting ON kii_push.message (installation, source, sequence) WHERE state = 0;
        CREATE INDEX message_retry ON kii_push.message (installation, next_attempt_ms) WHERE state = 2;
        CREATE INDEX message_dead ON kii_push.message (sequence) WHERE state = 5;

        CREATE TABLE kii_push.event (
            message bigint NOT NULL, number integer NOT NULL, at_ms bigint NOT NULL,
            kind smallint NOT NULL, attempt bigint, started_ms bigint, pause_ms bigint, detail text,
            PRIMARY KEY (message, number)
        );

        -- Every number that was given out before this time is at most this. Old rows are looked for below it.
        CREATE TABLE kii_push.milestone (at_ms bigint PRIMARY KEY, sequence bigint NOT NULL);

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
