import type { comboFields } from './combos.ts'
import type { connectionFields, topLevelMembers } from './connections.ts'
import type { SeenNames } from './fields.ts'
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
  health: 'By which failures a target cools, and for how long.',
  maxAttempts: 'Attempts for one request, all targets together.',
  timeouts: 'Of one call to a provider.',
}

const stickyLimit = 'Under `round-robin`: how many requests in a row each gets; default 1.'

export const keyApiWords: ApiWordsOf<typeof keyFields> = {
  id: '',
  name: '',
  isActive: 'Only `false` means paused.',
  key: 'The whole key, as clients send it; empty if it cannot be decrypted.',
  createdAt: '',
  metadata: 'Texts of the owner by name, at most 16. A change sets all of them; `{}` leaves none.',
}

export const settingsApiWords: ApiWordsOf<typeof settingsFields> = {
  cloudEnabled: 'Is cloud mode on? Changes by the actions of `/api/sync/cloud` alone.',
  requireApiKey: 'Is a request to a model without a valid API key refused?',
  cloudUrl: 'The address of the cloud proxy, without `/v1`; may be empty.',
  ...rules,
}

export const comboApiWords: ApiWordsOf<typeof comboFields> = {
  id: '',
  name: 'Of letters, digits, `-`, `_` and `.`; unique among combos.',
  models: 'Each a model of the listing, an alias or another combo.',
  strategy: 'How it orders its models for a request; default `fallback`.',
  kind: 'Where the combo is listed; default `llm`.',
  stickyLimit: stickyLimit,
  connectionStrategy: 'The strategy among the connections of each provider.',
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
  providerSpecificData: 'What differs from the definition of the provider.',
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
}

export const aliasApiWords: ApiWordsOf<typeof aliasFields> = {
  alias: '',
  model: 'A model of the listing, another alias or a combo.',
}

export const providerApiWords: ApiWordsOf<typeof providerFields> = {
  provider: '',
  strategy: 'Among its connections. Absent: by priority.',
  stickyLimit: stickyLimit,
}
