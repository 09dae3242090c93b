# gridline completion for bash
_gridline() {
  local line files=0 current="${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :files) files=1 ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <(gridline __complete-line "${COMP_LINE:0:COMP_POINT}" "$current" 2>/dev/null)
  if [ "$files" = 1 ]; then
    current="${current#[\"\']}"
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${current//\\/}")
  fi
  case "${#COMPREPLY[@]} ${COMPREPLY[0]}" in '1 '*[/=]) compopt -o nospace 2>/dev/null ;; esac
}
complete -o filenames -F _gridline gridline
