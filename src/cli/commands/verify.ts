// `gridline verify`: checks that self-contained pages are as they were written.
import { Problem } from '../../contract/errors.ts'
import { verifyPage } from '../../contract/standalone.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runEach } from '../files/batch.ts'
import { readWhole } from '../files/input.ts'

export const command = defineCommand({
  output: arrayOf([], { file: 'path of the page', state: 'unchanged; changed pages are errors' }),
  arguments: '<file...>',
  completion: ['local'],
  examples: ['gridline verify chart.html', 'gridline verify archive/*.html'],
  async run(_, files) {
    const { items, failures } = await runEach(files, async (file) => {
      const isUnchanged = verifyPage(await readWhole(file))
      if (isUnchanged === undefined)
        throw new Problem('bad_data', `${file}: not a self-contained page: it has no checksum`, {
          hint: 'To check an export: gridline export verify DIRECTORY',
        })
      if (!isUnchanged)
        throw new Problem('bad_data', `${file}: changed since it was written: its checksum does not match`)
      return { file, state: 'unchanged' }
    })
    if (items.length === 0 && failures.length === 1) throw failures[0].problem
    const columns = [
      { field: 'file', title: 'FILE' },
      { field: 'state', title: 'STATE' },
    ]
    return { items, view: { id: 'file', columns }, failures }
  },
})
