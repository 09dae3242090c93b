import { Problem } from '../../contract/errors.ts'
import type { CommandEntry } from '../define.ts'
import { commandTree, type Node } from './tree.ts'

/** All commands with their full paths. */
function flatten(nodes: readonly Node[], path: string[] = []): { path: string[]; node: Node }[] {
  return nodes.flatMap((node) => {
    const here = [...path, node.name]
    return [{ path: here, node }, ...flatten(node.children, here)]
  })
}

const writers: Record<string, (tree: Node[]) => string> = { bash, zsh, fish, powershell }

export const shells = Object.keys(writers)

/** Generates the completion script of a shell from the command table. */
export async function completionScript(shell: string, commands: readonly CommandEntry[]): Promise<string> {
  const write = Object.hasOwn(writers, shell) ? writers[shell] : undefined
  if (!write)
    throw new Problem('usage', `unsupported shell: ${shell}`, {
      hint: `Supported shells: ${shells.join(', ')}`,
    })
  return write(await commandTree(commands))
}

/** Whether values of a command come from the server or from the settings: then the program is asked. */
function isAsked({ completes, options }: Node): boolean {
  return (
    completes.some((kind) => kind !== undefined) || options.some((option) => option.completes !== undefined)
  )
}

function bash(tree: Node[]): string {
  const all = flatten(tree)
  const cases = all.map(({ path, node }) => {
    const words = node.children.map(({ name }) => name).join(' ')
    const flags = node.options.flatMap(({ names }) => names).join(' ')
    return `    '${path.join(' ')}') words='${words}'; flags='${flags}'; files=${node.files ? 1 : 0}; asked=${isAsked(node) ? 1 : 0} ;;`
  })
  const choices = all.flatMap(({ path, node }) =>
    node.options
      .filter((option) => option.choices.length > 0)
      .flatMap((option) =>
        option.names.map(
          (name) =>
            `    '${path.join(' ')} ${name}') words='${option.choices.join(' ')}'; files=0; asked=0 ;;`,
        ),
      ),
  )
  return `# gridline completion for bash
_gridline() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local path='' word words='' flags='' files=0 asked=0 line raw prefix
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) continue ;; esac
    case "\${path:+$path }$word" in
${all.map(({ path }) => `      '${path.join(' ')}') path='${path.join(' ')}' ;;`).join('\n')}
    esac
  done
  case "$path" in
    '') words='${tree.map(({ name }) => name).join(' ')} help'; flags='--help --version' ;;
${cases.join('\n')}
  esac
  case "$path $previous" in
${choices.join('\n')}
  esac
  COMPREPLY=()
  # Options only after a dash, so that Tab never inserts one.
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$current")); return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "$files" = 1 ]; then
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
  fi
  if [ "$asked" = 1 ]; then
    # Readline splits words at colons, which ids have.
    raw="\${COMP_LINE:0:COMP_POINT}"; raw="\${raw##* }"
    prefix="\${raw%"\${raw##*:}"}"
    while IFS= read -r line; do
      COMPREPLY+=("\${line#"$prefix"}")
      case "$line" in */) compopt -o nospace 2>/dev/null ;; esac
    done < <(gridline __complete "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$raw" 2>/dev/null)
  fi
}
complete -o filenames -F _gridline gridline
`
}

function zsh(tree: Node[]): string {
  const quote = (text: string): string => text.replace(/'/g, "'\\''").replace(/([[\]:])/g, '\\$1')
  const body = (node: Node, depth: number): string => {
    const pad = '  '.repeat(depth)
    if (node.children.length > 0) {
      return `${pad}_arguments -C '1: :->command' '*:: :->rest'
${pad}case $state in
${pad}  command) local -a names=(${node.children.map(({ name, summary }) => `'${name}:${quote(summary)}'`).join(' ')}); _describe command names ;;
${pad}  rest) case $words[1] in
${node.children.map((child) => `${pad}    ${child.name})\n${body(child, depth + 3)}\n${pad}      ;;`).join('\n')}
${pad}  esac ;;
${pad}esac`
    }
    const options = node.options.map(({ names, description, choices, takesValue, completes }) => {
      const value = !takesValue
        ? ''
        : choices.length > 0
          ? `:value:(${choices.join(' ')})`
          : completes
            ? ':value:_gridline_ask'
            : ':value:'
      const spec = `[${quote(description)}]${value}'`
      return names.length > 1 ? `'(${names.join(' ')})'{${names.join(',')}}'${spec}` : `'${names[0]}${spec}`
    })
    const rest = [node.files ? "'*:file:_files'" : '', isAsked(node) ? "'*:value:_gridline_ask'" : '']
    const values = node.files && isAsked(node) ? ["'*:value:{ _gridline_ask; _files }'"] : rest
    return `${pad}_arguments ${[...options, ...values].filter(Boolean).join(` \\\n${pad}  `)}`
  }
  const root: Node = {
    name: 'gridline',
    summary: '',
    options: [],
    children: tree,
    files: false,
    completes: [],
  }
  return `#compdef gridline
# gridline completion for zsh
_gridline_ask() {
  local -a found=("\${(@f)$(gridline __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -Q -S '' -- \${(q)found}
}
_gridline() {
  local state
${body(root, 1)}
}
if [ "$funcstack[1]" = "_gridline" ]; then _gridline "$@"; else compdef _gridline gridline; fi
`
}

