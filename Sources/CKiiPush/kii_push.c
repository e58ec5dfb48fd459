// SwiftPM recognises a C target by its source file. Sources/KiiPushC implements the functions.
#include "kii_push.h"
