// SwiftPM takes a folder for a C target by a source in it; the functions are in Sources/KiiPushC.
#include "kii_push.h"
