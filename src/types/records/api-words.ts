import type { accountFields } from './account-fields.ts'
import type { comboFields } from './combo-fields.ts'
import type { connectionFields, topLevelFieldNames } from './connection-fields.ts'
import type { groupFields } from './group-fields.ts'
import type { guardFields } from './guard-fields.ts'
import type { keyFields } from './key-fields.ts'
import type { aliasFields, customModelFields, providerFields } from './model-fields.ts'
import type { VisibleNames } from './record-fields.ts'
import type { settingsFields } from './settings-fields.ts'

/*
 * Field descriptions for the OpenAPI document and the CLI options. They are separate so requests, which load the fields, don't load the descriptions
 * too. A visible field without a description doesn't compile.
 */

/** A sentence for each visible field. Empty if its name is self-explanatory. */
type DescriptionsOf<F> = { readonly [N in VisibleNames<F>]: string }

const rules = {
  health: 'When failures put a target in cooldown (circuit breaker), and for how long.',
  maxAttempts: 'Most attempts per request, across all targets.',
  timeouts: 'Timeouts of one call to a provider.',
}

const stickyLimit = 'With `round-robin`: consecutive requests for each; default 1.'

const metadata = 'Your own strings by name, at most 16. A change replaces all of them; `{}` removes them.'

const limits =
  'Limits per calendar window in UTC (weeks start on Monday, `total` never ends): `requests`, `tokens` of input and output, and `usd`; `parallel` limits concurrent requests. A change replaces all of them.'

const prices =
  'Prices in USD, which replace those in the catalog. Per million tokens: `input`, `output`, `cacheRead`, `cacheWrite`, `cacheWriteLong`, `audioInput`, `audioOutput`, `imageInput`, `imageOutput`. Everything else is per unit. `images` has prices by quality and size, such as `high:1024x1024`. `tiers` has token prices for requests with more than `above` input tokens. `serviceTiers` has token prices by tier, such as `priority`.'

const require = 'Tags that a connection must have to serve these requests, such as `{ "region": "eu" }`.'

const promptCaching = 'Whether the gateway asks providers to cache prompts. Default `off`.'

const models =
  'Names of models, combos, and aliases; `*` matches any text. A listed name allows everything it resolves to; otherwise each target is checked by its own name.'

export const keyDescriptions: DescriptionsOf<typeof keyFields> = {
  id: 'The id of the key. `put` accepts one of your choice.',
  name: 'The name of the key.',
  isActive: 'Whether the key is active. Requests with a paused key are rejected.',
  key: 'The whole key, as clients send it; empty if it cannot be decrypted.',
  createdAt: '',
  metadata: metadata,
  expiresAt: 'When the key expires. Later requests get a 401 `key_expired`; in-flight requests continue.',
  models: `${models} Absent: everything.`,
  kinds: 'The kinds of models that the key may use. Absent: all.',
  group: 'The id of its group. All keys of a group share its limits.',
  account:
    'The ref of its account; in input, the ref or your id. The limits of the account and of its plan also apply.',
  actsFor:
    "Allows a remote host to send requests for accounts, each with the account's id in the header `x-signalbox-account`. `plan` is the id of the group that is the price plan of accounts without one. Not with `account`.",
  promptCaching: promptCaching,
  limits: limits,
  require: require,
  guards: 'Names of guards that check its requests. The guards of the settings, its group, and combos also do.',
  guardsExcept: 'Names of guards that skip its requests, although the settings, its group, or a combo name them.',
}

const definedInCode = '`code` if it is defined in code and cannot be changed here.'

export const groupDescriptions: DescriptionsOf<typeof groupFields> = {
  id: 'The id of the group. `put` accepts one of your choice.',
  name: 'The name of the group.',
  isActive: 'Whether the group is active. Requests with keys of a paused group are rejected.',
  limits: `Shared by all its keys. ${limits}`,
  each: `For each account with this plan, on its own, in addition to \`limits\` for all of them together. ${limits}`,
  models: `For each of its keys, in addition to the key's own list. ${models}`,
  kinds: 'The kinds of models that its keys may use. Absent: all.',
  require: require,
  guards: 'Names of guards that check requests of its keys, and of accounts with this plan.',
  promptCaching: promptCaching,
  metadata: metadata,
  source: definedInCode,
  createdAt: '',
}

