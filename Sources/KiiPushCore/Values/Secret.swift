/// A token, password or key that must stay out of logs, errors and argument lists.
///
/// Interpolation, `debugPrint` and `dump` give `<redacted>`. Only ``reveal()`` returns the text.
public struct Secret: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible, CustomReflectable {
    private let text: String

    /// Wraps `text`.
    public init(_ text: String) { self.text = text }
    /// Wraps a literal.
    public init(stringLiteral value: String) { self.text = value }
    /// Returns the secret text.
    public func reveal() -> String { self.text }

    /// Always `<redacted>`.
    public var description: String { "<redacted>" }

    /// A mirror without children, so that `dump` cannot show the text.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
