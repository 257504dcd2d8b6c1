import { vendorForms, wireFormats } from '../unions.ts'
import type { comboFields } from './combos.ts'
import type { connectionFields, topLevelMembers } from './connections.ts'
import type { SeenNames } from './fields.ts'
import type { groupFields } from './groups.ts'
import type { keyFields } from './keys.ts'
import type { aliasFields, customModelFields, providerFields } from './models.ts'
import type { settingsFields } from './settings.ts'

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
  active: { value: true, help: 'Lets it be used again' },
  paused: { value: false, help: 'Keeps it from being used until --active' },
}

const rules = {
  health: {},
  maxAttempts: {
    options: { 'max-attempts': { help: 'Attempts for one request' } },
  },
  timeouts: {},
}

const metadata = { metadata: { example: 'team=ml', help: 'A text of yours, by name; several times for more' } }

const limits = {
  options: {
    limit: { example: 'usd.day=5', help: 'The most in a window, or parallel=4; several times; replaces all' },
  },
}

const allowed = {
  limits,
  models: {
    options: {
      model: { example: 'openai/*', help: 'A model, combo or alias that is allowed; several times for more' },
    },
  },
  kinds: {
    options: { kind: { example: 'llm', help: 'A kind of models that is allowed; several times for more' } },
  },
}

export const keyCommandWords: CommandWordsOf<typeof keyFields> = {
  id: { column: [1, 'ID'] },
  name: { column: [2, 'NAME'], options: { name: { example: 'app', help: 'Its name' } } },
  isActive: { column: [3, 'STATE'], options: paused },
  key: { column: [4, 'KEY'] },
  createdAt: { column: [5, 'CREATED'] },
  metadata: { options: metadata },
  expiresAt: {
    options: { 'expires-at': { example: '2027-01-31T00:00:00Z', help: 'The time from which it is refused' } },
  },
  ...allowed,
  group: {
    column: [6, 'GROUP'],
    options: { group: { example: 'team-a', help: 'The id of the group that it belongs to' } },
  },
}

export const groupCommandWords: CommandWordsOf<typeof groupFields> = {
  id: { column: [1, 'ID'] },
  name: { column: [2, 'NAME'], options: { name: { example: 'Team A', help: 'Its name' } } },
  isActive: { column: [3, 'STATE'], options: paused },
  createdAt: { column: [4, 'CREATED'] },
  metadata: { options: metadata },
  ...allowed,
}

export const settingsCommandWords: CommandWordsOf<typeof settingsFields> = {
  cloudEnabled: {},
  requireApiKey: {
    options: {
      'require-api-key': { value: true, help: 'Requires a key of clients' },
      'no-require-api-key': { value: false, help: 'Lets clients in without one' },
    },
  },
  cloudUrl: {
    options: { 'cloud-url': { example: 'https://cloud.example', help: 'The address of the cloud proxy' } },
  },
  ...rules,
  limits,
  unpriced: {},
  whenStoreIsAway: {},
  requestModels: {
    options: {
      'request-models': { value: true, help: 'Lets requests bring lists of models' },
      'no-request-models': { value: false, help: 'Refuses requests that bring lists of models' },
    },
  },
  usage: {},
}

