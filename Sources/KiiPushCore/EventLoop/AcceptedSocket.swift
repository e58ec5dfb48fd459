import CCurl

/// Takes the next connection of a listening socket.
///
/// The descriptor does not wait, and no program inherits it that is started, not even at the very moment.
///
/// - Returns: -1, with the reason in `errno`, where none is to be had now.
func acceptSocket(_ listener: Int32) -> Int32 { ccurl_accept(listener) }
