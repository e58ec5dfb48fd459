enum PublicFunctions {
    /// Names in the form `name(label:_:)`, in the order of the source.
    static func names(in source: String) -> [String] {
        source.matches(of: /public func ([A-Za-z]+)(?:<[^>]*>)?\(/).map { match in
            "\(match.output.1)(\(self.labels(source[match.range.upperBound...])))"
        }
    }

    private static func labels(_ text: Substring) -> String {
        var parameters: [Substring] = []
        var depth = 0
        var start = text.startIndex
        scan: for index in text.indices {
            switch text[index] {
            case "(", "[", "<": depth += 1
            case ")" where depth == 0:
                parameters.append(text[start..<index])
                break scan
            case ")", "]": depth -= 1
            case ">" where text[..<index].last != "-": depth -= 1
            case "," where depth == 0:
                parameters.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        return parameters.compactMap { parameter in
            parameter.split(whereSeparator: { $0.isWhitespace || $0 == ":" }).first.map { $0 + ":" }
        }.joined()
    }
}
