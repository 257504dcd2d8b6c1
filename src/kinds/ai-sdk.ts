import { type ToldFacts, wireFacts, wireWarnings } from '../formats/ai-sdk/client/facts.ts'
import type { Fields } from '../formats/canonical/fields.ts'
import type { JsonObject } from '../lib/json.ts'
import type { WriteTerms } from './forms.ts'

/*
 * What requests and answers of all kinds have alike in the AI SDK's gateway protocol. Options of its providers are read whoever answers, as
 * the model may be any; those that the target does not take are losses.
 */

/** The options of each provider in a request. */
export function optionsIn(body: Fields): readonly Fields[] {
  const given = body.fields('providerOptions')
  return Object.keys(given?.value ?? {}).flatMap((name) => given?.fields(name) ?? [])
}

/** What the first of these says that says it. All are read, so that none of them is a loss. */
export const firstIn = <T>(options: readonly Fields[], read: (one: Fields) => T | undefined): T | undefined =>
  options.map(read).find((value) => value !== undefined)

/** Notes the members of a request that nobody has read. */
export function dropUnread(body: Fields, options: readonly Fields[]): void {
  body.ignore('model', 'headers')
  for (const one of [...options, body]) one.drop()
}

/** What an answer says of itself: when it came, its losses, who has answered, and the tokens of it. `more`: further members of the gateway's facts. */
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
