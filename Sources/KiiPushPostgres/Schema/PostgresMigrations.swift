#if Postgres
/// The schema, as the changes that have led to it. A number that was released is never changed.
enum PostgresMigrations {
    /// How many shards installations are spread over; never changed either.
    static let shards = 1024

    static let all = [version1, requests, hands]

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
            -- The number of its last turn that was committed; no two gateways have the same.
            turn bigint NOT NULL DEFAULT 0,
            -- Since when, and until when, it counts as alive, by this server's clock.
            alive_since timestamptz NOT NULL DEFAULT '-infinity',
            alive_until timestamptz NOT NULL DEFAULT '-infinity',
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

        CREATE FUNCTION kii_push.shard_of(agent text) RETURNS integer LANGUAGE sql IMMUTABLE
            AS $$ SELECT ('x' || left(encode(sha256(convert_to(agent, 'UTF8')), 'hex'), 8))::bit(32)::bigint
                % \(shards) $$;

        -- Begins to write. Raises KII01 unless the session is the present one. Raises KII03, with the keys, where installations
        -- that are written belong to shards of others. An error undoes all that follows it in the transaction. The lock of
        -- the gateway's row keeps others from writing for it, from taking its name and from going on with it until the end.
        -- `number` is the turn's; NULL of what is no turn.
        CREATE FUNCTION kii_push.begin_turn(
            me integer, my_token bigint, my_session bigint, number bigint, installations bigint[], messages bigint,
            repetitions bigint
        ) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
        DECLARE
            others text;
        BEGIN
            UPDATE kii_push.gateway SET turn = coalesce(number, turn), received = received + messages,
                duplicates = duplicates + repetitions
                WHERE id = me AND token = my_token AND session = my_session;
            IF NOT FOUND THEN RAISE EXCEPTION 'another session holds this name' USING ERRCODE = 'KII01'; END IF;
            SELECT string_agg(written::text, ',') INTO others FROM unnest(installations) AS written
                LEFT JOIN kii_push.installation ON installation.key = written
                LEFT JOIN kii_push.shard ON shard.id = installation.shard
                WHERE shard.gateway IS DISTINCT FROM me;
            IF others IS NOT NULL THEN RAISE EXCEPTION '%', others USING ERRCODE = 'KII03'; END IF;
        END $$;

        -- Whether a lease that was given until then is over. One that seems to go on for more than a minute was given before
        -- this server's clock was set back.
        CREATE FUNCTION kii_push.is_over(alive_until timestamptz) RETURNS boolean LANGUAGE sql VOLATILE AS $$
            SELECT alive_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + interval '1 minute' $$;

        -- Ends the connection of a gateway whose lease is over: it may have stopped amid a turn, which holds its row's lock.
        -- Where this role may not, the connection ends when the network says so.
        CREATE FUNCTION kii_push.cut_off(other integer) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
            PERFORM pg_terminate_backend(gateway.backend) FROM kii_push.gateway
                JOIN pg_stat_activity ON pg_stat_activity.pid = gateway.backend
                    AND pg_stat_activity.application_name = left('kii-push ' || gateway.name, 63)
                WHERE gateway.id = other AND kii_push.is_over(gateway.alive_until)
                    AND gateway.backend <> pg_backend_pid();
        EXCEPTION WHEN insufficient_privilege THEN NULL;
        END $$;

