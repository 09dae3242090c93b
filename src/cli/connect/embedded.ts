// Calls the in-process service.
import type { Fetch } from '../../client/index.ts'
import type { RunningService } from '../../service/index.ts'

/** Returns a `Fetch` that calls the service directly, without sockets. */
export function createEmbeddedFetch(service: RunningService): Fetch {
  return (request) => service.handle(request)
}
