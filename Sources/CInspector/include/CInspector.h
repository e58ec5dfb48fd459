#ifndef CINSPECTOR_H
#define CINSPECTOR_H

/// A file of the emulator's page, compiled into the program.
struct cinspector_file {
    const char *name;
    const char *media_type;
    /// UTF-8, with a final NUL.
    const unsigned char *text;
};

/// NULL if there is no such file.
const struct cinspector_file *cinspector_file(const char *name);

#endif
