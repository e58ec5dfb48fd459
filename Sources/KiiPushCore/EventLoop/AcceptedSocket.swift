import CCurl

/// Takes the next connection of a listening socket, which no program inherits that is started, not even at the very moment.
///
/// - Parameter waits: whether reading and writing it waits.
/// - Returns: -1, with the reason in `errno`, where none is to be had now.
package func acceptSocket(_ listener: Int32, waits: Bool = false) -> Int32 { ccurl_accept(listener, waits ? 1 : 0) }
