import { existsSync } from 'node:fs'
import { Problem } from '../contract/errors.ts'
import type { Context } from './context.ts'

/** Adds to an error what only the command line knows: which key was refused, and files of this machine. */
export async function withHints(context: Context, problem: Problem): Promise<Problem> {
  if (problem.code === 'unauthenticated') return withKey(context, problem)
  const [, kind, name = ''] = /^no (grid|file) at (.+)$/.exec(problem.message) ?? []
  if (kind === undefined || !existsSync(name)) return problem
  return new Problem(problem.code, problem.message, {
    hint: `${name} is a file on this machine. Upload it first: gridline upload ${name}`,
  })
}

/** Says which key was refused, or how to set one. */
async function withKey(context: Context, { code, message, hint = '' }: Problem): Promise<Problem> {
  const settings = await context.settings().catch(() => undefined)
  if (settings?.api_key.value)
    return new Problem(code, message, { hint: `The key is from: ${settings.api_key.source}. ${hint}`.trim() })
  // Errors of the command line itself say what is missing.
  if (!settings?.url.value) return new Problem(code, message, { hint })
  return new Problem(code, `no API key is set for ${settings.url.value}`, {
    hint: 'Log in with gridline login, or set GRIDLINE_USER and GRIDLINE_API_KEY. CI jobs can use gridline login --oidc.',
  })
}
