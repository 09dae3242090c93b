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

function bash(tree: Node[]): string {
  const cases = flatten(tree).map(({ path, node }) => {
    const words = [
      ...node.children.map(({ name }) => name),
      ...node.options.flatMap(({ names }) => names),
    ].join(' ')
    return `    '${path.join(' ')}') words='${words}'; files=${node.files ? 1 : 0} ;;`
  })
  const choices = flatten(tree).flatMap(({ path, node }) =>
    node.options
      .filter((option) => option.choices.length > 0)
      .flatMap((option) =>
        option.names.map(
          (name) => `    '${path.join(' ')} ${name}') words='${option.choices.join(' ')}'; files=0 ;;`,
        ),
      ),
  )
  return `# gridline completion for bash
_gridline() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path='' word words='' files=0
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) continue ;; esac
    case "\${path:+$path }$word" in
${flatten(tree)
  .map(({ path }) => `      '${path.join(' ')}') path='${path.join(' ')}' ;;`)
  .join('\n')}
    esac
  done
  case "$path" in
    '') words='${tree.map(({ name }) => name).join(' ')} --help --version' ;;
${cases.join('\n')}
  esac
  case "$path $previous" in
${choices.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "$files" = 1 ]; then COMPREPLY+=($(compgen -f -- "$current")); fi
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
    const options = node.options.map(({ names, description, choices, takesValue }) => {
      const value = !takesValue ? '' : choices.length > 0 ? `:value:(${choices.join(' ')})` : ':value:'
      const spec = `[${quote(description)}]${value}'`
      return names.length > 1 ? `'(${names.join(' ')})'{${names.join(',')}}'${spec}` : `'${names[0]}${spec}`
    })
    return `${pad}_arguments ${[...options, node.files ? "'*:file:_files'" : ''].filter(Boolean).join(` \\\n${pad}  `)}`
  }
  const root: Node = { name: 'gridline', summary: '', options: [], children: tree, files: false }
  return `#compdef gridline
# gridline completion for zsh
_gridline() {
  local state
${body(root, 1)}
}
if [ "$funcstack[1]" = "_gridline" ]; then _gridline "$@"; else compdef _gridline gridline; fi
`
}

function fish(tree: Node[]): string {
  const quote = (text: string): string => text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")
  const lines = ['# gridline completion for fish', 'complete -c gridline -f']
  for (const { name, summary } of tree) {
    lines.push(`complete -c gridline -n __fish_use_subcommand -a ${name} -d '${quote(summary)}'`)
  }
  for (const { path, node } of flatten(tree)) {
    const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and ')
    for (const { name, summary } of node.children)
      lines.push(`complete -c gridline -n '${seen}' -a ${name} -d '${quote(summary)}'`)
    if (node.files) lines.push(`complete -c gridline -n '${seen}' -F`)
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
  if (-not $found) { $found = $words[$path] }
  $found | Where-Object { $_[0] -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterValue', $_[1])
  }
}
`
}
