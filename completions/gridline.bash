# gridline completion for bash

# Readline splits words at colons, which ids have, so the program gets the line as it is typed. Names are quoted here:
# what readline quotes itself (-o filenames) leaves backquotes as they are once one is typed, and they are run.
_gridline() {
  local line quoted quote='' files=0 current="${COMP_WORDS[COMP_CWORD]}"
  local -a found=()
  case "$current" in \"*) quote='"' ;; \'*) quote="'" ;; esac
  while IFS= read -r line; do
    case "$line" in
      :files) files=1 ;;
      *) found+=("${line%%$'\t'*}") ;;
    esac
  done < <(gridline __complete-line "${COMP_LINE:0:COMP_POINT}" "$current" 2>/dev/null)
  if [ "$files" = 1 ]; then
    current="${current#[\"\']}"
    while IFS= read -r line; do
      if [ -d "${line/#\~/$HOME}" ]; then line+=/; fi
      found+=("$line")
    done < <(compgen -f -- "${current//\\/}")
  fi
  COMPREPLY=()
  for line in "${found[@]}"; do
    case "$quote|$line" in
      \"\|*) line="${line//\\/\\\\}"; line="${line//\"/\\\"}"; line="${line//\$/\\\$}"; line="${line//\`/\\\`}" ;;
      \'\|*\'*) line='' ;;
      \'\|*) ;;
      '|~/'*) printf -v quoted '~/%q' "${line:2}"; line="$quoted" ;;
      *) printf -v quoted %q "$line"; line="${quoted//\\,/,}" ;;
    esac
    if [ -n "$line" ]; then COMPREPLY+=("$line"); fi
  done
  case "${#COMPREPLY[@]} ${COMPREPLY[0]}" in '1 '*[/=]) compopt -o nospace 2>/dev/null ;; esac
}
complete -F _gridline gridline
