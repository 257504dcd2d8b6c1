import { vendorForms, wireFormats } from '../unions.ts'
import type { comboFields } from './combo-fields.ts'
import type { connectionFields, topLevelMembers } from './connection-fields.ts'
import type { groupFields } from './group-fields.ts'
import type { keyFields } from './key-fields.ts'
import type { aliasFields, customModelFields, providerFields } from './model-fields.ts'
import type { SeenNames } from './record-fields.ts'
import type { settingsFields } from './settings-fields.ts'

/*
 * What the command says of the fields: its options and the columns of its tables. A field that is shown and has no line here does not compile;
 * `{}` says nothing, and the field is given by `--data`.
 */

/** What the command says of one field. */
export interface CommandWords {
  /** The place and the title of its column. */
  readonly column?: readonly [place: number, title: string]
  /** The options that give it, by their names. They come in the order of this file. */
  readonly options?: Readonly<Record<string, OptionWords>>
}

/** An option that gives a field. */
export interface OptionWords {
  readonly help: string
  /** A value as it may be given; of an option that takes one. */
  readonly example?: string
  /** What it gives, if it takes no value. */
  readonly value?: boolean
  /** Is its value the name of a variable of the environment that holds the field? */
  readonly isVariable?: true
}

type CommandWordsOf<F> = { readonly [N in SeenNames<F>]: CommandWords }

const paused = {
  active: { value: true, help: 'Resume it' },
  paused: { value: false, help: 'Pause it; resume it with --active' },
}

const rules = {
  health: {},
  maxAttempts: {
    options: { 'max-attempts': { help: 'Maximum attempts per request' } },
  },
  timeouts: {},
}

const metadata = { metadata: { example: 'team=ml', help: 'Metadata as name=value; repeatable' } }

const limits = {
  options: {
    limit: {
      example: 'usd.day=5',
      help: 'Limit, such as requests.minute=60 or parallel=4; repeatable; replaces all limits',
    },
  },
}

const allowed = {
  limits,
  models: {
    options: {
      model: { example: 'openai/*', help: 'Allowed model, combo, or alias; repeatable' },
    },
  },
  kinds: {
    options: { kind: { example: 'llm', help: 'Allowed kind of model, such as embedding; repeatable' } },
  },
}

export const keyCommandWords: CommandWordsOf<typeof keyFields> = {
  id: { column: [1, 'ID'] },
  name: { column: [2, 'NAME'], options: { name: { example: 'app', help: 'Name of the key' } } },
  isActive: { column: [3, 'STATE'], options: paused },
  key: { column: [4, 'KEY'] },
  createdAt: { column: [5, 'CREATED'] },
  metadata: { options: metadata },
  expiresAt: {
    options: { 'expires-at': { example: '2027-01-31T00:00:00Z', help: 'When the key expires, in ISO 8601' } },
  },
  ...allowed,
  group: {
    column: [6, 'GROUP'],
    options: { group: { example: 'team-a', help: 'Group the key belongs to, by ID or name' } },
  },
}

export const groupCommandWords: CommandWordsOf<typeof groupFields> = {
  id: { column: [1, 'ID'] },
  name: { column: [2, 'NAME'], options: { name: { example: "'Team A'", help: 'Name of the group' } } },
  isActive: { column: [3, 'STATE'], options: paused },
  createdAt: { column: [4, 'CREATED'] },
  metadata: { options: metadata },
  ...allowed,
}

export const settingsCommandWords: CommandWordsOf<typeof settingsFields> = {
  cloudEnabled: {},
  requireApiKey: {
    options: {
      'require-api-key': { value: true, help: 'Require an API key from clients' },
      'no-require-api-key': { value: false, help: 'Let clients connect without an API key' },
    },
  },
  cloudUrl: {
    options: { 'cloud-url': { example: 'https://cloud.example', help: 'URL of the cloud proxy' } },
  },
  ...rules,
  limits,
  whenPriceUnknown: {},
  onStorageUnavailable: {},
  allowRequestModels: {
    options: {
      'allow-request-models': { value: true, help: 'Accept requests with their own list of models' },
      'no-allow-request-models': { value: false, help: 'Reject requests with their own list of models' },
    },
  },
  showKeyValues: {
    options: {
      'show-key-values': { value: true, help: 'Include key values when the API lists keys' },
      'no-show-key-values': { value: false, help: 'Show a hint instead of each key value' },
    },
  },
  usage: {},
}

