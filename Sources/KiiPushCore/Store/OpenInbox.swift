/// An inbox file, and the room that it has.
package struct OpenInbox {
    let file: RecoverableInbox
    let room: InboxRoom

    /// Opens the file, or makes it.
    ///
    /// - Parameter freeBytes: what may still be written on its disk.
    /// - Throws: ``InboxError``.
    package init(
        path: String, configuration: Inbox.Configuration,
        freeBytes: @escaping (String) -> Int64? = InboxRoom.freeBytes(at:)
    ) throws(InboxError) {
        var room = InboxRoom(of: path, clocks: configuration.clocks, freeBytes: freeBytes)
        do throws(InboxError) {
            self.file = try RecoverableInbox(path: path, configuration: configuration)
        } catch {
            guard error.kind == .full else { throw error }
            // Opening takes a little room, which an earlier process may have left.
            room.giveUpReserve()
            self.file = try RecoverableInbox(path: path, configuration: configuration)
        }
        self.room = room
    }
}
