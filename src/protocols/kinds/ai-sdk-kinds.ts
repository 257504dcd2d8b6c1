import { isObject, type JsonObject } from '../../lib/json.ts'
import {
  type ResponseMetadata,
  writeSignalboxMetadata,
  writeWarnings,
} from '../formats/ai-sdk/client/ai-sdk-client-facts.ts'
import { recordGatewayOptions } from '../formats/ai-sdk/client/ai-sdk-client-gateway.ts'
import { type Fields, readFields } from '../formats/canonical/canonical-fields.ts'
import type { Warnings } from '../formats/canonical/canonical-warnings.ts'
import type { ClientWriteContext } from './kind-adapters.ts'

/*
 * The parts of the AI SDK's gateway protocol that all kinds share. The gateway reads every provider's `providerOptions`, because any target may
 * respond. Options that the target doesn't support are reported as dropped.
 */

/** Returns each provider's options. Signalbox's own options are already validated, and the end user is the only one of them that affects models. */
export function readProviderOptions(body: Fields): readonly Fields[] {
  const options = body.fields('providerOptions')
  return Object.keys(options?.value ?? {}).flatMap((name) => options?.fields(name) ?? [])
}

/** Returns the first value that `read` finds. Reads all providers' options, so none of them is reported as dropped. */
export const findFirstOption = <T>(
  options: readonly Fields[],
  read: (fields: Fields) => T | undefined,
): T | undefined => options.map(read).find((value) => value !== undefined)

/** Reports unread fields as dropped. */
export function dropUnread(body: Fields, options: readonly Fields[], warnings: Warnings): void {
  body.ignore('model', 'headers')
  for (const fields of [...options, body]) {
    if (fields.path === 'providerOptions.gateway') recordGatewayOptions(fields, warnings)
    if (fields.path !== 'providerOptions.signalbox') fields.dropUnread()
  }
}

/**
 * Warns about unsupported options for the AI SDK's own gateway. `supportedNames` lists the options that the caller supports in addition to the common
 * ones.
 */
export function dropUnreadGatewayOptions(
  { providerOptions }: JsonObject,
  warnings: Warnings,
  supportedNames: Iterable<string> = [],
): void {
  const gateway = isObject(providerOptions) ? providerOptions.gateway : undefined
  if (!isObject(gateway)) return
  const fields = readFields(gateway, 'providerOptions.gateway', warnings)
  fields.ignore(...supportedNames)
  recordGatewayOptions(fields, warnings)
  fields.dropUnread()
}

/** Writes all response fields except the content: usage, time, model, warnings, and `providerMetadata.signalbox`, which includes `extraMetadata`. */
export function writeResponseFields(
  {
    listDroppedFields,
    warnings,
    describe,
    now,
    model,
  }: Omit<ClientWriteContext<unknown>, 'asked' | 'provider' | 'newId'>,
  usage: ResponseMetadata['usage'],
  extraMetadata: JsonObject = {},
): JsonObject {
  const { inputTokens = 0, outputTokens = 0, units = {} } = usage ?? {}
  const totalTokens = inputTokens + outputTokens
  const reportedUsage = { ...(totalTokens > 0 && { inputTokens, outputTokens, totalTokens }), ...units }
  return {
    ...(Object.keys(reportedUsage).length > 0 && { usage: reportedUsage }),
    response: { timestamp: new Date(now * 1_000).toISOString(), modelId: model },
    warnings: writeWarnings(listDroppedFields()),
    ...writeSignalboxMetadata(
      { droppedFields: listDroppedFields(), responseDroppedFields: warnings.list(), usage, describe },
      extraMetadata,
    ),
  }
}
