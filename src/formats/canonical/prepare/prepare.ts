import type { OptionName } from '../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import type { CanonicalRequest } from '../request.ts'
import type { Restoration } from '../restoration.ts'
import { prepareOptions } from './options.ts'

/** A request fit for one target, and what has to be undone in its answer. */
export interface PreparedRequest {
  request: CanonicalRequest
  restoration: Restoration
}

/**
 * Fits a request to what one target takes: everything that follows from its traits and from no format. Each loss is a warning; what would
 * change the meaning is refused. The given request stays as it is, so that the next target starts from it again.
 */
export function prepareRequest(
  request: CanonicalRequest,
  target: TargetContext & { carries: ReadonlySet<OptionName> },
): PreparedRequest {
  return {
    request: { ...request, options: prepareOptions(request.options, target) },
    restoration: { toolNames: new Map(), freeFormTools: new Set() },
  }
}
