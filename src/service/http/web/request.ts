import type { HttpRequest, HttpResponse } from '../../../contract/http.ts'
import { addressOf, type Desk, type LogLine } from '../desk.ts'

/** A request for an address of the table in contract/web/index.ts. */
export interface WebRequest {
  request: HttpRequest
  query: string
  /** The parts of the path, by name. */
  parts: Readonly<Record<string, string>>
  line: LogLine
}

export type WebHandler = (desk: Desk, asked: WebRequest) => Promise<HttpResponse> | HttpResponse

/** A handler that waits for its turn among the requests of its address. */
export function inTurn(answer: (desk: Desk, asked: WebRequest) => Promise<HttpResponse>): WebHandler {
  return (desk, asked) => {
    const { request } = asked
    return desk.requests.run(addressOf(request), () => answer(desk, asked), request.gone)
  }
}
