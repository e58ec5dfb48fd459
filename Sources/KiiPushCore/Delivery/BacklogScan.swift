/// How far an installation's backlog has been read past the sources that keep to their share of memory.
struct BacklogScan: Sendable {
    /// Every row that waits, up to this one, is of a source of which messages were left in the store.
    var position: Int64 = 0
    /// A row may wait before ``position`` that was not there when it passed.
    var restarts = false
    /// The source that the load under way is for, or the last one was; `nil` for one that goes on from ``position``.
    var refilled: Int?
}
