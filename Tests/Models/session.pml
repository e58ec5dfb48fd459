/*
 * One gateway whose connections to the database break, so that a turn has no answer.
 *
 * A turn is a transaction with all that one turn of the gateway's loop has to write. The gateway sends a turn, and
 * perhaps another write behind it. The connection may break at any moment. The database may have carried out the sent
 * turn, may do so later, or never. The gateway reconnects. Its new connection first takes the right to write from the
 * earlier ones, and reads the number of the last written turn. If that is the number of the turn without an answer, the
 * turn is written. Otherwise the gateway sends the turn again.
 *
 * The model proves, for every order of the steps, while two connections break and a full disk refuses one turn:
 *
 *   once       no turn is written twice (written)
 *   told       every turn that the gateway reports as written is written (tell)
 *   alive      the database never refuses the present connection in favour of another one (Server)
 *   ending     in the final state, every turn is reported (Gateway)
 *
 * Each of these mutants leaves out one rule, and must fail:
 *
 *   KEEPS_WRITING   a new connection does not take the right to write from the earlier ones
 *   FALLS           a late connection takes the right to write from a newer one
 *   NUMBERED        a write behind a turn has that turn's number
 */
#define CONNECTIONS 3
#define TURNS 2
#define NUMBERS 7

mtype = { resume, turn, write };

/* The database. */
byte session;
byte last;
byte count[TURNS];
bool isFull = true; /* the disk refuses one turn */

/* The messages to and from the database. */
chan wire[CONNECTIONS] = [3] of { mtype, byte, byte };
chan answer[CONNECTIONS] = [3] of { mtype, bool, byte };

/* The gateway: its connection, and the number of its last sent turn. */
byte present;
byte number;
byte told;

inline written(content) { count[content]++; assert(count[content] == 1) }

inline tell(content) { assert(count[content] == 1); told++ }

#ifdef FALLS
#define mayResume(c) true
#else
#define mayResume(c) (session < c)
#endif
#ifdef KEEPS_WRITING
#define mayWrite(c) true
#else
#define mayWrite(c) (session == c)
#endif

/* The database's side of a connection. Each step is a transaction. After the gateway's side has ended, this side may
 * end with unread messages. */
proctype Server(byte c) {
    byte n, content;
end:
    do
    :: atomic { wire[c]?resume(n, content) ->
        if
        :: mayResume(c) -> session = c; answer[c]!resume(true, last)
        :: else -> assert(c != present); answer[c]!resume(false, 0)
        fi }
    :: atomic { wire[c]?turn(n, content) ->
        if
        :: mayWrite(c) && isFull -> isFull = false; answer[c]!turn(false, 0)
        :: mayWrite(c) -> written(content); last = n; answer[c]!turn(true, 0)
        :: else -> assert(c != present); answer[c]!turn(false, 0)
        fi }
    :: atomic { wire[c]?write(n, content) ->
        if
        :: mayWrite(c) ->
#ifdef NUMBERED
            last = n;
#endif
            skip
        :: else -> assert(c != present)
        fi }
    :: atomic { c != present && len(wire[c]) > 0 -> break }
    od
}

proctype Gateway() {
    byte l;
    bool isDone;
send:
    atomic {
        if :: told == TURNS -> goto over :: else fi;
        number++;
        wire[present]!turn(number, told)
    }
    if
    :: wire[present]!write(number, 0)
    :: skip
    fi;
wait:
    if
    :: atomic { answer[present]?turn(isDone, l) ->
        if :: isDone -> tell(told) :: else fi;
        goto send }
    /* The connection breaks, before or after the database has answered. */
    :: atomic { present < CONNECTIONS - 1 -> present++; wire[present]!resume(present, 0) }
    fi;
resumes:
    if
    :: atomic { answer[present]?resume(isDone, l) ->
        if
        :: l == number -> tell(told); goto send
        :: else -> goto send
        fi }
    :: atomic { present < CONNECTIONS - 1 -> present++; wire[present]!resume(present, 0); goto resumes }
    fi;
over:
    skip
}

init {
    byte c;
    atomic {
        c = 0;
        do
        :: c < CONNECTIONS -> run Server(c); c++
        :: else -> break
        od;
        run Gateway()
    }
}
