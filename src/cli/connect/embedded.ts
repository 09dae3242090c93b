import type { Fetch } from '../../client/index.ts'
import type { RunningService } from '../../service/index.ts'

/** A `Fetch` that calls the service in this process, without sockets or web objects. */
export function embeddedFetch(service: RunningService): Fetch {
  return (request) => service.handle(request)
}