export const accountDescriptions: DescriptionsOf<typeof accountFields> = {
  ref: 'The pseudonym of `id`, under which everything about the account is stored.',
  id: "Your app's own id. Stored encrypted, with `name` and `metadata`. Empty if it cannot be decrypted.",
  name: 'The name of the account, for people.',
  plan: 'The id of the group that is its price plan. Absent: the plan that your app names, or the default one.',
  isActive: 'Only `false` means paused: its requests are then rejected.',
  limits: `In addition to the plan's \`each\`; the lower limit applies. ${limits}`,
  models: `In addition to the list of its plan. ${models}`,
  kinds: 'The kinds of models that it may use. Absent: all that its plan allows.',
  require: require,
  promptCaching: promptCaching,
  metadata: metadata,
  tokensFrom: 'Cached identities and tokens from before this time are revoked.',
  createdAt: '',
  seenOn: 'The day of its latest requests, in UTC. Absent: none yet.',
  isManaged: 'Whether this API created or changed it, so that it does not expire.',
}

export const settingsDescriptions: DescriptionsOf<typeof settingsFields> = {
  cloudEnabled: 'Whether cloud sync is on. Only the actions of `/api/sync/cloud` change it.',
  requireApiKey: 'Rejects model requests without a valid API key.',
  cloudUrl: 'The URL of the cloud proxy, without `/v1`; may be empty.',
  ...rules,
  limits: `Shared by all requests. ${limits}`,
  whenPriceUnknown: 'Skips or allows targets whose price is unknown when `usd` is limited. Default `skip`.',
  onStorageUnavailable:
    'Rejects or allows requests with a limit of that unit while the storage is unavailable. Default `refuse` for `usd` and `tokens`, `allow` for `requests` and `parallel`.',
  guards: 'Names of guards that check all model requests.',
  allowRequestModels:
    'Accepts requests with their own list of models in `x-signalbox-models`. Default `true`; with `false`, they fail with a 403.',
  showKeyValues:
    'Includes key values in `GET /api/keys`. Default `true`. With `false`, each key has a `hint` instead, as with `values=none`.',
  promptCaching: promptCaching,
  usage: 'How long to keep request records (default 30 days) and hourly totals (default 400).',
}

export const comboDescriptions: DescriptionsOf<typeof comboFields> = {
  id: 'The id of the combo. `put` accepts one of your choice.',
  name: 'The model name for clients: letters, digits, `-`, `_`, and `.`; unique among combos.',
  models: 'Listed models, aliases, or other combos, in order.',
  strategy: 'How the combo orders its models for a request; default `fallback`.',
  kind: 'Where the combo is listed; default `llm`.',
  on: 'Responses after which the next model is tried: `content`, if a content filter cut it off; `schema`, if it is not JSON that matches the request schema; `refused`, if a guard rejects it.',
  stickyLimit: stickyLimit,
  connectionStrategy: "The strategy for choosing among each provider's connections.",
  sameVectors:
    'Allows different models in a combo of kind `embedding` because their vectors are compatible. Default `false`.',
  retryAmbiguous:
    'Lets a combo of kind `image` try another target after a failure that may be billed, such as a timeout. Default `false`.',
  guards: 'Names of guards that check requests for models that lead to the combo.',
  hedge: 'Starts a second attempt if the first takes unusually long. Default `false`.',
  ...rules,
  source: definedInCode,
  createdAt: '',
  updatedAt: '',
}

export const connectionDescriptions: DescriptionsOf<typeof connectionFields> = {
  id: 'The id of the connection. `put` accepts one of your choice.',
  provider:
    'A provider in the catalog, a name that starts with `openai-compatible` or `anthropic-compatible`, or any other name with a `baseUrl`.',
  name: "Display name; default: the provider's.",
  apiKey: 'The credential. Responses only include its last four characters.',
  prices: `Prices by the model ids of the provider. ${prices}`,
  providerSpecificData:
    "Settings that differ from the provider's definition. `prefix`, `sharesPrefix`, `enabledModels`, `baseUrl`, and `format` are also accepted at the top level.",
  priority: 'Lower numbers are tried first; connections without one come last.',
  promptCaching: promptCaching,
  tags: 'Facts about its data handling, which `require` and `where` refer to, such as `{ "zdr": true }`. A change replaces all of them.',
  isActive: 'Whether the connection is active. A paused one gets no requests.',
  draining: 'Stops new requests; in-flight requests and existing sessions continue.',
  discover:
    'Queries the server once for its models, with or without a key, and stores them as `enabledModels`. The field itself is not stored.',
  source: definedInCode,
  createdAt: '',
  updatedAt: '',
}

/** Descriptions of the fields of `providerSpecificData` that are also accepted at the top level. */
export const topLevelDescriptions: Readonly<Record<(typeof topLevelFieldNames)[number], string>> = {
  baseUrl: "The base URL of the API, including the version; default: the provider's.",
  prefix: "The prefix of its model names; default: the provider's alias.",
  sharesPrefix: "Allows `prefix` to be another provider's name. Default `false`.",
  enabledModels: 'The ids of the models to list; default: all.',
  format: "The format of the API; default: the provider's.",
}

