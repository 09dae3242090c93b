// `gridline file extras`: attaches texts and JSON to files.
import { isUtf8 } from 'node:buffer'
import { basename } from 'node:path'
import { type Client, resolveFid } from '../../client/index.ts'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { type CommandEntry, defineCommand, subcommand } from '../core/define.ts'
import { arrayOf, objectOf, otherOutput } from '../core/output-schema.ts'
import { readWhole } from '../files/input.ts'
import { fileView } from '../output/view.ts'

const list = defineCommand({
  output: arrayOf('File'),
  lists: {},
  arguments: '<file>',
  examples: ['gridline file extras list plot', 'gridline file extras list alice:7 --quiet'],
  async run(context, [file]) {
    const client = await context.client()
    const { references } = await client.call('files.get', { fid: await resolveFid(client, file) })
    const files = await Promise.all(references.map((fid) => client.call('files.get', { fid })))
    return {
      items: files.filter(({ filetype }) => filetype === 'extra'),
      view: fileView,
      empty: 'No extras.',
    }
  },
})

const add = defineCommand({
  output: objectOf('File'),
  writes: true,
  arguments: '<file> <content>',
  completion: ['file', 'local'],
  options: [{ flags: '--name <name>', description: 'name of the extra (default: name of the content file)' }],
  examples: ['gridline file extras add plot notes.txt', 'gridline file extras add plot settings.json'],
  async run(context, [file, content], { name }) {
    const client = await context.client()
    const fid = await resolveFid(client, file)
    const text = await readText(content)
    const json = {
      filename: name ?? basename(content),
      content: /\.json$/i.test(content) ? parseJson(content, text) : text,
      referencers: [fid],
    }
    return { item: (await client.call('extras.create', { json })).file, view: fileView }
  },
})

const cat = defineCommand({
  output: otherOutput('the content of the extra'),
  arguments: '<extra>',
  examples: ['gridline file extras cat alice:14', 'gridline file extras cat alice:14 > notes.txt'],
  async run(context, [extra]) {
    const client: Client = await context.client()
    const response = await client.response('files.content', { fid: await resolveFid(client, extra) })
    return { bytes: response.bytes() }
  },
})

/** Reads a text file. Throws `bad_data` if it is binary. */
async function readText(file: string): Promise<string> {
  const bytes = await readWhole(file)
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8')
  throw new Problem('bad_data', `${file} is not text; extras can only hold text or JSON`)
}

/** Parses JSON. Throws `bad_data`. */
function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Problem('bad_data', `${file} is not JSON: ${errorMessageOf(error)}`)
  }
}

export const commands: readonly CommandEntry[] = [
  subcommand('list', 'List the extras of a file', list),
  subcommand('add', 'Add a text or JSON file as an extra', add),
  subcommand('cat', 'Print the content of an extra', cat),
]
