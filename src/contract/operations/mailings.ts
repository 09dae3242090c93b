// Operations that send charts and boards by e-mail.
import * as r from '../resources/index.ts'
import type { Operation } from './operation.ts'
import { jsonBody, noBody } from './shared.ts'

export const mailingsOperations = {
  'mailings.list': {
    summary: 'List the charts and boards that you send regularly',
    method: 'GET',
    path: '/v2/mailings',
    access: 'caller',
    agentTool: 'reads',
    body: noBody,
    status: 200,
    result: r.Mailings,
  },
  'mailings.send': {
    summary: 'Send a chart or a board by e-mail, now',
    method: 'POST',
    path: '/v2/files/:fid/send',
    access: 'read',
    requiresAccount: true,
    agentTool: 'none',
    lasts: true,
    body: jsonBody(r.MailingSend),
    status: 200,
    result: r.MailingSent,
  },
  'mailings.create': {
    summary: 'Send a chart or a board by e-mail regularly',
    method: 'POST',
    path: '/v2/files/:fid/mailings',
    access: 'read',
    requiresAccount: true,
    agentTool: 'none',
    body: jsonBody(r.MailingCreate),
    status: 201,
    result: r.Mailing,
  },
  'mailings.delete': {
    summary: 'Stop sending a chart or a board',
    method: 'DELETE',
    path: '/v2/mailings/:id',
    access: 'caller',
    agentTool: 'changes',
    body: noBody,
    status: 204,
    result: 'none',
  },
} as const satisfies Record<string, Operation>
