import { type ToldFacts, wireFacts, wireWarnings } from '../formats/ai-sdk/client/facts.ts'
import type { Fields } from '../formats/canonical/fields.ts'
import type { JsonObject } from '../lib/json.ts'
import type { WriteTerms } from './forms.ts'

/*
 * What requests and answers of all kinds have in common in the AI SDK's gateway protocol. `providerOptions` of every provider are read, as any
 * target may answer; those that the target does not take are losses.
 */

/** The options of each provider in a request. Those of Signalbox were checked before, and have for models the end user alone. */
export function optionsIn(body: Fields): readonly Fields[] {
  const given = body.fields('providerOptions')
  return Object.keys(given?.value ?? {}).flatMap((name) => given?.fields(name) ?? [])
}

/** The first value that `read` finds. It reads the options of all providers, so that none of them is named as a loss. */
export const firstIn = <T>(options: readonly Fields[], read: (one: Fields) => T | undefined): T | undefined =>
  options.map(read).find((value) => value !== undefined)

/** Notes the members of a request that were not read as losses. */
export function dropUnread(body: Fields, options: readonly Fields[]): void {
  body.ignore('model', 'headers')
  for (const one of [...options, body]) if (one.at !== 'providerOptions.signalbox') one.drop()
}

/** Members of an answer beside its content: usage, time and model, warnings, and `providerMetadata.signalbox` with `more` among its members. */
export function factsOf(
  { losses, lost, describe, now, model }: Omit<WriteTerms<unknown>, 'asked' | 'provider' | 'newId'>,
  usage: ToldFacts['usage'],
  more: JsonObject = {},
): JsonObject {
  const { inputTokens = 0, outputTokens = 0, units = {} } = usage ?? {}
  const tokens = inputTokens + outputTokens
  const used = { ...(tokens > 0 && { inputTokens, outputTokens, totalTokens: tokens }), ...units }
  return {
    ...(Object.keys(used).length > 0 && { usage: used }),
    response: { timestamp: new Date(now * 1_000).toISOString(), modelId: model },
    warnings: wireWarnings(losses()),
    ...wireFacts({ losses: losses(), lost: lost.list(), usage, describe }, more),
  }
}
