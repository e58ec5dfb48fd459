extension String {
    /// Not empty, no wildcard ([MQTT-3.3.2-2], [MQTT-4.7.3-1]).
    package var isMQTTTopicName: Bool {
        // Runs for every message, and a span costs a fraction of iterating over `utf8`.
        let bytes = self.utf8.span
        for index in bytes.indices where bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "#") {
            return false
        }
        return !bytes.isEmpty
    }

    /// `+` and `#` only as whole levels, `#` only as the last level ([MQTT-4.7.1-2], [MQTT-4.7.1-3], [MQTT-4.7.3-1]).
    package var isMQTTTopicFilter: Bool {
        guard !self.isEmpty else { return false }
        let levels = self.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, level) in levels.enumerated() where level.count > 1 || index < levels.count - 1 {
            if level.contains(UInt8(ascii: "#")) { return false }
            if level.count > 1, level.contains(UInt8(ascii: "+")) { return false }
        }
        return true
    }
}
