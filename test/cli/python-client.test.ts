// The Python package in clients/python: real Python against a real server. pandas and plotly are used where they are.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gridline, serve } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const PACKAGE = fileURLToPath(new URL('../../clients/python', import.meta.url))
const folder = temporaryFolder()
afterAll(folder.remove)

/** Pythons of this machine. */
const pythons = ['/usr/bin/python3', 'python3'].filter(
  (path) => spawnSync(path, ['-c', 'import sys; assert sys.version_info >= (3, 9)']).status === 0,
)
const has = (name: string): string | undefined =>
  pythons.find((path) => spawnSync(path, ['-c', `import ${name}`]).status === 0)

describe.skipIf(pythons.length === 0)('the Python package', () => {
  const home = join(folder.path, 'home')
  let server: Awaited<ReturnType<typeof serve>>
  let environment: Record<string, string>
  beforeAll(async () => {
    mkdirSync(home)
    server = await serve([], { home })
    const { stdout } = await gridline(['admin', 'create-user', 'alice', '--json'], { home })
    environment = {
      GRIDLINE_URL: server.url,
      GRIDLINE_USER: 'alice',
      GRIDLINE_API_KEY: JSON.parse(stdout).api_key,
    }
  })
  afterAll(() => server.stop())

  /** Runs a program. Returns the JSON that it prints; throws its error. */
  const run = (program: string, variables: Record<string, string> = environment, python = pythons[0]) =>
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
    new Promise<any>((resolve, reject) => {
      const head = 'import json, sys\nimport gridline\nimport gridline.plotly as py\n'
      const child = spawn(python, ['-c', head + program], {
        cwd: folder.path,
        env: {
          PATH: process.env.PATH,
          HOME: folder.path,
          PYTHONPATH: PACKAGE,
          PYTHONDONTWRITEBYTECODE: '1',
          ...variables,
        },
      })
      let [out, errors] = ['', '']
      child.stdout.on('data', (chunk) => {
        out += chunk
      })
      child.stderr.on('data', (chunk) => {
        errors += chunk
      })
      child.on('close', (code) => (code === 0 ? resolve(JSON.parse(out)) : reject(new Error(errors))))
    })
  const cat = async (name: string): Promise<string> => {
    const { stdout } = await gridline(['cat', name], { home, env: environment })
    return stdout
  }

  it('rows and files become grids, by key, and are read again', async () => {
    writeFileSync(join(folder.path, 'städte.csv'), 'city,n\nOslo,1\nSão Paulo,2\n')
    const { fid, rows, counts } = await run(`
meta = gridline.upload([{"id": 1, "name": "a"}, {"id": 2, "name": "é, \\"b\\""}], "Daten/Ümläute", key="id")
counts = gridline.append([{"id": 2, "name": "c"}, {"id": 3, "name": None}], "Daten/Ümläute")
gridline.upload("städte.csv", "städte", public=True)
gridline.upload("städte.csv", "städte")
rows = [list(row.values()) for row in (gridline.read("Daten/Ümläute").to_dict("records") if hasattr(gridline.read("Daten/Ümläute"), "to_dict") else gridline.read("Daten/Ümläute"))]
print(json.dumps({"fid": meta["fid"], "rows": rows, "counts": counts}))`)
    expect(fid).toMatch(/^alice:\d+$/)
    expect(rows).toEqual([
      [1, 'a'],
      [2, 'c'],
      [3, null],
    ])
    expect(counts).toMatchObject({ rows_added: 1 })
    expect(await cat('städte')).toBe('city,n\nOslo,1\nSão Paulo,2\n')
    const some = await run(
      'print(json.dumps(list(gridline.read("städte", columns=["n"], where="n > 1", limit=5)["n"] if not isinstance(gridline.read("städte"), list) else [row["n"] for row in gridline.read("städte", columns=["n"], where="n > 1", limit=5)])))',
    )
    expect(some).toEqual([2])
  })

  it('charts are saved, replaced and shown in a frame that follows their data', async () => {
    const figure =
      '{"data": [{"type": "bar", "x": ["a", "b"], "y": [1, 2]}], "layout": {"title": {"text": "T"}}}'
    const { first, second, shown } = await run(`
first = py.plot(${figure}, filename="Charts/sales")
second = py.plot([{"y": (1, 2, 3)}], filename="Charts/sales", sharing="public")
chart = py.iplot(${figure}, filename="live")
print(json.dumps({"first": first, "second": second, "shown": chart._repr_html_()}))`)
    expect(second).toBe(first)
    expect((await fetch(first)).status).toBe(200)
    const [, src] = /src="([^"]+)"/.exec(shown)!
    const frame = await fetch(src.replaceAll('&amp;', '&'))
    expect([frame.status, (await frame.text()).includes('id="figure"')]).toEqual([200, true])
    // Private again: nobody else can read it.
    await run(`print(json.dumps(py.plot(${figure}, filename="Charts/sales")))`)
    expect((await fetch(first, { headers: { accept: 'text/html' } })).status).toBe(404)
  })

  itLong('the settings are those of the command line; a key is sent only to its server', async () => {
    const config = join(folder.path, 'profile')
    const { code } = await gridline(['login', server.url, '--user', 'alice'], {
      home: config,
      stdin: `${environment.GRIDLINE_API_KEY}\n`,
    })
    expect(code).toBe(0)
    const user = 'print(json.dumps(gridline.default_client().call("GET", "/v2/users/current")["username"]))'
    expect(await run(user, { GRIDLINE_HOME: config })).toBe('alice')
    const elsewhere = { GRIDLINE_HOME: config, GRIDLINE_URL: 'http://127.0.0.1:9' }
    await expect(run(user, elsewhere)).rejects.toThrow(/the settings have no user, api_key/)
    await expect(run(user, { GRIDLINE_HOME: folder.path })).rejects.toThrow(/Log in with: gridline login URL/)
    await expect(run(user, { ...environment, GRIDLINE_API_KEY: 'wrong' })).rejects.toThrow(/GridlineError/)
    const missing =
      'try:\n  gridline.read("nothing")\nexcept gridline.GridlineError as error:\n  print(json.dumps([error.status, error.code]))'
    expect(await run(missing)).toEqual([404, 'not_found'])
  })

  it.skipIf(!has('plotly'))('figures of plotly are saved', async () => {
    const url = await run(
      `import plotly.graph_objects as go
print(json.dumps(py.plot(go.Figure(go.Scatter(x=[1, 2], y=[3, 4])), filename="from plotly")))`,
      environment,
      has('plotly'),
    )
    expect(url).toContain(`${server.url}/~alice/`)
    const { stdout } = await gridline(['plot', 'data', 'from plotly', '--inline'], { home, env: environment })
    expect(JSON.parse(stdout).data[0]).toMatchObject({ type: 'scatter', x: [1, 2], y: [3, 4] })
  })

  it.skipIf(!has('pandas'))('data frames are uploaded and read', async () => {
    const types = await run(
      `import pandas
frame = pandas.DataFrame({"day": pandas.to_datetime(["2024-01-02", "2024-01-03"]), "n": [1.5, None], "name": ["a", "b, c"]})
gridline.upload(frame, "frame")
back = gridline.read("frame")
print(json.dumps([str(back["day"].dtype)[:10], back["n"].tolist()[0], back["name"].tolist()]))`,
      environment,
      has('pandas'),
    )
    expect(types).toEqual(['datetime64', 1.5, ['a', 'b, c']])
  })

  it.skipIf(!has('pandas'))('data frames keep their rows, names, index and texts', async () => {
    await run(
      `import pandas
from decimal import Decimal
gridline.upload(pandas.DataFrame([[10, 20], [30, 40]]), "numbered")
gridline.upload(pandas.DataFrame({"a": [None, None, "y"], "b": [float("nan"), None, 3]}), "missing")
gridline.upload(pandas.DataFrame({"t": ["'a'", "true", "1/2/2024", "1", "", "\\\\N"]}), "texts")
sums = pandas.DataFrame({"city": ["O", "R"], "year": [1, 2], "v": [1, 2]}).groupby(["city", "year"]).agg({"v": ["sum", "max"]})
gridline.upload(sums, "sums")
gridline.upload(pandas.DataFrame({"v": [1, 2]}, index=["r1", "r2"]), "labelled")
gridline.upload(pandas.DataFrame({"d": [Decimal("1.10")], "t": [pandas.Timestamp("2024-01-01 10:30")]}), "kinds")
gridline.upload(pandas.DataFrame({"a": [], "b": []}), "none")
gridline.append(pandas.DataFrame({"t": [7, None, "'q'"]}, index=["x", "y", "z"]), "texts")
gridline.upload(pandas.DataFrame({"zip": [123, 45], "d": ["01/02/2024", "13/02/2024"]}), "typed", types={"zip": "text", "d": "date-dmy"})
gridline.append(pandas.DataFrame({"zip": [None, "6"], "d": [None, "2024-03-01"]}), "typed")
gridline.upload(pandas.DataFrame({"zip": [1, 2, 3], "s": ["4712", "", "\\\\N"], "n": ["1", "2.50", None]}), "given", types={"zip": "text", "n": "number"})
gridline.append(pandas.DataFrame({"zip": [4, 5], "s": ["", "\\\\N"], "n": ["7", ""]}), "given")
gridline.append(pandas.DataFrame({"v": [3]}, index=["r3"]), "labelled")
gridline.upload([{"d": pandas.NaT, "n": 1}, {"d": pandas.Timestamp("2024-01-01"), "n": pandas.NA}], "rows")
print(1)`,
      environment,
      has('pandas'),
    )
    const names = [
      'numbered',
      'missing',
      'texts',
      'sums',
      'labelled',
      'kinds',
      'none',
      'typed',
      'given',
      'rows',
    ]
    const found = await Promise.all(names.map(cat))
    expect(found).toEqual([
      '0,1\n10,20\n30,40\n',
      'a,b\n,\n,\ny,3.0\n',
      `t\n"'a'"\ntrue\n1/2/2024\n1\n""\n\\N\n7\n\n"'q'"\n`,
      'city,year,v sum,v max\nO,1,1,1\nR,2,2,2\n',
      'index,v\nr1,1\nr2,2\nr3,3\n',
      'd,t\n1.10,2024-01-01 10:30:00\n',
      'a,b\n',
      'zip,d\n123,2024-02-01\n45,2024-02-13\n,\n6,2024-03-01\n',
      'zip,s,n\n1,4712,1\n2,"",2.50\n3,\\N,\n4,"",7\n5,\\N,\n',
      'd,n\n,1\n2024-01-01T00:00:00,\n',
    ])
  })

  it('columns of different length, NaN and warnings', async () => {
    const { rows, warned, refused } = await run(`
import warnings
py.plot([{"x": [1, 2, 3], "y": [float("nan")]}], filename="ragged")
back = gridline.read("ragged_grid")
rows = len(back)
with open("short.csv", "w") as file:
    file.write("a,b\\n1,2\\n3\\n")
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    gridline.upload("short.csv", "short")
refused = None
open("short.json", "w").close()
try:
    gridline.append("short.json", "short")
except gridline.GridlineError as error:
    refused = str(error)
print(json.dumps({"rows": rows, "warned": [str(one.message) for one in found], "refused": refused}))`)
    expect(rows).toBe(3)
    expect(warned.join()).toMatch(/short: .*fewer than 2 cells/)
    expect(refused).toMatch(/cannot append short\.json.*on_conflict="append"/)
  })
})
