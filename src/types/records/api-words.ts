import type { comboFields } from './combos.ts'
import type { connectionFields, topLevelMembers } from './connections.ts'
import type { SeenNames } from './fields.ts'
import type { groupFields } from './groups.ts'
import type { keyFields } from './keys.ts'
import type { aliasFields, customModelFields, providerFields } from './models.ts'
import type { settingsFields } from './settings.ts'

/*
 * What the description of the API says of the fields. It is kept apart from them because requests load those. A field that is shown and has no
 * line here does not compile.
 */

/** A sentence for each field that people see; none where its name tells it all. */
type ApiWordsOf<F> = { readonly [N in SeenNames<F>]: string }

const rules = {
  health: 'When failures start a cooldown of a target, and how long it lasts.',
  maxAttempts: 'The most attempts for one request, over all targets.',
  timeouts: 'Time-outs of one call to a provider.',
}

const stickyLimit = 'Under `round-robin`: how many requests in a row each gets; default 1.'

const metadata = 'Texts of the owner by name, at most 16. A change sets all of them; `{}` leaves none.'

const limits =
  'The most in calendar windows in UTC, where weeks begin on Monday and `total` never ends: whole `requests`, whole `tokens` of input and output, `usd`; and how many requests may be under way in `parallel`. A change sets all of them.'

const prices =
  'In US dollars: `input`, `output`, `cacheRead`, `cacheWrite`, `audioInput`, `audioOutput`, `imageInput` and `imageOutput` by the million tokens, everything else each; `images` by quality and size, such as `high:1024x1024`. They replace those of the catalog.'

const models =
  'Names of models, combos and aliases, in which `*` stands for any text. What a listed name leads to is allowed with it; else each target is checked by its own name.'

export const keyApiWords: ApiWordsOf<typeof keyFields> = {
  id: '',
  name: '',
  isActive: 'Only `false` means paused.',
  key: 'The whole key, as clients send it; empty if it cannot be decrypted.',
  createdAt: '',
  metadata: metadata,
  expiresAt: 'The time from which requests are refused with 401 `key_expired`; those that began before go on.',
  models: `${models} Absent: everything.`,
  kinds: 'The kinds of models that the key may use. Absent: all.',
  group: 'The id of the group that the key belongs to. The limits of the group apply to all its keys together.',
  limits: limits,
}

export const groupApiWords: ApiWordsOf<typeof groupFields> = {
  id: '',
  name: '',
  isActive: 'Only `false` means paused: its keys are refused then.',
  limits: `For all of its keys together. ${limits}`,
  models: `For each of its keys, in addition to the list of the key. ${models}`,
  kinds: 'The kinds of models that its keys may use. Absent: all.',
  metadata: metadata,
  createdAt: '',
}

export const settingsApiWords: ApiWordsOf<typeof settingsFields> = {
  cloudEnabled: 'Is cloud mode on? Changes by the actions of `/api/sync/cloud` alone.',
  requireApiKey: 'Is a request to a model without a valid API key refused?',
  cloudUrl: 'The address of the cloud proxy, without `/v1`; may be empty.',
  ...rules,
  limits: `For all requests together. ${limits}`,
  unpriced: 'Are targets without a known price skipped or used where `usd` is limited? Default `skip`.',
  whenStoreIsAway:
    'Does a request with limits of that unit pass while the storage is away? Default `refuse` for `usd` and `tokens`, `allow` for `requests` and `parallel`.',
  requestModels:
    'May requests bring lists of models by `x-signalbox-models`? Default `true`; otherwise such a request is refused with 403.',
  usage:
    'How long the records of single requests are kept (default 30 days), and the totals of each hour (default 400).',
}

export const comboApiWords: ApiWordsOf<typeof comboFields> = {
  id: '',
  name: 'Of letters, digits, `-`, `_` and `.`; unique among combos.',
  models: 'Each a model of the listing, an alias or another combo.',
  strategy: 'How the combo orders its models for a request; default `fallback`.',
  kind: 'Where the combo is listed; default `llm`.',
  on: 'Answers after which the next model is asked: `content`, one that a content filter ended; `schema`, one that is not JSON by the schema of the request.',
  stickyLimit: stickyLimit,
  connectionStrategy: 'The strategy among the connections of each provider.',
  sameVectors:
    'May a combo of kind `embedding` have different models, as their vectors are the same? Default `false`: it is refused.',
  retryAmbiguous:
    'May a combo of kind `image` ask another target after a failure that may be charged for, such as a time-out? Default `false`.',
  hedge: 'Is a second attempt started when the first takes unusually long? Default `false`.',
  ...rules,
  createdAt: '',
  updatedAt: '',
}

export const connectionApiWords: ApiWordsOf<typeof connectionFields> = {
  id: '',
  provider:
    'A provider of the catalog, a name that begins with `openai-compatible` or `anthropic-compatible`, or any other beside a `baseUrl`.',
  name: 'For people; default: the name of the provider.',
  apiKey: 'The credential. Answers have its last four characters only.',
  prices: `The prices of its models, by their ids at the provider. ${prices}`,
  providerSpecificData: 'Settings that differ from the definition of the provider.',
  priority: 'Lower comes first, none comes last.',
  isActive: 'Only `false` takes it out of use.',
  draining: 'Keeps new requests away, and lets those under way and their sessions go on.',
  discover:
    '`true` asks the server once for its models, with the key or without one, and keeps them as `enabledModels`. It is not stored.',
  createdAt: '',
  updatedAt: '',
}

/** Of the members of `providerSpecificData` that may stand at the top level. */
export const topLevelApiWords: Readonly<Record<(typeof topLevelMembers)[number], string>> = {
  baseUrl: '',
  prefix: 'The same as in `providerSpecificData`; so are `sharesPrefix`, `enabledModels`, `baseUrl` and `format`.',
  sharesPrefix: '',
  enabledModels: '',
  format: '',
}

export const customModelApiWords: ApiWordsOf<typeof customModelFields> = {
  providerAlias: 'The alias or the id of a provider.',
  id: '',
  type: 'Default `llm`.',
  prices: `Its prices, unless a connection has its own for it. ${prices}`,
}

export const aliasApiWords: ApiWordsOf<typeof aliasFields> = {
  alias: '',
  model: 'A model of the listing, another alias or a combo.',
}

export const providerApiWords: ApiWordsOf<typeof providerFields> = {
  provider: '',
  strategy: 'The strategy among its connections. Absent: by priority.',
  stickyLimit: stickyLimit,
}
