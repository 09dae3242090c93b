// gridline preview: images and charts in the terminal.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { graphicsOf, picture, sparkline } from '../../src/cli/output/terminal-image.ts'
import { gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

describe('pictures in the terminal', () => {
  it('terminals with graphics get the image itself, but not inside tmux', () => {
    expect(graphicsOf({ TERM: 'xterm-kitty' })).toBe('kitty')
    expect(graphicsOf({ TERM_PROGRAM: 'iTerm.app' })).toBe('iterm')
    expect(graphicsOf({ TERM: 'xterm-256color' })).toBeUndefined()
    expect(graphicsOf({ TERM: 'xterm-kitty', TMUX: '/tmp/x' })).toBeUndefined()
    const bytes = Buffer.alloc(5000, 7)
    const pieces = [...picture(bytes, 'kitty').matchAll(/\u001b_G([^;]*);([^\u001b]*)\u001b\\/g)]
    expect(pieces.map(([, keys]) => keys)).toEqual(['a=T,f=100,m=1', 'm=0'])
    expect(Buffer.from(pieces.map(([, , data]) => data).join(''), 'base64')).toEqual(bytes)
    expect(picture(bytes, 'iterm')).toBe(
      `\u001b]1337;File=inline=1;size=5000:${bytes.toString('base64')}\u0007\n`,
    )
  })

  it('a sparkline has a bar for each group of values', () => {
    expect(sparkline([1, 2, 3, 4, 5, 6, 7, 8], 8)).toBe('▁▂▃▄▅▆▇█')
    expect(sparkline([5, 5], 8)).toBe('▁▁')
    expect(sparkline([], 8)).toBe('')
  })
})

describe('gridline preview', () => {
  const folder = temporaryFolder()
  afterAll(folder.remove)
  const run = (...args: string[]) => gridline(args, { home: folder.path, cwd: folder.path })

  it('preview prints a figure with its ranges and a grid with a summary; texts cannot control the terminal', async () => {
    const figure = {
      data: [{ type: 'bar', y: [1, 2.5], name: 'a\u001b[31m' }, { y: [3] }],
      layout: { title: { text: '<b>T</b>\u0007' } },
    }
    writeFileSync(join(folder.path, 'figure.json'), JSON.stringify(figure))
    const { code, stdout } = await run('preview', 'figure.json')
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^T *\ny: 0 to 3\nCharacters cannot show this chart/),
    ])
    expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/)
    writeFileSync(join(folder.path, 'sales.csv'), 'city,price\nOslo,1\nRome,3\nBonn,\n')
    await run('upload', 'sales.csv')
    const grid = await run('preview', 'sales')
    expect(grid.stdout).toContain('sales: 3 rows, 2 columns')
    expect(grid.stdout).toMatch(/price +1 +2 +3 +1 +▁█/)
    await run('mkdir', 'Folder')
    expect((await run('preview', 'Folder')).code).toBe(2)
  })
})
