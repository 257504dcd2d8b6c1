import type { RequestSettings, RequestSettingsSource } from '../../request/context.ts'
import { addRequiredTags } from './required-tags.ts'

/**
 * Reads the settings in a request's headers and gateway options. Throws `INVALID_REQUEST` for a malformed field, `FORBIDDEN` if the settings don't
 * allow lists, `MODEL_NOT_ALLOWED` if the key may not use one of the models, and `ACCOUNT_NOT_ALLOWED` if the options name another account.
 */
export async function readRequestSettings(source: RequestSettingsSource): Promise<RequestSettings> {
  const { exchange, call, log } = source
  addRequiredTags(exchange.header('x-signalbox-require'), log)
  const options = call.body.providerOptions
  const hasOptions = (name: string) => typeof options === 'object' && options !== null && name in options
  const hasGatewayOptions = hasOptions('gateway')
    ? await (await import('./gateway-options.ts')).readGatewayOptions(source)
    : undefined
  const hasModelList =
    hasGatewayOptions || exchange.header('x-signalbox-models') !== undefined || hasOptions('signalbox')
  return hasModelList ? (await import('./request-list.ts')).readRequestList(source, hasGatewayOptions) : { exchange }
}
