#if Postgres
/// The schema, as the changes that have led to it. A number that was released is never changed.
enum PostgresMigrations {
    /// How many shards installations are spread over; never changed either.
    static let shards = 1024

    static let all = [version1]

    // Numbers of milliseconds, and offsets from `received_ms`, as the inbox's file has them.
    private static let version1 = """
        -- Whoever receives.
        CREATE TABLE kii_push.gateway (
            id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL UNIQUE,
            -- Rises with each process that takes the name. One that holds another token is not the gateway any more.
            token bigint NOT NULL DEFAULT 0,
            -- Which of its connections may write: it rises. What an earlier one has sent may come to the server late.
            session bigint NOT NULL DEFAULT 0,
            -- The number of its last turn that was committed.
            turn bigint NOT NULL DEFAULT 0,
            -- What it has counted for good.
            received bigint NOT NULL DEFAULT 0, duplicates bigint NOT NULL DEFAULT 0,
            pruned bigint NOT NULL DEFAULT 0, expired bigint NOT NULL DEFAULT 0, dropped bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500);

        -- An installation belongs to the shard that its ID leads to, and a shard to one gateway or to none.
        CREATE TABLE kii_push.shard (
            id integer PRIMARY KEY,
            gateway integer REFERENCES kii_push.gateway
        );
        INSERT INTO kii_push.shard (id) SELECT generate_series(0, \(shards - 1));

        CREATE TABLE kii_push.installation (
            key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            id text NOT NULL UNIQUE,
            shard integer NOT NULL REFERENCES kii_push.shard,
            proven_sequence bigint NOT NULL DEFAULT 0,
            -- Whose it is; NULL where no agent has said so yet.
            site text, app text, principal text,
            -- The key of the installation that handles the messages of this one in its place.
            adopter bigint
        );
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
            -- The number of its gateway's turn in which it was last taken in hand.
            turn bigint NOT NULL,
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

        -- STABLE: an index is searched by it.
        CREATE FUNCTION kii_push.now_ms() RETURNS bigint LANGUAGE sql STABLE
            AS $$ SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint $$;

        CREATE FUNCTION kii_push.shard_of(id text) RETURNS integer LANGUAGE sql IMMUTABLE
            AS $$ SELECT ('x' || left(encode(sha256(convert_to(id, 'UTF8')), 'hex'), 8))::bit(32)::bigint % \(shards) $$;

        -- Begins to write: raises KII01, and so undoes all that follows, unless the session is the present one, and KII03
        -- unless every shard that is written belongs to the gateway. Until it ends, nobody else writes for the gateway, or
        -- takes its name, or goes on with it: that is the lock of its row.
        -- `number` is the turn's; NULL of what is no turn.
        CREATE FUNCTION kii_push.begin_turn(
            me integer, my_token bigint, my_session bigint, number bigint, shards integer[], messages bigint,
            repetitions bigint
        ) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
            UPDATE kii_push.gateway SET turn = coalesce(number, turn), received = received + messages,
                duplicates = duplicates + repetitions
                WHERE id = me AND token = my_token AND session = my_session;
            IF NOT FOUND THEN RAISE EXCEPTION 'another session holds this name' USING ERRCODE = 'KII01'; END IF;
            IF EXISTS (
                SELECT FROM unnest(shards) AS written LEFT JOIN kii_push.shard ON shard.id = written
                WHERE shard.gateway IS DISTINCT FROM me)
            THEN RAISE EXCEPTION 'a shard belongs to another gateway' USING ERRCODE = 'KII03'; END IF;
        END $$;

        -- Takes a name over: what its former holder has under way ends first, and nothing of it is committed afterwards.
        CREATE FUNCTION kii_push.take_name(my_name text, OUT me integer, OUT my_token bigint, OUT last_turn bigint)
            LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
            INSERT INTO kii_push.gateway (name) VALUES (my_name) ON CONFLICT (name) DO NOTHING;
            UPDATE kii_push.gateway SET token = token + 1, session = 0 WHERE gateway.name = my_name
                RETURNING id, token, turn INTO me, my_token, last_turn;
            UPDATE kii_push.shard SET gateway = me WHERE gateway IS NULL;
            IF NOT EXISTS (SELECT FROM kii_push.shard WHERE gateway = me)
            THEN RAISE EXCEPTION 'every shard belongs to another gateway' USING ERRCODE = 'KII03'; END IF;
        END $$;

        -- After a connection that broke: what it has under way ends first, and what it has sent and not begun is refused.
        -- Raises KII01 where another process has the name, or a later session of this one.
        CREATE FUNCTION kii_push.resume_name(me integer, my_token bigint, my_session bigint, OUT last_turn bigint)
            LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
            UPDATE kii_push.gateway SET session = my_session
                WHERE id = me AND token = my_token AND session < my_session RETURNING turn INTO last_turn;
            IF NOT FOUND THEN RAISE EXCEPTION 'another process holds this name' USING ERRCODE = 'KII01'; END IF;
        END $$;

        -- Counts messages that are rows already, and returns where each row stands. Raises KII02, with their places in the
        -- list, where messages are not what they were taken for.
        CREATE FUNCTION kii_push.absorb(
            installations bigint[], sequences bigint[], topics text[], payloads bytea[], lengths bigint[], now_ms bigint
        ) RETURNS SETOF smallint LANGUAGE plpgsql VOLATILE AS $$
        DECLARE
            standing smallint;
            given integer;
            others integer[] := '{}';
        BEGIN
            FOR place IN 1 .. cardinality(sequences) LOOP
                UPDATE kii_push.message SET events = least(events + 1, 257)
                    WHERE installation = installations[place] AND sequence = sequences[place]
                        AND topic = topics[place] AND payload = payloads[place]
                        AND original_length IS NOT DISTINCT FROM lengths[place]
                    RETURNING state, events INTO standing, given;
                IF NOT FOUND THEN
                    others := others || (place - 1);
                    CONTINUE;
                END IF;
                IF given <= 256 THEN
                    INSERT INTO kii_push.event (message, number, at_ms, kind)
                        VALUES (sequences[place], given, now_ms, 4);
                END IF;
                RETURN NEXT standing;
            END LOOP;
            IF others <> '{}' THEN
                RAISE EXCEPTION '%', array_to_string(others, ',') USING ERRCODE = 'KII02';
            END IF;
        END $$;

        -- Removes done rows that are older than keep_ms, `most` of them at most. Looks only at shards of the gateway with
        -- id % divisor = rest. Returns how many rows it has removed.
        CREATE FUNCTION kii_push.prune(me integer, keep_ms bigint, divisor integer, rest integer, most integer)
            RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
        DECLARE
            oldest bigint := kii_push.now_ms() - keep_ms;
            removed bigint;
        BEGIN
            INSERT INTO kii_push.milestone (at_ms, sequence)
                SELECT kii_push.now_ms() / 3600000 * 3600000 + 3600000, last_value + 65535 FROM kii_push.message_block
                ON CONFLICT (at_ms) DO UPDATE SET sequence = excluded.sequence
                    WHERE milestone.sequence < excluded.sequence;
            DELETE FROM kii_push.milestone WHERE at_ms < (
                SELECT max(at_ms) FROM kii_push.milestone WHERE at_ms < oldest);
            WITH old AS (
                SELECT message.installation, message.sequence FROM kii_push.shard
                    JOIN kii_push.installation ON installation.shard = shard.id
                    CROSS JOIN LATERAL (
                        SELECT m.installation, m.sequence FROM kii_push.message AS m
                        WHERE m.installation = installation.key AND m.state = 4 AND m.updated_ms < oldest
                            AND m.sequence <= (SELECT max(sequence) FROM kii_push.milestone WHERE at_ms < oldest)
                        ORDER BY m.sequence LIMIT most) AS message
                WHERE shard.gateway = me AND shard.id % divisor = rest LIMIT most
            ), gone AS (
                DELETE FROM kii_push.message USING old
                WHERE message.installation = old.installation AND message.sequence = old.sequence
                RETURNING message.sequence
            ), forgotten AS (
                DELETE FROM kii_push.event USING gone WHERE event.message = gone.sequence
            ) SELECT count(*) INTO removed FROM gone;
            UPDATE kii_push.gateway SET pruned = pruned + removed WHERE id = me;
            RETURN removed;
        END $$;
        """

    /// The number of the lock that a change of the schema takes: "KiiP".
    static let lock = 0x4B69_6950
}
#endif
