#ifndef CINSPECTOR_H
#define CINSPECTOR_H

/// A file of the emulator's page, compiled into the program.
struct cinspector_file {
    const char *name;
    const char *media_type;
    /// UTF-8, with a NUL at the end.
    const unsigned char *text;
};

/// The file of that name; NULL if there is none.
const struct cinspector_file *cinspector_file(const char *name);

#endif
