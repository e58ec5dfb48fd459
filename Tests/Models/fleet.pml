/*
 * Gateways that share a database, the shards that they hold, and the shards' messages.
 *
 * A gateway has a token and a lease in the database. It writes in turns, which are transactions. The database carries
 * out a turn only if it was sent with the gateway's present token, and if the gateway owns the shard. A gateway that
 * finds the expired lease of another one raises the other's token, so that the database refuses the other's turns, and
 * takes its shards. A gateway that joins asks for a shard. The shard's holder lets its handlers finish (it drains the
 * shard), and then hands it over.
 *
 * The model proves, for every order of the steps, while one gateway is killed and one is delayed past its lease:
 *
 *   writing    only the holder of a shard writes for it, under its present lease (carryOut)
 *   storing    every acknowledged message is stored (acknowledge)
 *   handling   a message is handled once, and again only if its holder lost the lease while the handler had it; after a
 *              hand-over, no message is handled again (Holder)
 *   ending     no execution is infinite (spin finds no cycle; with both faults: `script/models --full`), and in the
 *              final state every message is handled and acknowledged (Faults)
 *
 * In the model, a lease may expire at any moment, and a dead gateway's lease finally expires. Otherwise, the proofs do
 * not depend on clocks. The model leaves out retries, the order of messages, and turns of several messages.
 *
 * Each of these mutants leaves out one rule, and must fail:
 *
 *   NO_TOKEN      the database carries out a turn whatever its token
 *   NO_LOCK       a takeover may come between the check of the token and the commit
 *   NO_DRAIN      a holder hands over a shard while its handler runs
 *   OWN_CLOCK     a gateway dates its lease by its own clock, which is ahead by hours
 *   EARLY         a gateway acknowledges a message before the commit
 *   NO_SUSPECTS   a new holder does not retry messages that the handler of the previous holder had
 */
#define GATEWAYS 2
#define SHARDS 2 /* and one message for each */
#define LIVES 2 /* starts of a gateway's process, at most */
#define NOBODY 7

mtype = { fresh, waiting, held, done };          /* of a message's row */
mtype = { idle, sent, checked, committed, refused }; /* of a turn */
mtype = { store, claim, verdict };

/* The database. */
byte token[GATEWAYS];
bool expired[GATEWAYS] = true;
byte owner[SHARDS] = NOBODY;
byte heir[SHARDS] = NOBODY; /* the gateway that has asked for the shard */
mtype row[SHARDS] = fresh;

/* The turns of each life of a gateway. The database may still carry out the last turn of a dead process. */
mtype state[4] = idle;
mtype kind[4] = store;
byte subject[4];
byte stamp[4]; /* the token that the turn was sent with */

/* The broker. It repeats an unacknowledged message to each gateway that connects. */
bool isAcknowledged[SHARDS];
byte connection[SHARDS] = NOBODY;

/* The memory of the gateways. */
bool isUp[GATEWAYS];
byte lives[GATEWAYS];
byte mine[GATEWAYS];       /* the gateway's token */
byte running[GATEWAYS] = NOBODY; /* the message of the gateway's handler */
bool isWatched[4];   /* [gateway * SHARDS + shard]: the gateway knows that it owns the shard */

/* The allowed handlings of a message: one, and another for each lease that was lost while a handler had it. */
byte mayHandle[SHARDS] = 1;
#ifndef KILLS
#define KILLS 1
#endif
#ifndef DELAYS
#define DELAYS 1
#endif
byte kills = KILLS;
byte delays = DELAYS;

#define life(g) (g * LIVES + lives[g] - 1)
#define watches(g, s) isWatched[g * SHARDS + s]
#define isCurrent(g) (isUp[g] && mine[g] == token[g])
#define isIdle(g) (isUp[g] && state[life(g)] == idle)
#define isFree(g) (isCurrent(g) && state[life(g)] == idle)

/* Takes the lease and the shards of a gateway, in one transaction with an exclusive lock on the gateway. */
inline dispossess(g) {
    token[g]++;
    d_step {
        i = 0;
        do
        :: i < SHARDS && owner[i] == g ->
            owner[i] = NOBODY; heir[i] = NOBODY; mayHandle[i] = (row[i] == held -> mayHandle[i] + 1 : mayHandle[i]); i++
        :: i < SHARDS && owner[i] != g ->
            if :: heir[i] == g -> heir[i] = NOBODY :: else fi;
            i++
        :: i == SHARDS -> break
        od;
        i = 0
    }
}

inline forget(g) {
    d_step {
        i = 0;
        do
        :: i < SHARDS ->
            watches(g, i) = false;
            if :: connection[i] == g -> connection[i] = NOBODY :: else fi;
            i++
        :: else -> break
        od;
        i = 0; running[g] = NOBODY; isUp[g] = false
    }
}

/* Resets a finished turn, which reduces the number of states. */
inline rest(t) { kind[t] = store; subject[t] = 0; stamp[t] = 0; state[t] = idle }

inline acknowledge(s) { isAcknowledged[s] = true; assert(row[s] != fresh) }

inline send(g, what, s) {
    kind[life(g)] = what; subject[life(g)] = s; stamp[life(g)] = mine[g]; state[life(g)] = sent
}

#ifdef NO_TOKEN
#define isAllowed(t, g) (owner[subject[t]] == g)
#else
#define isAllowed(t, g) (token[g] == stamp[t] && owner[subject[t]] == g)
#endif

#ifdef NO_DRAIN
#define isDrained(g, s) true
#else
#define isDrained(g, s) (running[g] != s)
#endif

