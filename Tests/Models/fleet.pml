/*
 * Gateways that share a database: who holds a shard, and what becomes of its messages.
 *
 * A gateway has a token and a lease in the database. It writes by turns. The database carries a turn out only if the
 * gateway's token is the one that the turn was sent with, and the shard is the gateway's own. Whoever finds that a
 * lease has expired raises that gateway's token, so that its turns are refused, and takes its shards. A gateway that
 * joins asks for a shard. The holder drains it, and then hands it over.
 *
 * What is shown, for every order of the steps, while one gateway is killed and one is held up past its lease:
 *
 *   writing    only the holder of a shard writes for it, under its present lease (carryOut)
 *   storing    a message that is acknowledged to the broker is stored (acknowledge)
 *   handling   a message is handled once, and again only where its holder has lost the lease while it was in hand;
 *              a hand-over has none handled again (Holder)
 *   ending     no execution is without end (spin finds no cycle; with both faults: `script/models --full`), and when
 *              nothing can happen any more every message is handled and acknowledged (Faults)
 *
 * A lease may expire at any moment here, and that of a dead gateway does so in the end. Nothing else that is shown
 * rests on how fast a clock runs. Retries, order, and turns of several messages are not in the model.
 *
 * Each of these leaves out one rule, and must fail:
 *
 *   NO_TOKEN      a turn is carried out whatever its token
 *   NO_LOCK       a takeover may come between the check of the token and the commit
 *   NO_DRAIN      a shard is handed over while its handler runs
 *   OWN_CLOCK     a gateway dates its lease by its own clock, which is ahead by hours
 *   EARLY         a message is acknowledged before the commit
 *   NO_SUSPECTS   who takes over leaves alone what was in hand
 */
#define GATEWAYS 2
#define SHARDS 2 /* and one message for each */
#define LIVES 2 /* how often a gateway's process may start */
#define NOBODY 7

mtype = { fresh, waiting, held, done };          /* of a message's row */
mtype = { idle, sent, checked, committed, refused }; /* of a turn */
mtype = { store, claim, verdict };

/* The database. */
byte token[GATEWAYS];
bool expired[GATEWAYS] = true;
byte owner[SHARDS] = NOBODY;
byte heir[SHARDS] = NOBODY; /* who has asked for the shard */
mtype row[SHARDS] = fresh;

/* The turns of each life of a gateway: what a dead process has sent may still be carried out. */
mtype state[4] = idle;
mtype kind[4] = store;
byte subject[4];
byte stamp[4]; /* the token that it was sent with */

/* The broker. It repeats a message to whoever is connected until it is acknowledged. */
bool isAcknowledged[SHARDS];
byte connection[SHARDS] = NOBODY;

/* The memory of the gateways. */
bool isUp[GATEWAYS];
byte lives[GATEWAYS];
byte mine[GATEWAYS];       /* the token that it has */
byte running[GATEWAYS] = NOBODY; /* the message that its handler has */
bool isWatched[4];   /* [gateway * SHARDS + shard]: it has learned that the shard is its own */

/* How often the message may still be handled: once, and once more for each lease lost while it was in hand. */
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

/* What has happened to the shards of a gateway that has lost its lease, in one transaction that has its lock alone. */
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

/* As before the first turn, so that what is over makes no more states. */
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
    /* The process has died, and with it the connection: its last turn is not carried out. */
    :: atomic { state[t] == sent && (!isUp[g] || life(g) != t) -> rest(t) }
    od
}

/* A gateway's place in the fleet. */
proctype Gateway(byte g) {
    byte i, other = 1 - g;
end:
    do
    /* Starts. Under a name that is alive it waits until the old lease has ended. */
    :: atomic { !isUp[g] && lives[g] < LIVES && expired[g] ->
        dispossess(g);
        expired[g] = false; lives[g]++; mine[g] = token[g]; isUp[g] = true }
    :: atomic { expired[g] && isCurrent(g) -> expired[g] = false }
    /* Learns that its lease was lost, by a turn that is refused or when it renews. What it has in memory is void. */
    :: atomic { isUp[g] && state[life(g)] == refused -> rest(life(g)); forget(g) }
    :: atomic { isUp[g] && mine[g] != token[g] && state[life(g)] == idle -> forget(g) }
    /* Declares the other one dead. */
    :: atomic { isCurrent(g) && expired[other] && (owner[0] == other || owner[1] == other) -> dispossess(other) }
    od
}

/* What a gateway does for a shard. */
proctype Holder(byte g, s) {
    byte other = 1 - g;
end:
    do
    /* Takes it when nobody owns it. What was in hand there is tried again. */
    :: atomic { isCurrent(g) && owner[s] == NOBODY ->
        owner[s] = g; watches(g, s) = true;
#ifndef NO_SUSPECTS
        if :: row[s] == held -> row[s] = waiting :: else fi
#endif
        }
    /* Asks for its share; learns that it has it. */
    :: atomic { isCurrent(g) && owner[0] == other && owner[1] == other && heir[0] == NOBODY && heir[1] == NOBODY ->
        heir[s] = g }
    :: atomic { isCurrent(g) && owner[s] == g && !watches(g, s) -> watches(g, s) = true }
    /* Hands over. It has stopped receiving for the shard, and its handler has been answered. */
    :: atomic { isFree(g) && owner[s] == g && heir[s] != NOBODY && isDrained(g, s) ->
        owner[s] = heir[s]; heir[s] = NOBODY; watches(g, s) = false;
        if :: row[s] == held -> row[s] = waiting :: else fi;
        if :: connection[s] == g -> connection[s] = NOBODY :: else fi }
    /* The broker ends the connection of another one with the same client ID. Whose connection was ended so makes sure
       of its lease before it connects again, which a zombie cannot. */
    :: atomic { isCurrent(g) && watches(g, s) && heir[s] == NOBODY && connection[s] != g -> connection[s] = g }
    /* Receives, and acknowledges what is stored. */
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

/* A gateway is killed, or held up until its lease has ended. The lease of a dead one always ends. */
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
