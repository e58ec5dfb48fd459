/// What a ``ByteStream`` tells its owner, always on the loop's thread and never from inside a call into the stream.
package protocol ByteStreamDelegate: AnyObject {
    /// The connection stands, TLS handshake and proxy included.
    func streamDidConnect(_ stream: ByteStream)

    /// Bytes came. `bytes` is the loop's own buffer: valid during the call only.
    func stream(_ stream: ByteStream, didReceive bytes: UnsafeRawBufferPointer)

    /// The connection ended or never came about; nothing follows. A peer that closed has code `connectionLost`.
    ///
    /// Everything that arrived before has been handed over. It may come while reading is paused.
    func streamDidClose(_ stream: ByteStream, error: TransportError)
}

/// What is run in every turn of the loop, between what came in and what goes out.
package protocol TurnDelegate: AnyObject {
    /// Whether this turn has brought enough: streams are read again in the next one. Asked after each piece that a stream
    /// hands out.
    var isSated: Bool { get }
    /// Every byte of this turn has been handed out: store what it brought.
    func commit()
    /// ``commit()`` has returned. What is sent now leaves at the end of this turn.
    func afterCommit()
    /// The loop ends: what comes now is its last turn.
    func loopEnds()
    /// The last turn is over, and every stream has ended: nothing follows.
    func loopEnded()
}

extension TurnDelegate {
    package var isSated: Bool { false }
    package func loopEnds() {}
    package func loopEnded() {}
}
