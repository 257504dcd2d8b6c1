import type { JsonObject } from '../../../lib/json.ts'
import {
  accountDescriptions,
  aliasDescriptions,
  comboDescriptions,
  connectionDescriptions,
  customModelDescriptions,
  groupDescriptions,
  guardDescriptions,
  keyDescriptions,
  providerDescriptions,
  settingsDescriptions,
  topLevelDescriptions,
} from '../../../types/records/api-words.ts'
import type { NamedOperation } from '../../operation-table.ts'
import { capitalize, joinNames } from './document-parts.ts'

/** Omits fields whose names are self-explanatory. */
const omitEmpty = (descriptions: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(descriptions).filter(([, sentence]) => sentence !== ''))

/** Descriptions of fields whose names aren't self-explanatory, by schema name, or by the resource whose inputs have them. */
export const fieldDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ApiKey: { ...omitEmpty(keyDescriptions), error: 'The problem with the key, if any.' },
  KeyGroup: { ...omitEmpty(groupDescriptions), error: 'The problem with the group, if any.' },
  Account: { ...omitEmpty(accountDescriptions), error: 'The problem with the account, if any.' },
  Settings: omitEmpty(settingsDescriptions),
  Guard: { ...omitEmpty(guardDescriptions), error: 'Why requests that need the guard are rejected, if they are.' },
  Combo: omitEmpty(comboDescriptions),
  Connection: {
    ...omitEmpty(connectionDescriptions),
    ...omitEmpty(topLevelDescriptions),
    warnings: 'Problems to fix before this works, if any.',
    error: 'Why the credential cannot be decrypted. Absent otherwise.',
    health: 'Up to twenty recent failures, the most severe first.',
  },
  CustomModel: omitEmpty(customModelDescriptions),
  Alias: omitEmpty(aliasDescriptions),
  Provider: omitEmpty(providerDescriptions),
  Explain: {
    model: 'A listed model, an alias, or a combo.',
    body: 'The request body. Default: no messages.',
    headers: 'Headers by name.',
    path: 'Default: `/v1/chat/completions`.',
    keyId: 'The id of the API key to explain the request for, with its permissions and limits.',
    account: 'The account of your app to explain the request for, by its id or its ref. Not with `keyId`.',
  },
  StoredRequest: {
    id: 'The same as in the `x-signalbox-request-id` header.',
    time: 'When the request arrived.',
    groupId: 'The group of the key at that time.',
    account: "The ref of the account of your app's user.",
    tokenId: 'The id of the token that acted for the account.',
    metadata: 'The metadata of the account and the key at that time.',
    tags: 'The labels that your app gave the identity.',
    user: 'The end user, as named by the client.',
    model: 'The requested model name.',
    target: 'The target whose response the client received, or else the last one called.',
    tokens: 'The sum of all attempts. `input` includes cache reads and writes, `output` includes reasoning.',
    costUsd: 'The sum of all attempts whose price is known.',
    firstByteMs: 'Time until the response or, in a stream, the first token.',
    end: '`cut`: the stream broke off. `aborted`: the client disconnected. `refused`: rejected before any provider was called.',
    error: "The gateway's error code.",
    reason: 'Why the request was rejected or failed.',
    servedBy: 'Default: a provider, or the gateway.',
  },
  UsageTotals: {
    failed: 'Requests that failed, were cut, or were rejected.',
    refused: 'How many of the `failed` requests never reached a provider.',
    unpriced: 'Calls with an unknown price, which `costUsd` does not include.',
    firstByteMs:
      'Time until the response or, in a stream, the first token, in ms, within 7.3%. Absent if nothing was measured.',
    durationMs: 'Duration of requests that were not rejected, in ms, within 7.3%. Absent if nothing was measured.',
  },
  Overview: {
    usage: 'This hour and the 23 before it. Absent if usage is not stored.',
    failures: 'Failed requests, newest first.',
    damaged: 'The number of damaged records in the storage.',
    nearLimits: 'The 20 most used limits that are at least 80% used.',
    mirrorError: 'Why the last cloud sync failed.',
  },
  HealthEntry: {
    combo: 'The combo whose own health rules apply. Absent: all other requests.',
    state:
      '`counting`: still in use. `cooling`: in cooldown until `retryAt`. `half-open`: the next request is a probe. `probing`: a probe is in flight.',
    failures: 'Consecutive failures.',
  },
  TargetState: {
    combo: 'The combo whose own health rules apply. Absent: all other requests.',
    state:
      '`draining`: takes no new requests. `cooling`: tried after all others until `until`. `probing`: one request checks whether it has recovered.',
    calls: 'The number of recent calls considered.',
    failureShare: 'The share of these calls that failed.',
  },
  DamagedRecord: {
    key: 'Its storage key.',
    problem: 'The problem, and how the record is read or whether it is skipped.',
  },
  CloudState: {
    lastSuccessAt: 'Time of the last successful sync.',
    lagMs: 'How long the oldest unsynced change has been waiting, in ms.',
    lastError: 'Why the last sync failed; `null` if it succeeded.',
    conflicts: 'The last 100 conflicts, oldest first.',
  },
  TokensMint: {
    account: 'The id of the account that the token acts for.',
    plan: 'The price plan: the id or the name of a group.',
    origins: "The origins of the pages that may use it: the gateway's own one and those in `allowedOrigins`.",
    models:
      'Names of the models, combos, and aliases that it may use; `*` matches any text. Absent: all of its account.',
    kinds: 'The kinds of models that it may use. Absent: all of its account.',
    require: 'The tags that connections must have to serve its requests.',
    limits: 'Limits that count only this token.',
    metadata: 'Your own strings by name.',
    expiresIn: 'Seconds from 30 to 86,400, or a text such as `15m`. Default: 900.',
  },
  CloudConflict: { kept: 'The side whose change won.' },
}

/** Describes the fields of the named schemas and of the operations' inputs. */
export function describeFields(
  definitions: Readonly<Record<string, JsonObject>>,
  operations: readonly NamedOperation[],
): void {
  const inputs = new Map(operations.map((operation) => [nameInput(operation), describeInput(operation)]))
  for (const [name, { properties }] of Object.entries(definitions)) {
    for (const [field, description] of Object.entries(inputs.get(name) ?? findDescriptions(name))) {
      const property = Object(properties)[field]
      if (property) property.description = description
    }
  }
}

/** Returns the schema name of an operation's input. */
export const nameInput = ({ names }: Pick<NamedOperation, 'names'>): string => `${capitalize(joinNames(names))}Input`

/** Returns the descriptions of an operation's input fields, by name. */
export const describeInput = (operation: NamedOperation): Readonly<Record<string, string>> => ({
  ...findDescriptions(nameInput(operation)),
  ...operation.parameters,
})

/**
 * Returns the descriptions for a schema: `Combo` also covers `CombosCreateInput`, `ApiKey` covers `KeysCreateInput`, and `KeyGroup` covers
 * `GroupsCreateInput`.
 */
function findDescriptions(name: string): Readonly<Record<string, string>> {
  const resource = name
    .replace(/(?:Create|Update|Set|Put)?Input$/, '')
    .replace(/^Keys$/, 'ApiKeys')
    .replace(/^Groups$/, 'KeyGroups')
  return fieldDescriptions[resource] ?? fieldDescriptions[resource.replace(/e?s$/, '')] ?? {}
}
