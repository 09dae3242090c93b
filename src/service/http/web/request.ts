/** Requests and handlers of addresses outside of the API. */
import type { HttpRequest, HttpResponse } from '../../../contract/http.ts'
import { addressOf, type Desk, type LogLine } from '../desk.ts'

/** A request for a route of contract/web/index.ts. */
export interface WebRequest {
  request: HttpRequest
  query: string
  /** Parameters of the path, by name. */
  parts: Readonly<Record<string, string>>
  line: LogLine
}

export type WebHandler = (context: Desk, webRequest: WebRequest) => Promise<HttpResponse> | HttpResponse

/** Wraps a handler: it waits in the queue of its IP address. */
export function inTurn(
  handler: (context: Desk, webRequest: WebRequest) => Promise<HttpResponse>,
): WebHandler {
  return (context, webRequest) => {
    const { request } = webRequest
    return context.requests.run(addressOf(request), () => handler(context, webRequest), request.gone)
  }
}
