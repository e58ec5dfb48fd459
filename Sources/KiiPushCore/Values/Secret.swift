/// A token, password or key that must not reach a log, an error or an argument list.
///
/// Printing always gives `<redacted>`: interpolation, `debugPrint`, `dump` and `Mirror` alike. Only ``reveal()``
/// returns the text, so a search for that name finds every use.
public struct Secret: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible, CustomReflectable {
    private let text: String

    /// Wraps `text`.
    public init(_ text: String) { self.text = text }
    /// Wraps a literal; for tests and for values that are public anyway.
    public init(stringLiteral value: String) { self.text = value }
    /// The secret text, for the code that sends or stores it.
    public func reveal() -> String { self.text }

    /// Always `<redacted>`.
    public var description: String { "<redacted>" }

    /// A mirror without children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
