@main
enum KiiPushCommand {
    static func main() {}
}