export const comboCommandWords: CommandWordsOf<typeof comboFields> = {
  id: { column: [1, 'ID'] },
  name: {
    column: [2, 'NAME'],
    options: { name: { example: 'fast', help: 'Name that clients use as the model' } },
  },
  models: {
    column: [5, 'MODELS'],
    options: { model: { example: 'openai/gpt-5-mini', help: 'Model in the combo; repeatable, in order' } },
  },
  strategy: {
    column: [4, 'STRATEGY'],
    options: {
      strategy: {
        example: 'round-robin',
        help: 'How models are ordered for each request; fallback keeps the given order',
      },
    },
  },
  kind: {
    column: [3, 'KIND'],
    options: { kind: { example: 'llm', help: 'Kind of models in the combo (default: llm)' } },
  },
  on: {},
  stickyLimit: {
    options: { 'sticky-limit': { help: 'Consecutive requests per model with round-robin' } },
  },
  connectionStrategy: {
    options: {
      'connection-strategy': { example: 'round-robin', help: 'How the connections of each provider are ordered' },
    },
  },
  hedge: {
    options: {
      hedge: { value: true, help: 'Start a second attempt when the first is slow' },
      'no-hedge': { value: false, help: "Don't start a second attempt" },
    },
  },
  sameVectors: {
    options: {
      'same-vectors': {
        value: true,
        help: 'Allow different embedding models because their vectors are interchangeable',
      },
      'no-same-vectors': { value: false, help: 'Reject different embedding models' },
    },
  },
  retryAmbiguous: {
    options: {
      'retry-ambiguous': { value: true, help: 'Retry even if a provider may already have generated the image' },
      'no-retry-ambiguous': { value: false, help: "Don't retry if a provider may already have generated the image" },
    },
  },
  ...rules,
  createdAt: {},
  updatedAt: {},
}

export const connectionCommandWords: CommandWordsOf<typeof connectionFields> = {
  id: { column: [1, 'ID'] },
  provider: {
    column: [2, 'PROVIDER'],
    options: { provider: { example: 'openai', help: 'Provider ID' } },
  },
  name: {
    column: [3, 'NAME'],
    options: { name: { example: 'app', help: 'Name of the connection' } },
  },
  apiKey: {
    column: [6, 'KEY'],
    options: {
      'api-key': { example: 'sk-…', help: 'API key; use - to read it from stdin' },
      'api-key-env': {
        example: 'OPENAI_API_KEY',
        help: 'Environment variable that contains the API key',
        isVariable: true,
      },
    },
  },
  prices: {},
  providerSpecificData: {},
  priority: {
    column: [5, 'PRIORITY'],
    options: { priority: { help: 'Lower numbers are tried first; connections without one are tried last' } },
  },
  isActive: { column: [4, 'STATE'], options: paused },
  draining: {
    options: {
      draining: { value: true, help: 'Send no new requests, but let in-flight ones finish' },
      'no-draining': { value: false, help: 'Send new requests again' },
    },
  },
  discover: {
    options: {
      discover: { value: true, help: 'Fetch the model list from the server' },
      'no-discover': {
        value: false,
        help: "Don't fetch it; by default, Signalbox fetches it only from self-hosted servers",
      },
    },
  },
  createdAt: {},
  updatedAt: {},
}

/** Of the members of `providerSpecificData` that may stand at the top level. */
export const topLevelCommandWords: Readonly<Record<(typeof topLevelMembers)[number], CommandWords>> = {
  baseUrl: {
    column: [2, 'BASE URL'],
    options: {
      'base-url': { example: 'http://10.0.0.5:8000/v1', help: 'Base URL of the API, including the version' },
    },
  },
  prefix: {
    column: [1, 'PREFIX'],
    options: { prefix: { example: 'lab', help: 'Prefix of its model names' } },
  },
  sharesPrefix: {
    options: {
      'shares-prefix': { value: true, help: "Allow a prefix that is another provider's name" },
      'no-shares-prefix': { value: false, help: "Don't allow it" },
    },
  },
  enabledModels: {
    options: { model: { example: 'gpt-5-mini', help: 'Model to list; repeatable (default: all)' } },
  },
  format: {
    options: {
      format: { example: 'openai-chat', help: `API format: ${[...wireFormats, ...vendorForms].join(', ')}` },
    },
  },
}

export const customModelCommandWords: CommandWordsOf<typeof customModelFields> = {
  providerAlias: {
    options: { provider: { example: 'openai', help: 'Alias or ID of its provider' } },
  },
  id: { options: { id: { example: 'gpt-5-mini', help: 'Model ID at the provider' } } },
  prices: {},
  type: {
    column: [1, 'TYPE'],
    options: { type: { example: 'embedding', help: 'Kind of model (default: llm)' } },
  },
}

export const aliasCommandWords: CommandWordsOf<typeof aliasFields> = {
  alias: { column: [1, 'ALIAS'], options: { name: { example: 'quick', help: 'Name of the alias' } } },
  model: {
    column: [2, 'MODEL'],
    options: { model: { example: 'openai/gpt-5-mini', help: 'Model or combo it points to' } },
  },
}

export const providerCommandWords: CommandWordsOf<typeof providerFields> = {
  provider: {},
  strategy: {
    column: [1, 'STRATEGY'],
    options: {
      strategy: { example: 'round-robin', help: 'How its connections are ordered; fallback uses their priority' },
    },
  },
  stickyLimit: { options: { 'sticky-limit': { help: 'Consecutive requests per connection with round-robin' } } },
}
