/// A token, password or key that must not reach a log, an error or an argument list.
///
/// Whatever prints a value prints `<redacted>`: interpolation, `debugPrint`, `dump` and `Mirror` alike. The text is
/// reached by ``reveal()`` alone, so every place that uses it can be found by that name.
public struct Secret: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible, CustomReflectable {
    private let text: String

    /// Takes `text` into custody.
    public init(_ text: String) { self.text = text }
    /// Takes a literal into custody; meant for tests and for values that are public anyway.
    public init(stringLiteral value: String) { self.text = value }
    /// The guarded text, for the one place that puts it on the wire or into the credential store.
    public func reveal() -> String { self.text }

    /// Always `<redacted>`.
    public var description: String { "<redacted>" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
