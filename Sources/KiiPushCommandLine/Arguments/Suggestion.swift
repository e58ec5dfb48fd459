/// The candidate that is most similar to `word`, if it is similar enough. At most a third of the letters may differ, or
/// one letter of a short word. Two swapped neighbours count as one difference.
package func suggestion(for word: String, among candidates: some Sequence<String>) -> String? {
    let scored = candidates.map { (candidate: $0, distance: editDistance(word, $0)) }
    guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= max(1, best.candidate.count / 3) ? best.candidate : nil
}

/// The optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours.
private func editDistance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left), Array(right))
    var beforePrevious: [Int] = []
    var previous = Array(0...right.count)
    for row in left.indices {
        var current = [row + 1]
        for column in right.indices {
            let replacement = previous[column] + (left[row] == right[column] ? 0 : 1)
            var best = min(replacement, previous[column + 1] + 1, current[column] + 1)
            if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                best = min(best, beforePrevious[column - 1] + 1)
            }
            current.append(best)
        }
        (beforePrevious, previous) = (previous, current)
    }
    return previous[right.count]
}