inline carryOut(t, g) {
    assert(owner[subject[t]] == g && token[g] == stamp[t]);
    if
    :: kind[t] == store && row[subject[t]] == fresh -> row[subject[t]] = waiting
    :: kind[t] == claim && row[subject[t]] == waiting -> row[subject[t]] = held
    :: kind[t] == verdict && row[subject[t]] == held -> row[subject[t]] = done
    :: else -> assert(false)
    fi;
    state[t] = committed
}

/* The database's side of the connection of one life of a gateway. */
proctype Session(byte g; byte t) {
end:
    do
#ifdef NO_LOCK
    :: atomic { state[t] == sent -> if :: isAllowed(t, g) -> state[t] = checked :: else -> state[t] = refused fi }
    :: atomic { state[t] == checked -> carryOut(t, g) }
#else
    :: atomic { state[t] == sent -> if :: isAllowed(t, g) -> carryOut(t, g) :: else -> state[t] = refused fi }
#endif
    /* The process has died, and its connection with it. The database drops the last turn. */
    :: atomic { state[t] == sent && (!isUp[g] || life(g) != t) -> rest(t) }
    od
}

/* A gateway's place in the fleet. */
proctype Gateway(byte g) {
    byte i, other = 1 - g;
end:
    do
    /* Starts, after the last lease under its name has ended. */
    :: atomic { !isUp[g] && lives[g] < LIVES && expired[g] ->
        dispossess(g);
        expired[g] = false; lives[g]++; mine[g] = token[g]; isUp[g] = true }
    :: atomic { expired[g] && isCurrent(g) -> expired[g] = false }
    /* Learns that its lease is lost, from a refused turn or at a renewal, and forgets what it has in memory. */
    :: atomic { isUp[g] && state[life(g)] == refused -> rest(life(g)); forget(g) }
    :: atomic { isUp[g] && mine[g] != token[g] && state[life(g)] == idle -> forget(g) }
    /* Declares the other gateway dead. */
    :: atomic { isCurrent(g) && expired[other] && (owner[0] == other || owner[1] == other) -> dispossess(other) }
    od
}

/* A gateway's part for one shard. */
proctype Holder(byte g, s) {
    byte other = 1 - g;
end:
    do
    /* Takes an unowned shard. Its message is retried if the previous holder's handler had it. */
    :: atomic { isCurrent(g) && owner[s] == NOBODY ->
        owner[s] = g; watches(g, s) = true;
#ifndef NO_SUSPECTS
        if :: row[s] == held -> row[s] = waiting :: else fi
#endif
        }
    /* Asks for a shard, if the other gateway owns both; notices that the shard is its own. */
    :: atomic { isCurrent(g) && owner[0] == other && owner[1] == other && heir[0] == NOBODY && heir[1] == NOBODY ->
        heir[s] = g }
    :: atomic { isCurrent(g) && owner[s] == g && !watches(g, s) -> watches(g, s) = true }
    /* Hands over the shard. It has stopped receiving for the shard, and the handler has answered. */
    :: atomic { isFree(g) && owner[s] == g && heir[s] != NOBODY && isDrained(g, s) ->
        owner[s] = heir[s]; heir[s] = NOBODY; watches(g, s) = false;
        if :: row[s] == held -> row[s] = waiting :: else fi;
        if :: connection[s] == g -> connection[s] = NOBODY :: else fi }
    /* Connects for the shard. The broker then ends the other gateway's connection, which has the same client ID. Before
       it reconnects, the other gateway renews its lease, which fails if the lease is lost. */
    :: atomic { isCurrent(g) && watches(g, s) && heir[s] == NOBODY && connection[s] != g -> connection[s] = g }
    /* Receives a message, and acknowledges it once it is stored. */
    :: atomic { isIdle(g) && connection[s] == g && !isAcknowledged[s] && row[s] == fresh ->
        send(g, store, s);
#ifdef EARLY
        acknowledge(s)
#endif
        }
    :: atomic { isIdle(g) && connection[s] == g && !isAcknowledged[s] && row[s] != fresh -> acknowledge(s) }
    :: atomic { isIdle(g) && watches(g, s) && heir[s] == NOBODY && row[s] == waiting && running[g] == NOBODY ->
        send(g, claim, s) }
    :: atomic { isIdle(g) && running[g] == s -> send(g, verdict, s) }
    :: atomic { isUp[g] && state[life(g)] == committed && subject[life(g)] == s ->
        if
        :: kind[life(g)] == store -> if :: connection[s] == g -> acknowledge(s) :: else fi
        :: kind[life(g)] == claim ->
            assert(mayHandle[s] > 0);
            running[g] = s; mayHandle[s]--
        :: kind[life(g)] == verdict -> running[g] = NOBODY
        fi;
        rest(life(g)) }
    od
}

/* A gateway is killed, or delayed until its lease has expired. A dead gateway's lease finally expires. */
proctype Faults() {
    byte i;
end:
    do
    :: atomic { kills > 0 && isUp[0] -> kills--; forget(0) }
    :: atomic { kills > 0 && isUp[1] -> kills--; forget(1) }
    :: atomic { delays > 0 && isUp[0] && !expired[0] -> delays--; expired[0] = true }
    :: atomic { delays > 0 && isUp[1] && !expired[1] -> delays--; expired[1] = true }
#ifndef OWN_CLOCK
    :: atomic { !isUp[0] && !expired[0] -> expired[0] = true }
    :: atomic { !isUp[1] && !expired[1] -> expired[1] = true }
#endif
    :: timeout -> assert(row[0] == done && row[1] == done && isAcknowledged[0] && isAcknowledged[1]); break
    od
}

init {
    atomic {
        run Gateway(0); run Gateway(1);
        run Holder(0, 0); run Holder(0, 1); run Holder(1, 0); run Holder(1, 1);
        run Session(0, 0); run Session(0, 1); run Session(1, 2); run Session(1, 3);
        run Faults()
    }
}
