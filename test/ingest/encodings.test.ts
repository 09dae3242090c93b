// Detection of encodings, with its warnings.
import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import { resolveEncoding } from '../../src/ingest/index.ts'
import { read } from './read.ts'

/** Encodes a text by inverting the decoder for each byte or pair of bytes. */
function encode(text: string, encoding: string): Buffer {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const bytes = new Map<string, number[]>()
  const add = (...code: number[]): void => {
    try {
      // As a stream: otherwise Node 20 decodes Windows-1252 as ISO-8859-1.
      const c = decoder.decode(Uint8Array.from(code), { stream: true })
      if ([...c].length === 1 && !bytes.has(c)) bytes.set(c, code)
    } catch {
      // Not a character.
    }
  }
  for (let a = 0x80; a <= 0xff; a++) add(a)
  for (let a = 0x81; a <= 0xfe; a++) for (let b = 0x40; b <= 0xfe; b++) add(a, b)
  return Buffer.from([...text].flatMap((c) => (c < '\x80' ? [c.charCodeAt(0)] : bytes.get(c)!)))
}

const texts: [string, string][] = [
  ['windows-1252', 'name,city\nJosé,Zürich\nFrançois,Malmö\n'],
  ['shift_jis', '名前,住所\n山田太郎,東京都千代田区\n鈴木花子,大阪府大阪市\n'],
  ['big5', '姓名,地址\n王小明,台北市信義區\n陳美麗,高雄市\n'],
  ['gb18030', '姓名,地址\n王小明,北京市朝阳区\n陈美丽,上海市浦东新区\n'],
  ['euc-kr', '이름,주소\n김철수,서울특별시 강남구\n이영희,부산광역시\n'],
  ['koi8-r', 'имя,город\nИван,Москва\nМария,Санкт-Петербург\n'],
  ['windows-1251', 'имя,город\nИван,Москва\nМария,Санкт-Петербург\n'],
  ['iso-8859-2', 'jméno,město\nJiří,Plzeň\nŁukasz,Łódź\nBožena,Žďár\n'],
  ['windows-1253', 'όνομα,πόλη\nΓιώργος,Αθήνα\nΜαρία,Θεσσαλονίκη\n'],
  ['macintosh', 'name,city\nJosé,Zürich\nFrançois,Malmö\nRenée,Düsseldorf\n'],
]

describe('encodings', () => {
  it.each(texts)('%s is detected', async (encoding, text) => {
    const { names, rows, warnings } = await read(encode(text, encoding))
    expect([names, ...rows]).toEqual(
      text
        .trim()
        .split('\n')
        .map((line) => line.split(',')),
    )
    expect(warnings.join()).toMatch(
      /^read as [\w-]+ \(guessed: line \d is not UTF-8.*\); to set it: --encoding/,
    )
  })

  it('a few special characters are read as Windows-1252, wherever they are', async () => {
    for (const at of [0, 70_000]) {
      const text = `name,n\n${'plain,1\n'.repeat(at / 8)}café,2\n`
      const { rows } = await read(encode(text, 'windows-1252'))
      expect(rows.at(-1)).toEqual(['café', 2])
    }
  })

  it.each([
    'k,v\n0,“Hello world” said Ann\n1,plain\n',
    'k,v\n0,Read more…\n1,plain\n',
    'k,v\n0,ACME™\n1,plain\n',
    'id,price GBP£\n1,5\n2,6\n',
    'k,v\n0,Ann’s – “café”\n1,5 € • 20 °C\n',
  ])('punctuation of Windows-1252 is not read as letters of DOS: %j', async (text) => {
    const { rows, names } = await read(encode(text, 'windows-1252'))
    expect([names, ...rows].map((row) => row.join()).join('\n')).toBe(text.trim())
  })

  it('DOS code page 850 is detected, and every DOS code page can be named', async () => {
    const text = 'nom,ville\nNestl\u00e9,Vevey\nM\u00fcller,Z\u00fcrich\nFran\u00e7ois,Malm\u00f6\n'
    const lines = text
      .trim()
      .split('\n')
      .map((line) => line.split(','))
    for (const page of ['cp850', 'cp437']) {
      const bytes = iconv.encode(text, page)
      for (const options of [{}, { encoding: page }, { encoding: page.replace('cp', 'IBM') }]) {
        const { names, rows } = await read(bytes, options, 7)
        expect([names, ...rows]).toEqual(lines)
      }
    }
    expect((await read(iconv.encode('a,b\n\u0160koda,1\n', 'cp852'), { encoding: 'cp852' })).rows).toEqual([
      ['\u0160koda', 1],
    ])
  })

  it('encoding names used by programs are accepted', () => {
    for (const [name, encoding] of [
      ['cp949', 'euc-kr'],
      ['cp932', 'shift_jis'],
      ['MacRoman', 'macintosh'],
      ['latin1', 'windows-1252'],
      ['ISO8859-15', 'iso-8859-15'],
      ['KOI8-R', 'koi8-r'],
    ])
      expect(resolveEncoding(name)).toBe(encoding)
    expect(() => resolveEncoding('klingon')).toThrow(/unknown encoding/)
  })

  it('a final Ctrl-Z is removed, with a warning', async () => {
    for (const pieces of [1, 100]) {
      const { rows, warnings } = await read('a,b\n1,x\n2,y\n\x1a\n', {}, pieces)
      expect(rows).toEqual([
        [1, 'x'],
        [2, 'y'],
      ])
      expect(warnings.join()).toContain('Ctrl-Z')
    }
  })

  it('NUL bytes are removed, and read as escapes before quotes', async () => {
    const filler = 'plain text,here\n'.repeat(20)
    for (const pieces of [1, 1000]) {
      const { rows, warnings } = await read(`a,b\n"say \0"yes\0", now",x\n\0y,z\n${filler}`, {}, pieces)
      expect(rows.slice(0, 2)).toEqual([
        ['say "yes", now', 'x'],
        ['y', 'z'],
      ])
      expect(warnings.join()).toMatch(/NUL bytes were removed.*2 lines \(first: line 2\)/)
    }
  })
})
