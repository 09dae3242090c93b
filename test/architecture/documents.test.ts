// Documents agree with the code.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ENVIRONMENT_VARIABLES } from '../../src/cli/help/environment.ts'
import { errorCodes } from '../../src/contract/errors.ts'
import { limits } from '../../src/contract/limits.ts'
import { type Operation, operations } from '../../src/contract/operations/index.ts'
import { type WebRoute, webRoutes } from '../../src/contract/web/index.ts'
import { oldAddresses } from '../../src/contract/web/old-addresses.ts'
import { pageOperations, pageParts } from '../../src/contract/web/page-operations.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  ...readdirSync(join(root, 'docs/man')).map((name) => `docs/man/${name}`),
]

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

describe('documents', () => {
  it('source files named in documents exist', () => {
    const files = [...['src', 'test', 'docs', 'completions', 'bin'].flatMap(filesBelow), 'esbuild.config.js']
    const names = new Set(files.map((file) => basename(file)))
    const missing: string[] = []
    for (const document of ['docs/architecture.md', 'CONTRIBUTING.md'])
      for (const [, path] of read(document).matchAll(/[`*]([\w./-]+\.(?:ts|js))[`*]/g)) {
        // Names in capital letters stand for any file.
        if (/[A-Z]{3}/.test(path) || path === 'gridline.js') continue
        const isThere = path.includes('/')
          ? files.some((file) => file === path || file.endsWith(`/${path}`))
          : names.has(path) || existsSync(join(root, path))
        if (!isThere) missing.push(`${document}: ${path}`)
      }
    expect(missing).toEqual([])
  })

  it('docs/api.md has a row for every limit and every error of the service', () => {
    const api = read('docs/api.md')
    // Codes of the command line, and of a disconnected client, are never sent.
    const local = ['failed', 'usage', 'no_such_file', 'unreachable', 'partly_done', 'interrupted', 'aborted']
    const sent = Object.keys(errorCodes).filter((code) => !local.includes(code))
    expect([...Object.keys(limits), ...sent].filter((name) => !api.includes(`| \`${name}\` |`))).toEqual([])
  })

  it('the tables of docs/api.md match the operations of the contract', () => {
    const rows = [...read('docs/api.md').matchAll(/^\| [A-Z]+(?:, [A-Z]+)* \| `\/[^|]*\| `.*\|$/gm)].map(
      ([row]) => row,
    )
    const contract = (Object.entries(operations) as [string, Operation][]).map(([name, operation]) => {
      const methods = [operation.method, ...(operation.synonym ? [operation.synonym] : [])].join(', ')
      const under =
        operation.alsoUnder?.filter((resource) => !operation.path.startsWith(`/v2/${resource}/`)) ?? []
      const also = under.length > 0 ? `, also under ${under.map((one) => `\`${one}\``).join(', ')}` : ''
      const access = `\`${operation.access}\`${operation.requiresAccount ? ', account' : ''}`
      return `| ${methods} | \`${operation.path}\`${also} | \`${name}\` | ${access} |`
    })
    expect([...new Set(rows)].sort()).toEqual(contract.sort())
  })

  it('the table of old addresses in docs/api.md matches the contract', () => {
    const table = /### Old addresses[\s\S]*?\|---\|---\|\n([\s\S]*?)\n\n/.exec(read('docs/api.md'))![1]
    const rows = oldAddresses.map((address) => {
      const paths = [address.path, ...(address.aliases ?? [])].map(
        (path) => `\`${path.replace(':user', 'alice').replace(':id', '12')}\``,
      )
      return `| ${paths.join(', ')} | ${'gone' in address ? `410: ${address.gone}. ${address.hint}` : address.summary} |`
    })
    expect(table.split('\n')).toEqual(rows)
  })

  it('the table of operations in docs/browser.md matches the contract', () => {
    const rows = Object.entries(pageOperations).map(([name, shown]) =>
      typeof shown === 'string'
        ? `| \`${name}\` | none: ${shown} |`
        : `| \`${name}\` | ${shown.join(', ')} |`,
    )
    const parts = Object.entries(pageParts).map(([part, summary]) => `| ${part} | ${summary} |`)
    const text = read('docs/browser.md')
    expect(text).toContain(parts.join('\n'))
    expect(text).toContain(rows.join('\n'))
  })

  it('the table of pages in docs/api.md matches the contract', () => {
    const section = /^## Pages$([\s\S]*?)^## /m.exec(read('docs/api.md'))![1]
    const table = section.slice(
      section.indexOf('| method'),
      section.indexOf('\n\n', section.indexOf('| method')),
    )
    const rows = Object.values(webRoutes as Record<string, WebRoute>)
      .filter(({ isInternal }) => !isInternal)
      .map(({ method, path, aliases = [], summary, access }) => {
        const own = path
          .replace(':user', 'alice')
          .replace(':id', '12')
          .replace(/(~alice(?:\/12)?)$/, '$1/')
        const others = aliases.map((one) => `, \`${one.slice(one.lastIndexOf('.'))}\``).join('')
        return `| ${method} | \`${own}\`${others} | ${access} | ${summary} |`
      })
    expect(table.split('\n').slice(2)).toEqual(rows)
  })

  it('environment variables named in documents exist in the code', () => {
    const known = new Set([
      ...Object.keys(ENVIRONMENT_VARIABLES),
      ...Object.keys(limits).map((name) => `GRIDLINE_LIMIT_${name.toUpperCase()}`),
    ])
    const sources =
      filesBelow('src').map(read).join('\n') + filesBelow('test').map(read).join('\n') + read('action.yml')
    const unknown = documents.flatMap((document) =>
      [...read(document).matchAll(/\bGRIDLINE_[A-Z][A-Z_]*[A-Z]\b/g)]
        .map(([name]) => name)
        .filter((name) => !known.has(name) && !sources.includes(name))
        .map((name) => `${document}: ${name}`),
    )
    expect([...new Set(unknown)]).toEqual([])
  })
})
