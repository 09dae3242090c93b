// Regular expressions take time in proportion to the text, however hostile it is.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tokenizer } from 'acorn'
import { transform } from 'esbuild'
import { analyse } from 'scslre'
import { describe, expect, it } from 'vitest'

const src = fileURLToPath(new URL('../../src', import.meta.url))
/** Folders whose code reads what others send: files, figures, conditions and requests. */
const FOLDERS = [
  'browser/theme',
  'charts',
  'checks',
  'contract',
  'draw',
  'ingest',
  'json',
  'query',
  'service',
]

/** Patterns that are slow for long texts, by file, and what limits the length of theirs. */
const SLOW_PATTERNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'browser/theme/label-order.ts': {
    '^([<>≤≥]?)\\s*(-?\\d[\\d,]*(?:\\.\\d+)?)(?:\\s*(?:-|–|to)\\s*(\\d[\\d,]*(?:\\.\\d+)?))?\\s*(\\+?)\\s*(\\D*)$':
      'MAX_RANKED_CHARACTERS',
    '\\d+$': 'names of axes',
  },
  'charts/evaluate/axis-types.ts': {
    '^[\'"%,$#\\s]+|[, ]|[\'"%,$#\\s]+$': 'MAX_NUMBER_CHARACTERS',
    '\\.?0+$': 'a date of toISOString',
  },
  'charts/spec/column-names.ts': {
    '\\s*"((?:[^"]|"")*)"\\s*(?:,|$)|([^,]*)(?:,|$)': 'options of a command',
  },
  'ingest/columnar/json-values.ts': {
    '\\.?0+$': 'digits of a decimal',
    '0+$': 'nine digits',
  },
  'ingest/delimited/row-notes.ts': {
    '^\\W*(sources?|notes?|remarks?|footnotes?|data|quellen?|anmerkung(en)?|hinweis|stand|fuentes?|notas?|fontes?|remarques?|end of|updated|last updated|generated|exported|copyright)\\b.*[\\s:]|^\\s*([*†‡§©¹²³]|\\(\\d+\\)|\\[\\d+\\]|\\d+[.)] )|: |\\.$|\\S+( \\S+){3}':
      'MAX_NOTE_BYTES',
  },
  'ingest/detect/header.ts': {
    "^\\(?[+-]?\\s?(\\d+([.,'\\u00a0\\u202f ]\\d+)*[.,]?\\d*|[.,]\\d+)([eE][+-]?\\d+)?\\s?%?\\)?$":
      'MAX_VALUE_CHARACTERS',
  },
  'ingest/detect/sample-rows.ts': {
    "^\\s*[^\\d\\s]?\\s?[+-]?\\d+([.,' ]\\d+)*\\s*\\S?\\s*$": 'cells of less than 200 characters',
  },
  'ingest/detect/value-shape.ts': {
    '^\\(.*\\d.*\\)$': 'MAX_VALUE_CHARACTERS',
    "^[\\s+-]*[\\d.,'’ \\u00a0\\u202f]+[\\s%]*$": 'MAX_VALUE_CHARACTERS',
  },
  'ingest/values/date.ts': {
    '^(.*?)(?:[ T,]+(\\d{1,2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?)\\s*([ap]m)?\\s*(Z|UTC|GMT|[+-]\\d{2}:?\\d{2})?)?$':
      'MAX_DATE_CHARACTERS',
  },
  'ingest/values/number.ts': {
    '\\s*%$': 'MAX_NUMBER_CHARACTERS',
    '^([+-]?)0*(\\d*)(?:\\.(\\d*))?([eE][+-]?\\d+)?$': 'MAX_NUMBER_CHARACTERS',
  },
  'service/accounts/link-identity.ts': { '^[._-]+|[._-]+$': '48 characters' },
  'service/accounts/token-exchange.ts': { '\\/+$': 'a setting of the server' },
  'service/grids/column/identify.ts': { '0+$': 'MAX_CHARACTERS' },
  'service/index.ts': { '\\/+$': 'a setting of the server' },
  'service/store/objects/s3-objects.ts': {
    '^\\/+|\\/+$': 'a setting of the server',
    '\\/+$': 'a setting of the server',
  },
}

/** Returns the regular expressions of a file. */
async function readPatterns(path: string): Promise<RegExp[]> {
  const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'ts', charset: 'utf8' })
  const found: RegExp[] = []
  for (const { type, start, end } of tokenizer(code, { ecmaVersion: 'latest', sourceType: 'module' })) {
    if (type.label !== 'regexp') continue
    const [, source, flags] = /^\/(.*)\/(\w*)$/s.exec(code.slice(start, end))!
    found.push(new RegExp(source, flags))
  }
  return found
}

describe('regular expressions', () => {
  it('are linear, or their texts are short', async () => {
    const slow: Record<string, string[]> = {}
    for (const folder of FOLDERS)
      for (const name of readdirSync(join(src, folder), { recursive: true, encoding: 'utf8' }).sort()) {
        if (!name.endsWith('.ts') || name.endsWith('.as.ts')) continue
        for (const pattern of await readPatterns(join(src, folder, name))) {
          if (analyse(pattern, { assumeRejectingSuffix: false }).reports.length === 0) continue
          const list = (slow[`${folder}/${name}`] ??= [])
          if (!list.includes(pattern.source)) list.push(pattern.source)
        }
      }
    const known = Object.entries(SLOW_PATTERNS).map(([file, patterns]) => [file, Object.keys(patterns)])
    expect(slow).toEqual(Object.fromEntries(known))
  })
})
