/// The SVG elements of the plots. Lengths are in pixels.
enum SVG {
    /// A white page, 960 pixels wide.
    static func page(height: Int, _ elements: [String]) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 \(height)" font-family="sans-serif" font-size="13">
        <rect width="960" height="\(height)" fill="white"/>
        \(elements.joined(separator: "\n"))
        </svg>

        """
    }

    static func text(_ text: String, _ x: Double, _ y: Double, _ attributes: String = "") -> String {
        let more = attributes.isEmpty ? "" : " \(attributes)"
        return "<text x=\"\(self.number(x))\" y=\"\(self.number(y))\"\(more)>\(text)</text>"
    }

    static func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: String) -> String {
        "<rect x=\"\(self.number(x))\" y=\"\(self.number(y))\" width=\"\(self.number(width))\" "
            + "height=\"\(self.number(height))\" fill=\"\(colour)\"/>"
    }

    static func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String) -> String {
        let commands = "M\(self.number(x1)) \(self.number(y1))L\(self.number(x2)) \(self.number(y2))"
        return self.path(commands, "stroke=\"\(colour)\"")
    }

    static func path(_ commands: String, _ attributes: String) -> String { "<path d=\"\(commands)\" \(attributes)/>" }

    static func number(_ value: Double) -> String { Shown.decimals(value, 1) }
}