function fish(tree: Node[]): string {
  const quote = (text: string): string => text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")
  const lines = [
    '# gridline completion for fish',
    'function __gridline_ask',
    '  set -l words (commandline -opc) (commandline -ct)',
    '  gridline __complete $words[2..-1] 2>/dev/null',
    'end',
    'complete -c gridline -f',
  ]
  for (const { name, summary } of tree) {
    lines.push(`complete -c gridline -n __fish_use_subcommand -a ${name} -d '${quote(summary)}'`)
  }
  for (const { path, node } of flatten(tree)) {
    const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and ')
    for (const { name, summary } of node.children)
      lines.push(`complete -c gridline -n '${seen}' -a ${name} -d '${quote(summary)}'`)
    if (node.files) lines.push(`complete -c gridline -n '${seen}' -F`)
    if (isAsked(node)) lines.push(`complete -c gridline -n '${seen}' -a '(__gridline_ask)'`)
    for (const { names, description, choices, takesValue } of node.options) {
      const flags = names
        .map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
        .join(' ')
      const value = !takesValue ? '' : choices.length > 0 ? ` -x -a '${choices.join(' ')}'` : ' -r'
      lines.push(`complete -c gridline -n '${seen}' ${flags}${value} -d '${quote(description)}'`)
    }
  }
  return `${lines.join('\n')}\n`
}

function powershell(tree: Node[]): string {
  const quote = (text: string): string => text.replace(/'/g, "''")
  const entries = flatten(tree).map(({ path, node }) => {
    const words = [
      ...node.children.map(({ name, summary }) => [name, summary]),
      ...node.options.flatMap(({ names, description }) => names.map((name) => [name, description])),
    ]
    return `    '${path.join(' ')}' = @(${words.map(([word, text]) => `@('${word}', '${quote(text)}')`).join(', ')})`
  })
  const choices = flatten(tree).flatMap(({ path, node }) =>
    node.options
      .filter((option) => option.choices.length > 0)
      .flatMap((option) =>
        option.names.map(
          (name) =>
            `    '${path.join(' ')} ${name}' = @(${option.choices.map((choice) => `@('${choice}', '${choice}')`).join(', ')})`,
        ),
      ),
  )
  return `# gridline completion for PowerShell
Register-ArgumentCompleter -Native -CommandName gridline -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @{
    '' = @(${tree.map(({ name, summary }) => `@('${name}', '${quote(summary)}')`).join(', ')})
${entries.join('\n')}
  }
  $choices = @{
${choices.join('\n')}
  }
  $path = ''
  $previous = ''
  foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
    if ($element.Extent.EndOffset -ge $cursorPosition) { break }
    $word = $element.ToString()
    $next = "$path $word".Trim()
    if ($words.ContainsKey($next)) { $path = $next }
    $previous = $word
  }
  $found = $choices["$path $previous"]
  if (-not $found) { $found = @($words[$path] | Where-Object { $wordToComplete -like '-*' -or $_[0] -notlike '-*' }) }
  if ($path -ne '' -and $wordToComplete -notlike '-*') {
    $given = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($wordToComplete -eq '') { $given += '' }
    $found += @(gridline __complete @given 2>$null | ForEach-Object {
      $value = if ($_ -match '^[\\w./:,-]+$') { $_ } else { "'" + $_.Replace("'", "''") + "'" }
      ,@($value, $_)
    })
  }
  $found | Where-Object { $_[0] -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterValue', $_[1])
  }
}
`
}
