import type { RequestTerms, RequestTermsSource } from '../../request/context.ts'
import { addRequiredTags } from './required-tags.ts'

/**
 * Reads the terms in a request's headers and in its gateway options. Throws `INVALID_REQUEST` with the malformed field, `FORBIDDEN` if the settings
 * don't allow lists, and `MODEL_NOT_ALLOWED` if the key may not use one of the models.
 */
export async function readTerms(source: RequestTermsSource): Promise<RequestTerms> {
  const { exchange, call, log } = source
  addRequiredTags(exchange.header('x-signalbox-require'), log)
  const options = call.body.providerOptions
  const hasOptions = typeof options === 'object' && options !== null && 'signalbox' in options
  const isList = hasOptions || exchange.header('x-signalbox-models') !== undefined
  return isList ? (await import('./request-list.ts')).readRequestList(source) : { exchange }
}
