# fish completion for kii-push, kii-push-emulator and kii-push-gateway. Each program's command 'complete' prints the
# offers.

function __kii_push_answers
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    set -l answers ($words[1] complete -- $words[2..] "$token" 2>/dev/null)
    # For --option=value, fish completes the value alone.
    set -l option (string match -r -- '^--[^=]+=' $token)
    set -l value (string replace -r -- '^--[^=]+=' '' $token)
    switch "$answers[1]"
        case :file
            printf "$option%s\n" (__fish_complete_path "$value")
        case :directory
            printf "$option%s\n" (__fish_complete_directories "$value")
        case :program
            __fish_complete_command
        case '?*'
            printf '%s\n' $answers
    end
end

for program in kii-push kii-push-emulator kii-push-gateway
    complete -c $program -f -a '(__kii_push_answers)'
end
