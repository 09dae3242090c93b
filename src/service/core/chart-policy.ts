// Content security policy of charts.

/** Sandbox of a chart: it runs in an opaque origin, without cookies, and may save files and open links. */
export const CHART_SANDBOX = 'allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox'

interface ChartPolicy {
  /** Permissions of the sandbox. Default: none is set, as in a page that has its policy in itself. */
  sandbox?: string
  /** Sources of scripts. Default: those of this server. */
  scripts?: string
  /** More directives. */
  others?: readonly string[]
}

/** Creates the policy of a page with a chart. A figure is untrusted input: it can load and send nothing. */
export function createChartPolicy({ sandbox, scripts = "'self'", others = [] }: ChartPolicy): string {
  return [
    ...(sandbox === undefined ? [] : [`sandbox ${sandbox}`]),
    "default-src 'none'",
    `script-src ${scripts}`,
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    'font-src data:',
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    ...others,
  ].join('; ')
}

/** Policy with which a server sends a self-contained page. The page itself allows only its own scripts. */
export const STANDALONE_POLICY = createChartPolicy({ sandbox: CHART_SANDBOX, scripts: "'unsafe-inline'" })
