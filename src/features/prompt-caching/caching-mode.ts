import { gatewayError } from '../../errors.ts'
import type { Exchange } from '../../lib/exchange.ts'
import type { ModelRequest } from '../../request/model-request.ts'
import type { Route } from '../../request/routing/group.ts'
import type { PromptCaching } from '../../types.ts'

/** How an attempt's prompts are cached. */
export type CachingMode = Exclude<PromptCaching, 'off'>

/** The parts of a request that determine how its prompts are cached. */
type CachingInput = Pick<ModelRequest, 'settings' | 'call'> & {
  exchange: Pick<Exchange, 'header'>
  log: Pick<ModelRequest['log'], 'caller'>
}

/**
 * Returns how an attempt's prompts are cached, or `undefined` if they aren't. The first of these that sets a mode wins: the key, the account, the
 * key's group, the account's plan, the entry, the connection, and the settings.
 */
export function getCachingMode(
  { log, settings, exchange, call }: CachingInput,
  { target }: Route,
): CachingMode | undefined {
  const { connection, promptCaching = connection.promptCaching ?? settings.promptCaching } = target
  const { key, account } = log.caller
  const ownerCaching = key?.promptCaching ?? account?.promptCaching ?? key?.group?.promptCaching
  const mode = ownerCaching ?? account?.plan?.promptCaching ?? promptCaching
  if (!mode || mode === 'off' || call.endpoint.operation.name !== 'generate') return undefined
  return exchange.header(CACHING_HEADER) === 'off' ? undefined : mode
}

/** Throws `INVALID_REQUEST` if the header has an unknown value. */
export function checkCachingHeader(exchange: Pick<Exchange, 'header'>): void {
  const value = exchange.header(CACHING_HEADER)
  if (value !== undefined && value !== 'off' && value !== 'auto')
    throw gatewayError('INVALID_REQUEST', {
      message: `${CACHING_HEADER} must be "off" (no prompt caching for this request) or "auto" (as configured).`,
    })
}

/** The header that turns prompt caching off for a request. */
const CACHING_HEADER = 'x-signalbox-prompt-caching'