export const customModelDescriptions: DescriptionsOf<typeof customModelFields> = {
  providerAlias: "A provider's alias or id.",
  id: 'The id of the model at the provider.',
  type: 'The kind of model; default `llm`.',
  prices: `Its prices, unless a connection has its own. ${prices}`,
  source: definedInCode,
}

export const aliasDescriptions: DescriptionsOf<typeof aliasFields> = {
  alias: 'The name that clients use.',
  model: 'A listed model, another alias, or a combo.',
}

export const guardDescriptions: DescriptionsOf<typeof guardFields> = {
  name: 'Letters, digits, `-`, `_`, and `.`. Settings, groups, keys, and combos refer to it.',
  kind: 'The kind of guard, which decides which of the other options it has.',
  on: 'The texts that it checks: `request`, `answer`, or both, which is the default.',
  as: 'The response to a rejected request: `error` (default) returns a 400, `answer` a response without text and with a content-filter finish reason.',
  message: 'The message of a rejection. It must not repeat the content.',
  older:
    'A rejected text in an older turn: `remove` (default) replaces it with `[removed by policy]`, `refuse` rejects the request.',
  onError: 'If the guard fails: `refuse` (default) rejects the request with a 503, `pass` lets the content pass.',
  stage:
    '`during` calls the provider immediately and holds its response until the verdict; `before` (default) waits for the verdict first.',
  timeoutMs: 'How long a check may take, in ms. Default: 2,000; 5,000 if it calls a model.',
  mode: '`watch` records verdicts without enforcing them. Default `enforce`.',
  media: '`refuse` rejects images, audio, and files, which guards cannot read. Default `pass`.',
  remote: '`refuse` rejects media that a request names by URL or file ID. Default `pass`.',
  hold: 'How much of a stream to hold back: `window` (default) or `all` of it until its end.',
  maxMatch: 'The longest match in a stream, in characters. Default: 256.',
  action:
    'How `words`, `patterns`, `pii`, `secrets`, and `invisible` handle matches: `refuse`, `mask`, `replace`, or `remove`. Default `refuse`; for `invisible`, `remove`.',
  words: 'For `words`: words and phrases; `*` at an end matches the rest of a word.',
  patterns: 'For `patterns`: regular expressions in RE2 syntax. The gateway needs the package `re2js`.',
  flags: 'For `patterns`: `i` for any case, `m` for `^` and `$` at line breaks, `s` for `.` that matches line breaks.',
  types: 'For `pii`: the types of data; default: all.',
  maxCharacters: 'For `size`: the maximum number of characters in a request.',
  maxTurns: 'For `size`: the maximum number of messages.',
  maxTools: 'For `size`: the maximum number of tools.',
  maxMedia: 'For `size`: the maximum number of images, audio clips, and files.',
  allow: 'For `tools`: the tools that requests may offer; `*` at the end of a name matches the rest. Default: all.',
  deny: 'For `tools`: the tools that requests must not offer, and that responses must not call.',
  arguments:
    'For `tools`: a JSON Schema by the name of a tool. A call with arguments that do not match it is rejected. `pattern`, `format`, and `uniqueItems` are not supported.',
  hosted: 'For `tools`: `refuse` also rejects tools that a provider runs. Default `pass`.',
  model: 'For `moderation` and `judge`: the model that checks the texts. It can be an alias or a combo.',
  thresholds:
    'For `moderation`: the lowest score to reject, from 0 to 1, by category. Default: the flags of the model.',
  policy: 'For `judge`: the content to reject, in plain language. Not needed with the template `llama-guard`.',
  template:
    'For `judge`: the form of the prompt and the verdict for `llama-guard` or `gpt-oss-safeguard`. Default: one for any chat model.',
  prepend: 'For `change`: system text to add before the one of the client.',
  append: 'For `change`: system text to add after the one of the client.',
  set: 'For `change`: the parameters to set, whatever the client sends: `temperature`, `topP`, `maxTokens`.',
  max: 'For `change`: the maximum of these parameters. `maxTokens` also applies to requests without it.',
  providerHeaders:
    'For `change`: headers to add to calls to providers. `anthropic-` and `openai-` headers are only sent in these formats.',
  url: 'For `http`: the URL of your service.',
  headers:
    'For `http`: the headers to send to your service, such as `authorization`. Responses only contain the last four characters of each value. An update replaces all headers; a value sent back in this form stays the same.',
  changes: 'For `http`: whether the service may change texts.',
  allowPrivate: 'For `http`: whether the service may be on this machine or in a private network.',
  source: definedInCode,
  createdAt: '',
  updatedAt: '',
}

export const providerDescriptions: DescriptionsOf<typeof providerFields> = {
  provider: '',
  strategy: 'The strategy for choosing among its connections. Default: by priority.',
  stickyLimit: stickyLimit,
}
