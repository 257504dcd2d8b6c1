import type { JsonObject } from '../../lib/json.ts'

const rules = {
  health: 'By which failures a target cools, and for how long.',
  maxAttempts: 'Attempts for one request, all targets together.',
  timeouts: 'Of one call to a provider.',
}
const stickyLimit = 'Under `round-robin`: how many requests in a row each gets; default 1.'

/** Descriptions of members whose names do not say enough, by the name of the schema, or of the resource whose inputs have them. */
export const fieldWords: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ApiKey: {
    key: 'The whole key, as clients send it; empty if it cannot be decrypted.',
    isActive: 'Only `false` means paused.',
    error: 'What is wrong with the key. Absent when nothing is.',
  },
  Settings: {
    cloudEnabled: 'Is cloud mode on? Changes by the actions of `/api/sync/cloud` alone.',
    requireApiKey: 'Is a request to a model without a valid API key refused?',
    cloudUrl: 'The address of the cloud proxy, without `/v1`; may be empty.',
    ...rules,
  },
  Combo: {
    name: 'Of letters, digits, `-`, `_` and `.`; unique among combos.',
    kind: 'Where the combo is listed; default `llm`.',
    models: 'Each a model of the listing, an alias or another combo.',
    strategy: 'How it orders its models for a request; default `fallback`.',
    stickyLimit,
    connectionStrategy: 'The strategy among the connections of each provider.',
    hedge: 'Is a second attempt started when the first takes unusually long? Default `false`.',
    ...rules,
  },
  Connection: {
    provider:
      'A provider of the catalog, a name that begins with `openai-compatible` or `anthropic-compatible`, or any other beside a `baseUrl`.',
    name: 'For people; default: the name of the provider.',
    isActive: 'Only `false` takes it out of use.',
    draining: 'Keeps new requests away, and lets those under way and their sessions go on.',
    priority: 'Lower comes first, none comes last.',
    apiKey: 'The credential. Answers have its last four characters only.',
    providerSpecificData: 'What differs from the definition of the provider.',
    prefix: 'The same as in `providerSpecificData`; so are `sharesPrefix`, `enabledModels`, `baseUrl` and `format`.',
    discover:
      '`true` asks the server once for its models, with the key or without one, and keeps them as `enabledModels`. It is not stored.',
    warnings: 'What cannot work yet, and what to do. Absent when there is nothing.',
    error: 'Why the credential cannot be decrypted. Absent when it can.',
    health: 'What has failed lately, the most severe first, at most twenty.',
  },
  CustomModel: { type: 'Default `llm`.', providerAlias: 'The alias or the id of a provider.' },
  Alias: { model: 'A model of the listing, another alias or a combo.' },
  Provider: { strategy: 'Among its connections. Absent: by priority.', stickyLimit },
  Explain: {
    model: 'A model of the listing, an alias or a combo.',
    body: 'The body of the request; default: one without messages.',
    headers: 'By name.',
    path: 'Default `/v1/chat/completions`.',
  },
  HealthEntry: {
    combo: 'The combo whose own terms it holds for. Absent: for all other requests.',
    state:
      '`counting`: still used. `cooling`: not used until `retryAt`. `half-open`: the next request is a probe. `probing`: a probe is under way.',
    failures: 'In a row.',
  },
  TargetState: {
    combo: 'The combo by whose own terms it is judged. Absent: for all other requests.',
    state:
      '`draining`: takes no new requests. `cooling`: tried after all others, until `until`. `probing`: one request finds out whether it is back.',
    calls: 'Those that count.',
    failureShare: 'The share of the calls that have failed.',
  },
  DamagedRecord: { key: 'Its key in the storage.', problem: 'What is wrong, and how it is read or that it is not.' },
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

/** The descriptions for a schema: those of `Combo` also hold for `CombosCreateInput`. */
function wordsFor(name: string): Readonly<Record<string, string>> {
  const resource = name.replace(/(?:Create|Update|Set|Put)?Input$/, '')
  return fieldWords[resource] ?? fieldWords[resource.replace(/e?s$/, '')] ?? {}
}
