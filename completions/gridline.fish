# gridline completion for fish

# Fish evaluates both conditions, so the answer is kept for a second.
function __gridline_offers_files
    set -l line (commandline -cp | string collect)
    set -l key (date +%s) $line
    if test "$key" != "$__gridline_key"
        set -g __gridline_key $key
        set -g __gridline_words (gridline __complete-line $line 2>/dev/null)
    end
    contains :files $__gridline_words
end
complete -c gridline -n __gridline_offers_files -F -a '(string match --invert :files -- $__gridline_words)'
complete -c gridline -n 'not __gridline_offers_files' -f -a '$__gridline_words'
