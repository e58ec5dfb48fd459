#compdef kii-push kii-push-emulator kii-push-gateway
# zsh completion for these programs. Each program's command 'complete' prints the offers.

_kii-push() {
    local -a answers
    answers=(${(f)"$("${(Q)words[1]}" complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)"})
    case $answers[1] in
        :file | :directory | :program) compset -P '--[^=]#=' ;;
    esac
    case $answers[1] in
        :file) _files ;;
        :directory) _files -/ ;;
        :program) _command_names -e || _files ;;
        *)
            # _describe takes VALUE:DESCRIPTION.
            answers=("${(@)answers//:/\\:}")
            answers=("${(@)answers/$'\t'/:}")
            (($#answers)) && _describe -V kii-push answers
            ;;
    esac
}

# In $fpath, zsh calls this file as the function itself, under the name of the program's package. Otherwise the file was
# sourced.
if [[ $funcstack[1] == _kii-push* ]]; then
    _kii-push "$@"
else
    compdef _kii-push kii-push kii-push-emulator kii-push-gateway
fi
