#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

// The type checks of curl's headers are macros around the variadic calls wrapped here.
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>

#endif
