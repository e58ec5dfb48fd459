#ifndef CPOSTGRES_SHIM_H
#define CPOSTGRES_SHIM_H

// Where Debian has it. Not by pkg-config: SwiftPM would warn everybody who does not have this library.
#include <postgresql/libpq-fe.h>

// The codes of PQresultErrorField() are character constants, which Swift imports as no number that it takes.
static const int cpostgres_sqlstate = PG_DIAG_SQLSTATE;
static const int cpostgres_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int cpostgres_message = PG_DIAG_MESSAGE_PRIMARY;

#endif
