#include "CInspector.h"

#include <stddef.h>
#include <string.h>

#define HTML "text/html; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define STYLE "text/css; charset=utf-8"

// clang supports #embed in earlier modes too, with this warning.
#pragma clang diagnostic ignored "-Wc23-extensions"

// #embed (C23) needs a line of its own. Add each new file of `page` here.
static const struct cinspector_file files[] = {
    {"index.html", HTML, (const unsigned char[]){
#embed "page/index.html" suffix(, 0)
    }},
    {"inspector.js", SCRIPT, (const unsigned char[]){
#embed "page/inspector.js" suffix(, 0)
    }},
    {"api.js", SCRIPT, (const unsigned char[]){
#embed "page/api.js" suffix(, 0)
    }},
    {"copy.js", SCRIPT, (const unsigned char[]){
#embed "page/copy.js" suffix(, 0)
    }},
    {"dom.js", SCRIPT, (const unsigned char[]){
#embed "page/dom.js" suffix(, 0)
    }},
    {"faulting.js", SCRIPT, (const unsigned char[]){
#embed "page/faulting.js" suffix(, 0)
    }},
    {"json.js", SCRIPT, (const unsigned char[]){
#embed "page/json.js" suffix(, 0)
    }},
    {"list.js", SCRIPT, (const unsigned char[]){
#embed "page/list.js" suffix(, 0)
    }},
    {"message.js", SCRIPT, (const unsigned char[]){
#embed "page/message.js" suffix(, 0)
    }},
    {"sending.js", SCRIPT, (const unsigned char[]){
#embed "page/sending.js" suffix(, 0)
    }},
    {"stream.js", SCRIPT, (const unsigned char[]){
#embed "page/stream.js" suffix(, 0)
    }},
    {"views.js", SCRIPT, (const unsigned char[]){
#embed "page/views.js" suffix(, 0)
    }},
    {"style.css", STYLE, (const unsigned char[]){
#embed "page/style.css" suffix(, 0)
    }},
};

const struct cinspector_file *cinspector_file(const char *name) {
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i].name, name) == 0) return &files[i];
    }
    return NULL;
}
