import type { JsonObject } from '../../lib/json.ts'
import {
  aliasApiWords,
  comboApiWords,
  connectionApiWords,
  customModelApiWords,
  groupApiWords,
  keyApiWords,
  providerApiWords,
  settingsApiWords,
  topLevelApiWords,
} from '../../types/records/api-words.ts'

/** Without the fields whose names tell it all. */
const said = (words: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(words).filter(([, sentence]) => sentence !== ''))

/** Descriptions of members whose names do not say enough, by the name of the schema, or of the resource whose inputs have them. */
export const fieldWords: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ApiKey: { ...said(keyApiWords), error: 'What is wrong with the key. Absent when nothing is.' },
  KeyGroup: { ...said(groupApiWords), error: 'What is wrong with the group. Absent when nothing is.' },
  Settings: said(settingsApiWords),
  Combo: said(comboApiWords),
  Connection: {
    ...said(connectionApiWords),
    ...said(topLevelApiWords),
    warnings: 'What cannot work yet, and what to do. Absent when there is nothing.',
    error: 'Why the credential cannot be decrypted. Absent when it can.',
    health: 'Recent failures, the most severe first, at most twenty.',
  },
  CustomModel: said(customModelApiWords),
  Alias: said(aliasApiWords),
  Provider: said(providerApiWords),
  Explain: {
    model: 'A model of the listing, an alias or a combo.',
    body: 'The body of the request; default: one without messages.',
    headers: 'The headers by name.',
    path: 'Default: `/v1/chat/completions`.',
    keyId: 'The API key of the request: the explanation then says what it may not do, and which limits are used up.',
  },
  KeptRequest: {
    id: 'As in the header `x-signalbox-request-id`.',
    time: 'When the request came.',
    groupId: 'The group of the key at that time.',
    metadata: 'The metadata of the key at that time.',
    user: 'The end user that the client named.',
    model: 'The requested model name.',
    target: 'The target whose answer the client got, otherwise the target that was called last.',
    tokens:
      'The sum of all attempts. `input` includes tokens read from and written to a cache, `output` the reasoning.',
    costUsd: 'The sum of all attempts whose price is known.',
    firstByteMs: 'The time until the answer, or the first content of its stream.',
    end: '`cut`: the stream broke off. `aborted`: the client left. `refused`: no provider was called.',
    error: "The code of the gateway's error.",
    reason: 'Why the request was refused or failed.',
  },
  UsageTotals: {
    failed: 'Those that failed, were cut or were refused.',
    refused: 'Those of `failed` for which no provider was called.',
    unpriced: 'Calls whose price is not known; `costUsd` lacks them.',
    firstByteMs:
      'The time until the answer, or the first content of its stream, in ms, within 7.3 %. Absent where nothing was measured.',
    durationMs:
      'The time until the end of requests that were not refused, in ms, within 7.3 %. Absent where nothing was measured.',
  },
  Overview: {
    usage: 'This hour and the 23 before it. Absent where no usage is kept.',
    failures: 'Failed requests, the newest first.',
    damaged: 'The number of damaged records in the storage.',
    nearLimits: 'Limits of which 80 % or more are used, the fullest 20.',
    mirrorError: 'Why the last exchange with the cloud proxy failed.',
  },
  HealthEntry: {
    combo: 'The combo with health terms of its own whose requests count. Absent: all other requests count.',
    state:
      '`counting`: still used. `cooling`: not used until `retryAt`. `half-open`: the next request is a probe. `probing`: a probe is under way.',
    failures: 'The number of failures in a row.',
  },
  TargetState: {
    combo: 'The combo with health terms of its own whose requests count. Absent: all other requests count.',
    state:
      '`draining`: takes no new requests. `cooling`: tried after all others, until `until`. `probing`: one request tests whether it works again.',
    calls: 'The number of recent calls that count.',
    failureShare: 'The share of the calls that have failed.',
  },
  DamagedRecord: {
    key: 'Its key in the storage.',
    problem: 'What is wrong, and how the record is read or passed over.',
  },
  CloudState: {
    lastSuccessAt: 'When the last exchange has succeeded.',
    lagMs: 'How long the oldest change that is not mirrored yet has waited, in ms.',
    lastError: 'Why the last exchange has failed; `null` when it has not.',
    conflicts: 'The last 100, the oldest first.',
  },
  CloudConflict: { kept: 'The side whose change has stayed.' },
}

/** Describes the members of the named schemas. */
export function describeFields(definitions: Readonly<Record<string, JsonObject>>): void {
  for (const [name, { properties }] of Object.entries(definitions)) {
    for (const [field, description] of Object.entries(wordsFor(name))) {
      const property = Object(properties)[field]
      if (property) property.description = description
    }
  }
}

/** The descriptions for a schema: those of `Combo` also hold for `CombosCreateInput`, and those of `ApiKey` for `KeysCreateInput`, of `KeyGroup` for `GroupsCreateInput`. */
function wordsFor(name: string): Readonly<Record<string, string>> {
  const resource = name
    .replace(/(?:Create|Update|Set|Put)?Input$/, '')
    .replace(/^Keys$/, 'ApiKeys')
    .replace(/^Groups$/, 'KeyGroups')
  return fieldWords[resource] ?? fieldWords[resource.replace(/e?s$/, '')] ?? {}
}
