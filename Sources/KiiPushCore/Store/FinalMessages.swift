/// Handled messages and dead letters of an inbox in memory. A digest identifies a redelivery, until the broker
/// certainly has the acknowledgement.
///
/// The digest has a secret key. Otherwise a sender could make two messages with one digest, and the second would be
/// lost as a redelivery of the first.
struct FinalMessages {
    struct Message {
        let installation: Int64
        let packetID: UInt16
        let digest: SipHash.Digest
    }

    /// A broker has at most this many packets of a connection in flight (MQTT 3.1.1 section 2.3.1). A redelivery of an
    /// older message counts as a new message.
    private static let limit = 65_535

    private let key = SipHash.Key.random()
    private var messages = SequenceMap<Message>()
    private var order = Fifo<Int64>()
    private var byInstallation: [Int64: Fifo<Int64>] = [:]
    /// By installation: no arrival is a redelivery of a message up to this number.
    var watermarks: [Int64: Int64] = [:]

    subscript(sequence: Int64) -> Message? { self.messages[sequence] }

    func digest(topic: String, payload: [UInt8], _ originalLength: Int?) -> SipHash.Digest {
        var (hash, topic) = (SipHash(key: self.key), topic)
        payload.withUnsafeBytes { hash.append($0) }
        topic.withUTF8 { hash.append(UnsafeRawBufferPointer($0)) }
        // Without the lengths, `ab` with `c` and `a` with `bc` would have one digest.
        withUnsafeBytes(of: (originalLength ?? -1, payload.count)) { hash.append($0) }
        return hash.finish()
    }

    mutating func add(_ sequence: Int64, _ message: Message) {
        self.messages[sequence] = message
        self.order.append(sequence)
        self.byInstallation[message.installation, default: Fifo()].append(sequence)
        guard self.order.count > Self.limit, let oldest = self.order.popFirst() else { return }
        _ = self.remove(oldest)
    }

    mutating func remove(_ sequence: Int64) -> Message? {
        guard let message = self.messages[sequence] else { return nil }
        self.messages[sequence] = nil
        // Taken out of the dictionary, the queue changes in place, without a copy.
        guard var own = self.byInstallation.removeValue(forKey: message.installation) else { return message }
        if own.first == sequence { _ = own.popFirst() } else { _ = own.removeAll { $0 == sequence } }
        if !own.isEmpty { self.byInstallation[message.installation] = own }
        return message
    }

    mutating func proven(installation: Int64, through sequence: Int64) {
        self.watermarks[installation] = sequence
        // Visits one installation's messages only, since every connection of a gateway calls this once a keep-alive.
        guard var own = self.byInstallation.removeValue(forKey: installation) else { return }
        for proven in own.removeAll(where: { $0 <= sequence }) { self.messages[proven] = nil }
        if !own.isEmpty { self.byInstallation[installation] = own }
    }

    func unproven(installation: Int64) -> [UnprovenRow] {
        var rows: [UnprovenRow] = []
        self.messages.forEach { sequence, message in
            guard message.installation == installation else { return }
            rows.append(UnprovenRow(sequence: sequence, packetID: message.packetID))
        }
        return rows
    }
}
