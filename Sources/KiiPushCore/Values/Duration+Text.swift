extension Duration {
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// Text for people: `287 ms`, `1.8 s`, `5 min`. The duration must not be negative.
    package var text: String {
        let milliseconds = self.milliseconds
        switch milliseconds {
        case ..<1000: return "\(milliseconds) ms"
        case ..<10_000: return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
        case ..<120_000: return "\(milliseconds / 1000) s"
        default: return "\(milliseconds / 60_000) min"
        }
    }
}
