/// A script of faults: steps on separate lines or separated by semicolons. A word that begins with `#` begins a
/// comment.
package struct FaultScript: Sendable, Hashable {
    static let maximumSteps = 1000

    package private(set) var steps: [FaultStep] = []

    package init(parsing text: String) throws(FaultScriptError) {
        for words in FaultScriptWord.steps(in: text) {
            guard self.steps.count < FaultScript.maximumSteps else {
                throw FaultScriptError(at: words[0], "there are more than \(FaultScript.maximumSteps) steps")
            }
            var reader = FaultStepReader(words)
            self.steps.append(try reader.step())
        }
        if self.steps.isEmpty {
            throw FaultScriptError(line: 1, column: 1, message: "there is no step, such as: \(FaultScript.example)")
        }
    }

    private static let example = "after 3 requests answer 503 for 5 s"
}

package struct FaultScriptError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Line and column count from 1. A column is one Unicode scalar.
    package var line: Int
    package var column: Int
    package var message: String

    package var description: String { "line \(self.line), column \(self.column): \(self.message)" }
}

extension FaultScriptError {
    init(at word: FaultScriptWord, _ message: String) {
        self.init(line: word.line, column: word.column, message: message)
    }
}

struct FaultScriptWord {
    var text: String
    var line: Int
    var column: Int

    static func steps(in text: String) -> [[FaultScriptWord]] {
        let blanks: Set<Unicode.Scalar> = [" ", "\t", "\r"]
        var steps: [[FaultScriptWord]] = []
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let scalars = Array(line)
            let comment = scalars.indices.first { place in
                guard scalars[place] == "#" else { return false }
                return place == 0 || scalars[place - 1] == ";" || blanks.contains(scalars[place - 1])
            }
            for step in scalars[..<(comment ?? scalars.count)].split(separator: ";") {
                let words = step.split(whereSeparator: blanks.contains).map { word in
                    FaultScriptWord(
                        text: String(String.UnicodeScalarView(word)), line: index + 1, column: word.startIndex + 1)
                }
                if !words.isEmpty { steps.append(words) }
            }
        }
        return steps
    }
}