        -- Takes a name, unless a process that is alive has it. What its former holder has under way ends first. Nothing of it
        -- is committed afterwards. Raises KII04 with the host, the process, and how many milliseconds are left.
        CREATE FUNCTION kii_push.take_name(
            my_name text, my_host text, my_process integer, lease_ms bigint,
            OUT me integer, OUT my_token bigint, OUT last_turn bigint
        ) LANGUAGE plpgsql VOLATILE AS $$
        DECLARE
            former kii_push.gateway;
        BEGIN
            INSERT INTO kii_push.gateway (name) VALUES (my_name) ON CONFLICT (name) DO NOTHING;
            PERFORM kii_push.cut_off(gateway.id) FROM kii_push.gateway WHERE gateway.name = my_name;
            SELECT * INTO former FROM kii_push.gateway WHERE gateway.name = my_name FOR NO KEY UPDATE;
            IF NOT kii_push.is_over(former.alive_until) THEN
                RAISE EXCEPTION '% % %', coalesce(former.process, 0),
                    ceil(extract(epoch FROM former.alive_until - clock_timestamp()) * 1000)::bigint, former.host
                    USING ERRCODE = 'KII04';
            END IF;
            UPDATE kii_push.gateway SET token = token + 1, session = 0, host = my_host, process = my_process,
                turn = greatest(turn, id::bigint << 40), is_draining = false, backend = pg_backend_pid(),
                alive_since = clock_timestamp(), alive_until = clock_timestamp() + lease_ms * interval '1 millisecond'
                WHERE id = former.id RETURNING id, token, turn INTO me, my_token, last_turn;
            -- What was in hand there is looked at by whoever takes them.
            UPDATE kii_push.shard SET gateway = NULL WHERE gateway = me;
        END $$;

        -- Renews the gateway's lease. Then declares gateways dead whose lease is over, and takes free shards, up to a fair share
        -- (none unless it joins). `known` are the shards that the gateway has heard of. Raises KII01 where another process has
        -- the name, or a later session of this process.
        CREATE FUNCTION kii_push.renew(
            me integer, my_token bigint, my_session bigint, lease_ms bigint, joins boolean, known integer[],
            OUT share integer, OUT freed integer, OUT gateways integer, OUT block bigint
        ) LANGUAGE plpgsql VOLATILE AS $$
        DECLARE
            lease interval := lease_ms * interval '1 millisecond';
            mine kii_push.gateway;
            dead integer;
            moved integer;
            held integer;
        BEGIN
            UPDATE kii_push.gateway SET alive_until = clock_timestamp() + lease,
                alive_since = CASE WHEN kii_push.is_over(alive_until) OR alive_since > clock_timestamp()
                    THEN clock_timestamp() ELSE alive_since END
                WHERE id = me AND token = my_token AND session = my_session RETURNING * INTO mine;
            IF NOT FOUND THEN RAISE EXCEPTION 'another session holds this name' USING ERRCODE = 'KII01'; END IF;
            freed := 0;
            -- After a time without this server everyone's lease is over. The others get a lease's time to say that they live.
            IF mine.alive_since + lease <= clock_timestamp() THEN
                FOR dead IN
                    SELECT id FROM kii_push.gateway WHERE kii_push.is_over(alive_until) AND id <> me
                        AND EXISTS (SELECT FROM kii_push.shard WHERE shard.gateway = gateway.id)
                    FOR NO KEY UPDATE SKIP LOCKED
                LOOP
                    UPDATE kii_push.gateway SET token = token + 1, session = 0, declared_dead = declared_dead + 1
                        WHERE id = dead;
                    UPDATE kii_push.shard SET gateway = NULL WHERE gateway = dead;
                    GET DIAGNOSTICS moved = ROW_COUNT;
                    freed := freed + moved;
                END LOOP;
                -- One that has a turn under way is left for the next time.
                PERFORM kii_push.cut_off(id) FROM kii_push.gateway WHERE kii_push.is_over(alive_until) AND id <> me
                    AND EXISTS (SELECT FROM kii_push.shard WHERE shard.gateway = gateway.id);
            END IF;
            IF freed > 0 THEN
                UPDATE kii_push.gateway SET taken_over = taken_over + freed WHERE id = me;
            END IF;
            SELECT count(*) INTO gateways FROM kii_push.gateway
                WHERE NOT kii_push.is_over(alive_until) AND NOT is_draining;
            share := CASE WHEN mine.is_draining OR NOT joins THEN 0 ELSE ceil(\(shards)::numeric / greatest(gateways, 1)) END;
            SELECT count(*) INTO held FROM kii_push.shard WHERE gateway = me;
            IF held < share THEN
                UPDATE kii_push.shard SET gateway = me WHERE id = ANY (ARRAY(
                    SELECT id FROM kii_push.shard WHERE gateway IS NULL ORDER BY id LIMIT share - held
                    FOR UPDATE SKIP LOCKED));
            END IF;
            -- Numbers of messages rise whoever receives. It may not have heard of what it gained the last time.
            IF EXISTS (SELECT FROM kii_push.shard WHERE gateway = me AND id <> ALL (known)) THEN block := nextval('kii_push.message_block'); END IF;
        END $$;

