#if Postgres
/// Texts for libpq.
enum PostgresTexts {
    /// Calls `body` with the texts as C has them, and a null pointer behind them.
    static func with<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        var bytes: [CChar] = []
        let starts = texts.map { text in
            defer { bytes.append(contentsOf: text.utf8CString) }
            return bytes.count
        }
        return bytes.withUnsafeBufferPointer { bytes in
            let pointers = starts.map { bytes.baseAddress?.advanced(by: $0) } + [nil]
            return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
        }
    }
}
#endif
