#ifndef CINSPECTOR_H
#define CINSPECTOR_H

/// A file of the emulator's page, compiled into the program.
struct cinspector_file {
    const char *name;
    const char *media_type;
    /// UTF-8, with a final NUL.
    const unsigned char *text;
};

/// The file with this name; NULL if there is none.
const struct cinspector_file *cinspector_file(const char *name);

#endif
