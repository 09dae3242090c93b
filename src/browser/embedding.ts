/// <reference lib="dom" />
// The part of the share dialog that gives the HTML to embed a chart with.

import { parseFid } from '../contract/fid.ts'
import { escapeHtml } from '../contract/html.ts'
import type { ResultOf } from '../contract/operations/index.ts'
import { formatEmbedBlock } from '../contract/web/embed-block.ts'
import { create, createCopyButton, createField, createSelect } from './dom.ts'

/** Returns the fields and the HTML that other pages embed a chart with. */
export function createEmbedding(
  { fid, name: title }: { fid: string; name: string },
  meta: ResultOf<'files.get'>,
): HTMLElement[] {
  const { world_readable, share_key, embed_url, web_url } = meta
  const key = !world_readable && share_key ? `share_key=${share_key}` : ''
  const form = createSelect(['script', 'frame', 'picture'], { class: 'short' })
  const width = create('input', { value: '100%', class: 'short' })
  const height = create('input', { value: '500', type: 'number', min: 100, max: 4000, class: 'short' })
  const theme = createSelect(['light', 'dark', 'auto'], { class: 'short' })
  const code = create('textarea', { rows: 4, readOnly: true, 'aria-label': 'HTML to embed' })
  const update = (): void => {
    const size = {
      width: /^\d{1,4}(?:px|%)?$/.test(width.value) ? width.value : '100%',
      height: Number(height.value) || 500,
    }
    const origin = location.origin
    const page = origin + new URL(web_url).pathname
    const query = (...parts: string[]): string => {
      const text = parts.filter((part) => part !== '').join('&')
      return text && `?${text}`
    }
    const scheme = theme.value === 'light' ? '' : `theme=${theme.value}`
    const name = escapeHtml(title)
    const picture = `${page.slice(0, -1)}.png${query(key, theme.value === 'dark' ? 'theme=dark' : '', `height=${size.height}`)}`
    const texts: Record<string, string> = {
      frame: `<iframe src="${escapeHtml(origin + new URL(embed_url).pathname + query(key, scheme))}" title="${name}" width="${size.width}" height="${size.height}" style="border: 0" loading="lazy"></iframe>`,
      picture: `<a href="${escapeHtml(page + query(key))}"><img src="${escapeHtml(picture)}" alt="${name}" width="${size.width}"></a>`,
      script: formatEmbedBlock(origin, parseFid(fid)!, title, key === '' ? undefined : share_key!),
    }
    code.value = texts[form.value]
    // A block has the width of its column.
    for (const field of [width, height, theme]) field.closest('label')!.hidden = form.value === 'script'
  }
  for (const field of [form, width, height, theme]) field.addEventListener('input', update)
  const parts = [
    create('h3', {}, 'Embed'),
    ...(world_readable || key
      ? []
      : [
          create(
            'p',
            { class: 'note' },
            'The chart is private: others see it only if it is public or has a secret link.',
          ),
        ]),
    create(
      'div',
      { class: 'fields' },
      createField('As', form),
      createField('Width', width),
      createField('Height', height),
      createField('Colors', theme),
      create('div', { class: 'whole' }, code),
    ),
    createCopyButton(code),
  ]
  update()
  return parts
}
