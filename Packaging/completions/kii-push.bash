# bash completion for kii-push, kii-push-emulator and kii-push-gateway. Each program's command 'complete' prints the
# offers.

_kii_push() {
    local cur=${COMP_WORDS[COMP_CWORD]} answers
    # bash breaks '--option=value' into three words.
    [[ $cur == = ]] && cur=
    mapfile -t answers < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
    COMPREPLY=()
    case ${answers[0]-} in
        :file)
            compopt -o filenames 2> /dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            ;;
        :directory)
            compopt -o filenames 2> /dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$cur")
            ;;
        :program)
            compopt -o filenames 2> /dev/null
            mapfile -t COMPREPLY < <(compgen -c -- "$cur")
            ;;
        ?*) COMPREPLY=("${answers[@]%%$'\t'*}") ;;
    esac
    return 0
}

complete -F _kii_push kii-push kii-push-emulator kii-push-gateway