        -- Declares an agent, or changes what was declared.
        CREATE FUNCTION kii_push.declare_agent(my_name text, my_declaration text) RETURNS void
            LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
            INSERT INTO kii_push.agent (name, shard, declaration)
                VALUES (my_name, kii_push.shard_of(my_name), my_declaration)
                ON CONFLICT (name) DO UPDATE SET declaration = my_declaration, is_leaving = false;
            UPDATE kii_push.shard SET revision = revision + 1 WHERE id = kii_push.shard_of(my_name);
        END $$;

        -- Has an agent stopped and removed. Returns whether there is one.
        CREATE FUNCTION kii_push.dismiss_agent(my_name text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
            UPDATE kii_push.agent SET is_leaving = true WHERE name = my_name;
            IF NOT FOUND THEN RETURN false; END IF;
            UPDATE kii_push.shard SET revision = revision + 1 WHERE id = kii_push.shard_of(my_name);
            RETURN true;
        END $$;

        -- The key of an installation, and its shard; made where it is new. One that comes from another shard comes with numbers
        -- for its messages that are higher than those that were given there. Raises KII03 where its shard is another gateway's,
        -- and KII05 where another agent that is declared receives as it.
        CREATE FUNCTION kii_push.take_installation(
            me integer, my_id text, my_agent text, my_site text, my_app text, my_principal text,
            OUT key bigint, OUT shard integer, OUT block bigint
        ) LANGUAGE plpgsql VOLATILE AS $$
        DECLARE
            former kii_push.installation;
        BEGIN
            shard := kii_push.shard_of(my_agent);
            IF NOT EXISTS (SELECT FROM kii_push.shard WHERE id = take_installation.shard AND gateway = me)
            THEN RAISE EXCEPTION 'a shard belongs to another gateway' USING ERRCODE = 'KII03'; END IF;
            INSERT INTO kii_push.installation (id, agent, shard, site, app, principal)
                VALUES (my_id, my_agent, take_installation.shard, my_site, my_app, my_principal)
                ON CONFLICT (id) DO NOTHING;
            SELECT * INTO former FROM kii_push.installation WHERE id = my_id FOR UPDATE;
            IF former.agent <> my_agent THEN
                IF EXISTS (SELECT FROM kii_push.agent WHERE name = former.agent) THEN
                    RAISE EXCEPTION 'another agent receives as this installation' USING ERRCODE = 'KII05';
                END IF;
                -- With those whose messages it handles.
                UPDATE kii_push.installation SET agent = my_agent, shard = take_installation.shard
                    WHERE id = my_id OR adopter = former.key;
                block := nextval('kii_push.message_block');
            END IF;
            IF my_principal IS NOT NULL AND (former.adopter IS NOT NULL
                OR (former.site, former.app, former.principal) IS DISTINCT FROM (my_site, my_app, my_principal))
            THEN
                UPDATE kii_push.installation
                    SET site = my_site, app = my_app, principal = my_principal, adopter = NULL WHERE id = my_id;
            END IF;
            key := former.key;
        END $$;

        -- After a connection that broke: what it has under way ends first, and what it has sent and not begun is refused.
        -- Raises KII01 where another process has the name, or a later session of this one.
        CREATE FUNCTION kii_push.resume_name(me integer, my_token bigint, my_session bigint, OUT last_turn bigint)
            LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
            UPDATE kii_push.gateway SET session = my_session, backend = pg_backend_pid()
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

        \(work)

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
