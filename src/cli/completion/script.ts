import { Problem } from '../../contract/errors.ts'

/**
 * The completion script of a shell. All of them ask `gridline __complete`, with the words up to the cursor, and offer
 * what it prints (answer.ts).
 */
export function completionScript(shell: string): string {
  if (!Object.hasOwn(scripts, shell))
    throw new Problem('usage', `unsupported shell: ${shell}`, {
      hint: `Supported shells: ${shells.join(', ')}`,
    })
  return scripts[shell]
}

// Readline splits words at colons, which ids have, so the program gets the line as it is typed. Names are quoted here:
// what readline quotes itself (-o filenames) leaves backquotes as they are once one is typed, and they are run.
const bash = `# gridline completion for bash
_gridline() {
  local line quoted quote='' files=0 current="\${COMP_WORDS[COMP_CWORD]}"
  local -a found=()
  case "$current" in \\"*) quote='"' ;; \\'*) quote="'" ;; esac
  while IFS= read -r line; do
    case "$line" in
      :files) files=1 ;;
      *) found+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(gridline __complete-line "\${COMP_LINE:0:COMP_POINT}" "$current" 2>/dev/null)
  if [ "$files" = 1 ]; then
    current="\${current#[\\"\\']}"
    while IFS= read -r line; do
      if [ -d "\${line/#\\~/$HOME}" ]; then line+=/; fi
      found+=("$line")
    done < <(compgen -f -- "\${current//\\\\/}")
  fi
  COMPREPLY=()
  for line in "\${found[@]}"; do
    case "$quote|$line" in
      \\"\\|*) line="\${line//\\\\/\\\\\\\\}"; line="\${line//\\"/\\\\\\"}"; line="\${line//\\$/\\\\\\$}"; line="\${line//\\\`/\\\\\\\`}" ;;
      \\'\\|*\\'*) line='' ;;
      \\'\\|*) ;;
      '|~/'*) printf -v quoted '~/%q' "\${line:2}"; line="$quoted" ;;
      *) printf -v quoted %q "$line"; line="\${quoted//\\\\,/,}" ;;
    esac
    if [ -n "$line" ]; then COMPREPLY+=("$line"); fi
  done
  case "\${#COMPREPLY[@]} \${COMPREPLY[0]}" in '1 '*[/=]) compopt -o nospace 2>/dev/null ;; esac
}
complete -F _gridline gridline
`

const zsh = `#compdef gridline
# gridline completion for zsh
_gridline() {
  local line tab=$'\\t' files=0
  local -a plain folders
  for line in "\${(@f)$(gridline __complete "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) files=1 ;;
      */) folders+=("\${line//:/\\\\:}") ;;
      *$tab*) plain+=("\${\${line%%$tab*}//:/\\\\:}:\${line#*$tab}") ;;
      *) plain+=("\${line//:/\\\\:}") ;;
    esac
  done
  (( $#folders )) && _describe -V folder folders -S ''
  (( $#plain )) && _describe -V value plain
  (( files )) && _files
}
if [ "$funcstack[1]" = "_gridline" ]; then _gridline "$@"; else compdef _gridline gridline; fi
`

// Fish evaluates both conditions, so the answer is kept for a second.
const fish = `# gridline completion for fish
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
`

const powershell = `# gridline completion for PowerShell
Register-ArgumentCompleter -Native -CommandName gridline -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $given = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
    ForEach-Object { if ($_.PSObject.Properties['Value']) { "$($_.Value)" } else { $_.ToString() } })
  # Before 7.3, PowerShell drops empty arguments.
  if ($wordToComplete -eq '') { $given += if ($PSVersionTable.PSVersion -ge [version]'7.3') { '' } else { '""' } }
  # Nothing but :files: PowerShell offers files by itself.
  gridline __complete @given 2>$null | Where-Object { $_ -ne ':files' } | ForEach-Object {
    $word, $summary = $_ -split "\`t", 2
    if (-not $summary) { $summary = $word }
    $text = if ($word -match '^[\\w./:,=-]+$') { $word } else { "'" + $word.Replace("'", "''") + "'" }
    [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $summary)
  }
}
`

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish, powershell }

export const shells = Object.keys(scripts)
