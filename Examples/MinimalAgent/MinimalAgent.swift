@main
enum MinimalAgent {
    static func main() {}
}
