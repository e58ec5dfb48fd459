extension Int {
    package func text(of thing: String) -> String { "\(self) \(thing)\(self == 1 ? "" : "s")" }
}