export const comboCommandWords: CommandWordsOf<typeof comboFields> = {
  id: { column: [1, 'ID'] },
  name: {
    column: [2, 'NAME'],
    options: { name: { example: 'fast', help: 'Its name, by which clients request it' } },
  },
  models: {
    column: [5, 'MODELS'],
    options: { model: { example: 'openai/gpt-5-mini', help: 'A model of it; several times, in their order' } },
  },
  strategy: {
    column: [4, 'STRATEGY'],
    options: {
      strategy: { example: 'round-robin', help: 'The order of its models for a request; fallback keeps theirs' },
    },
  },
  kind: {
    column: [3, 'KIND'],
    options: { kind: { example: 'llm', help: 'Where it is listed' } },
  },
  on: {},
  stickyLimit: {
    options: { 'sticky-limit': { help: 'Requests in a row for each model of a round-robin' } },
  },
  connectionStrategy: {
    options: {
      'connection-strategy': { example: 'round-robin', help: 'The order of the connections of each provider' },
    },
  },
  hedge: {
    options: {
      hedge: { value: true, help: 'Starts a second attempt when the first is slow' },
      'no-hedge': { value: false, help: 'Starts none' },
    },
  },
  sameVectors: {
    options: {
      'same-vectors': { value: true, help: 'Lets embeddings of different models mix, as their vectors are the same' },
      'no-same-vectors': { value: false, help: 'Refuses different models' },
    },
  },
  retryAmbiguous: {
    options: {
      'retry-ambiguous': { value: true, help: 'Orders an image anew when the provider before may have made one' },
      'no-retry-ambiguous': { value: false, help: 'Orders no image twice' },
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
    options: { provider: { example: 'openai', help: 'The provider' } },
  },
  name: {
    column: [3, 'NAME'],
    options: { name: { example: 'app', help: 'Its name' } },
  },
  apiKey: {
    column: [6, 'KEY'],
    options: {
      'api-key': { example: 'sk-…', help: 'Its credential, a secret, by - from standard input' },
      'api-key-env': { example: 'OPENAI_API_KEY', help: 'The variable that holds its credential', isVariable: true },
    },
  },
  prices: {},
  providerSpecificData: {},
  priority: {
    column: [5, 'PRIORITY'],
    options: { priority: { help: 'Lower comes first, none comes last' } },
  },
  isActive: { column: [4, 'STATE'], options: paused },
  draining: {
    options: {
      draining: { value: true, help: 'Keeps new requests away; those under way go on' },
      'no-draining': { value: false, help: 'Lets new requests come again' },
    },
  },
  discover: {
    options: {
      discover: { value: true, help: 'Asks its server for its models, and lists them' },
      'no-discover': { value: false, help: 'Does not; a server of your own is asked by default' },
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
      'base-url': { example: 'http://10.0.0.5:8000/v1', help: 'The address of the provider, with its version' },
    },
  },
  prefix: {
    column: [1, 'PREFIX'],
    options: { prefix: { example: 'lab', help: 'What the names of its models begin with' } },
  },
  sharesPrefix: {
    options: {
      'shares-prefix': { value: true, help: 'Allows a prefix that is a name of another provider' },
      'no-shares-prefix': { value: false, help: 'Allows none' },
    },
  },
  enabledModels: {
    options: { model: { example: 'gpt-5-mini', help: 'A model to list; several times for more; without it all' } },
  },
  format: {
    options: {
      format: { example: 'openai-chat', help: `One of ${[...wireFormats, ...vendorForms].join(', ')}` },
    },
  },
}

export const customModelCommandWords: CommandWordsOf<typeof customModelFields> = {
  providerAlias: {
    options: { provider: { example: 'openai', help: 'The alias or id of its provider' } },
  },
  id: { options: { id: { example: 'gpt-5-mini', help: 'Its id at the provider' } } },
  prices: {},
  type: {
    column: [1, 'TYPE'],
    options: { type: { example: 'embedding', help: 'Where it is listed; without it llm' } },
  },
}

export const aliasCommandWords: CommandWordsOf<typeof aliasFields> = {
  alias: { column: [1, 'ALIAS'], options: { name: { example: 'quick', help: 'The alias' } } },
  model: {
    column: [2, 'MODEL'],
    options: { model: { example: 'openai/gpt-5-mini', help: 'The model or combo that it stands for' } },
  },
}

export const providerCommandWords: CommandWordsOf<typeof providerFields> = {
  provider: {},
  strategy: {
    column: [1, 'STRATEGY'],
    options: {
      strategy: { example: 'round-robin', help: 'The order of its connections; fallback is by their priority' },
    },
  },
  stickyLimit: { options: { 'sticky-limit': { help: 'Requests in a row for each under round-robin' } } },
}
