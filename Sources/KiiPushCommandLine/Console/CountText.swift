extension Int {
    /// A number of things, such as `1 agent` or `3 agents`.
    package func text(of thing: String) -> String { "\(self) \(thing)\(self == 1 ? "" : "s")" }
}
