/*
 * One gateway whose connections to the database break: what becomes of a turn that has no answer.
 *
 * A gateway sends a turn, and perhaps a write that is no turn behind it. The connection may break at any moment. What was
 * sent may have been carried out, may be carried out later, or never. The gateway connects again. Its new connection first
 * takes writing away from the earlier ones, and reads the number of the last turn. If that is the one without an answer,
 * the turn is written. If not, it is sent again.
 *
 * What is shown, for every order of the steps, while two connections break and one turn is refused for a full disk:
 *
 *   once       no turn is written twice (written)
 *   told       what is told as written is written (tell)
 *   alive      the present connection is never refused for another one (Server)
 *   ending     when nothing can happen any more, everything is told (Gateway)
 *
 * Each of these leaves out one rule, and must fail:
 *
 *   KEEPS_WRITING   a new connection takes nothing away from the earlier ones
 *   FALLS           a connection that comes late takes writing away from a newer one
 *   NUMBERED        a write that is no turn is numbered as the turn before it
 */
#define CONNECTIONS 3
#define TURNS 2
#define NUMBERS 7

mtype = { resume, turn, write };

/* The database. */
byte session;
byte last;
byte count[TURNS];
bool isFull = true; /* refuses one turn */

/* What is on its way to the database, and back. */
chan wire[CONNECTIONS] = [3] of { mtype, byte, byte };
chan answer[CONNECTIONS] = [3] of { mtype, bool, byte };

/* The gateway: its connection, and the number of the turn that it has sent last. */
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

/* The database's side of a connection. Each step is a transaction. It may end in the middle, if the gateway's has. */
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
    /* It breaks, with the answer on its way or not. */
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
