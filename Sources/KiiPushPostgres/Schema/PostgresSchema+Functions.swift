#if Postgres
extension PostgresSchema {
    /// PL/pgSQL functions have a fixed search path, so that the caller's path has no effect. Only `end_work` has none,
    /// because it sets the session's path. SQL functions need none: PostgreSQL resolves their names when it creates
    /// them.
    static let plpgsql = "LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp"

    static let functions = """
        -- STABLE: an index is searched by it.
        CREATE FUNCTION kii_push.now_ms() RETURNS bigint LANGUAGE sql STABLE
            RETURN (extract(epoch FROM statement_timestamp()) * 1000)::bigint;

        CREATE FUNCTION kii_push.shard_of(agent text) RETURNS integer LANGUAGE sql IMMUTABLE
            RETURN ('x' || left(encode(sha256(convert_to(agent, 'UTF8')), 'hex'), 8))::bit(32)::bigint % \(shards);

        -- Says why a process may not write as the gateway. Raises KII08 where the database is older than what the process has
        -- stored, with how many messages are missing at least; without a number where there is no such gateway. Else raises
        -- KII01, with the process and the host that have the name.
        CREATE FUNCTION kii_push.refuse(
            me integer, my_token bigint, my_session bigint, my_turn bigint, my_messages bigint
        ) RETURNS void \(plpgsql) AS $$
        DECLARE
            present kii_push.gateway;
        BEGIN
            SELECT * INTO present FROM kii_push.gateway WHERE id = me;
            IF NOT FOUND THEN RAISE EXCEPTION 'unknown' USING ERRCODE = 'KII08'; END IF;
            IF present.turn < my_turn OR (present.token, present.session) < (my_token, my_session) THEN
                RAISE EXCEPTION '%', greatest(my_messages - (present.received - present.duplicates), 0)
                    USING ERRCODE = 'KII08';
            END IF;
            RAISE EXCEPTION '% %', coalesce(present.process, 0), coalesce(present.host, '') USING ERRCODE = 'KII01';
        END $$;

        -- Begins to write. Raises KII01 and KII08 as refuse() does, unless the session is the present one and the last turn is
        -- known that the process was told of. Raises KII03, with the keys, where installations that are written belong to
        -- shards of others. An error undoes all that follows it in the transaction. The lock of the gateway's row keeps others
        -- from writing for it, from taking its name and from going on with it until the end. `number` is the turn's; NULL of
        -- what is no turn.
        CREATE FUNCTION kii_push.begin_turn(
            me integer, my_token bigint, my_session bigint, my_turn bigint, my_messages bigint, number bigint,
            installations bigint[], messages bigint, repetitions bigint
        ) RETURNS void \(plpgsql) AS $$
        DECLARE
            others text;
        BEGIN
            UPDATE kii_push.gateway SET turn = coalesce(number, turn), received = received + messages,
                duplicates = duplicates + repetitions
                WHERE id = me AND token = my_token AND session = my_session AND turn >= my_turn;
            IF NOT FOUND THEN PERFORM kii_push.refuse(me, my_token, my_session, my_turn, my_messages); END IF;
            SELECT string_agg(written::text, ',') INTO others FROM unnest(installations) AS written
                LEFT JOIN kii_push.installation ON installation.key = written
                LEFT JOIN kii_push.shard ON shard.id = installation.shard
                WHERE shard.gateway IS DISTINCT FROM me;
            IF others IS NOT NULL THEN RAISE EXCEPTION '%', others USING ERRCODE = 'KII03'; END IF;
        END $$;

        -- Whether a lease that was given until then is over. One that seems to go on for more than a minute was given before
        -- this server's clock was set back.
        CREATE FUNCTION kii_push.is_over(alive_until timestamptz) RETURNS boolean LANGUAGE sql VOLATILE
            RETURN alive_until NOT BETWEEN clock_timestamp() AND clock_timestamp() + interval '1 minute';

        -- Ends the connection of a gateway whose lease is over: it may have stopped amid a turn, which holds its row's lock.
        -- Where this role may not, the connection ends when the network says so.
        CREATE FUNCTION kii_push.cut_off(other integer) RETURNS void \(plpgsql) AS $$
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
            OUT me integer, OUT my_token bigint, OUT last_turn bigint, OUT messages bigint
        ) \(plpgsql) AS $$
        DECLARE
            former kii_push.gateway;
        BEGIN
            -- One that has left long ago may be forgotten at this moment.
            LOOP
                INSERT INTO kii_push.gateway (name) VALUES (my_name) ON CONFLICT (name) DO NOTHING;
                PERFORM kii_push.cut_off(gateway.id) FROM kii_push.gateway WHERE gateway.name = my_name;
                SELECT * INTO former FROM kii_push.gateway WHERE gateway.name = my_name FOR NO KEY UPDATE;
                EXIT WHEN FOUND;
            END LOOP;
            IF NOT kii_push.is_over(former.alive_until) THEN
                RAISE EXCEPTION '% % %', coalesce(former.process, 0),
                    ceil(extract(epoch FROM former.alive_until - clock_timestamp()) * 1000)::bigint, former.host
                    USING ERRCODE = 'KII04';
            END IF;
            -- A restored backup may give out the same number of a gateway again, and not the same token.
            UPDATE kii_push.gateway SET token = greatest(token + 1, kii_push.now_ms()), session = 0, host = my_host,
                process = my_process, turn = greatest(turn, id::bigint << 40), is_draining = false, stopped_at = NULL,
                backend = pg_backend_pid(), alive_since = clock_timestamp(), alive_until = clock_timestamp() + lease_ms * interval '1 millisecond'
                WHERE id = former.id RETURNING id, token, turn, received - duplicates
                INTO me, my_token, last_turn, messages;
            -- What was in hand there is looked at by whoever takes them.
            UPDATE kii_push.shard SET gateway = NULL WHERE gateway = me;
        END $$;

        -- Renews the gateway's lease. Then declares gateways dead whose lease is over, and takes free shards, up to a fair share
        -- (none unless it joins). `known` are the shards that the gateway has heard of. Raises KII01 and KII08 as
        -- begin_turn() does.
        CREATE FUNCTION kii_push.renew(
            me integer, my_token bigint, my_session bigint, my_turn bigint, my_messages bigint, lease_ms bigint,
            joins boolean, known integer[],
            OUT share integer, OUT freed integer, OUT gateways integer, OUT block bigint
        ) \(plpgsql) AS $$
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
                WHERE id = me AND token = my_token AND session = my_session AND turn >= my_turn RETURNING * INTO mine;
            IF NOT FOUND THEN PERFORM kii_push.refuse(me, my_token, my_session, my_turn, my_messages); END IF;
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

        -- Has an agent stopped and removed. Returns whether there is one.
        CREATE FUNCTION kii_push.dismiss_agent(my_name text) RETURNS boolean \(plpgsql) AS $$
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
        ) \(plpgsql) AS $$
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
        -- Raises KII01 where another process has the name, or a later session of this one, and KII08 as begin_turn() does.
        CREATE FUNCTION kii_push.resume_name(
            me integer, my_token bigint, my_session bigint, my_turn bigint, my_messages bigint, OUT last_turn bigint
        ) \(plpgsql) AS $$
        BEGIN
            UPDATE kii_push.gateway SET session = my_session, backend = pg_backend_pid()
                WHERE id = me AND token = my_token AND session < my_session AND turn >= my_turn
                RETURNING turn INTO last_turn;
            IF NOT FOUND THEN PERFORM kii_push.refuse(me, my_token, my_session, my_turn, my_messages); END IF;
        END $$;

        -- Counts messages that are rows already, and returns where each row stands. Raises KII02, with their places in the
        -- list, where messages are not what they were taken for.
        CREATE FUNCTION kii_push.absorb(
            installations bigint[], sequences bigint[], topics text[], payloads bytea[], lengths bigint[], now_ms bigint
        ) RETURNS SETOF smallint \(plpgsql) AS $$
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

        -- Forgets gateways that have stopped a day ago, or are gone for a week. What they have counted for good is kept, as of
        -- one without a name.
        CREATE FUNCTION kii_push.forget_gateways(me integer) RETURNS void \(plpgsql) AS $$
        BEGIN
            WITH old AS (
                SELECT id FROM kii_push.gateway WHERE id <> me AND name <> '' AND kii_push.is_over(alive_until)
                    AND coalesce(stopped_at - interval '6 days', alive_until) < now() - interval '7 days'
                    AND NOT EXISTS (SELECT FROM kii_push.shard WHERE shard.gateway = gateway.id)
                FOR UPDATE SKIP LOCKED
            ), gone AS (
                DELETE FROM kii_push.gateway USING old WHERE gateway.id = old.id RETURNING gateway.*
            )
            INSERT INTO kii_push.gateway AS kept (name, received, duplicates, pruned, expired, dropped)
                SELECT '', sum(received), sum(duplicates), sum(pruned), sum(expired), sum(dropped) FROM gone
                HAVING count(*) > 0
                ON CONFLICT (name) DO UPDATE SET received = kept.received + excluded.received,
                    duplicates = kept.duplicates + excluded.duplicates, pruned = kept.pruned + excluded.pruned,
                    expired = kept.expired + excluded.expired, dropped = kept.dropped + excluded.dropped;
        END $$;

        -- Removes done rows that are older than keep_ms, `most` of them at most. Looks only at shards of the gateway with
        -- id % divisor = rest. Returns how many rows it has removed.
        CREATE FUNCTION kii_push.prune(me integer, keep_ms bigint, divisor integer, rest integer, most integer)
            RETURNS bigint \(plpgsql) AS $$
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
            PERFORM kii_push.forget_gateways(me);
            RETURN removed;
        END $$;
        """
}
#endif
