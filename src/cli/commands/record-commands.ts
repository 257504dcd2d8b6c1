import type { Client } from '../../client/client.ts'
import { wireFormats } from '../../lib/unions.ts'
import type { ShownConnection } from '../../management/connections.ts'
import type { ShownKey } from '../../management/keys.ts'
import type { Warned } from '../../management/warnings.ts'
import type { Combo } from '../../types.ts'
import { requireChange } from '../arguments.ts'
import {
  type ActionCall,
  type CliCommand,
  idOf,
  type NamedRecord,
  type Printed,
  printed,
  printedList,
} from './command.ts'
import { type Field, flag, number, secret, secretIn, text, texts, withData } from './fields.ts'
import type { Column } from './text-table.ts'

/** The differences between the commands for keys, connections and combos. */
interface RecordActions<T extends NamedRecord> {
  help: string
  /** The name of a record, in the singular. */
  noun: string
  columns: readonly Column<T>[]
  /** The words that `create` takes, and the function that makes an input of them. */
  words: readonly string[]
  inputOf(words: readonly string[]): object
  create: Readonly<Record<string, Field>>
  update: Readonly<Record<string, Field>>
  operations(api: Client<unknown>): Operations<T>
}

/** The operations on records of one kind. Those on a single record resolve to its output. */
interface Operations<T> {
  list(): Promise<{ body: object; all: readonly T[] }>
  get(id: string): Promise<Printed>
  create(input: object): Promise<Printed>
  update(id: string, input: object): Promise<Printed>
  delete(id: string): Promise<object>
}

function recordCommand<T extends NamedRecord>(kind: RecordActions<T>): CliCommand {
  const { help, noun, columns, operations } = kind
  const word = [`<${noun}>`]
  const meant = ({ api, words: [given = ''] }: ActionCall) =>
    idOf(given, noun, async () => (await operations(api).list()).all)
  return {
    help,
    notes: `<${noun}> is an id, or a name that only one ${noun} has.`,
    actions: {
      list: {
        help: `All ${noun}s`,
        async run({ api }) {
          const { body, all } = await operations(api).list()
          const words = kind.words.join(' ').replace(/\[([^[\]]*)\]/g, '<$1>')
          const none = `There are no ${noun}s. Make one: signalbox ${noun}s create ${words}`
          return printedList(body, { columns, all, none })
        },
      },
      get: {
        help: `One ${noun}, with all that is known of it`,
        words: word,
        run: async (call) => operations(call.api).get(await meant(call)),
      },
      create: {
        help: `Makes a ${noun}`,
        words: kind.words,
        fields: withData(kind.create),
        run: ({ api, words, input }) => operations(api).create({ ...kind.inputOf(words), ...input }),
      },
      update: {
        help: 'Changes what is given, and nothing else',
        words: word,
        fields: withData(kind.update),
        async run(call) {
          requireChange(call.input)
          return operations(call.api).update(await meant(call), call.input)
        },
      },
      delete: {
        help: `Deletes a ${noun}`,
        words: word,
        run: async (call) => ({
          body: await operations(call.api).delete(await meant(call)),
          text: `The ${noun} "${call.words[0]}" is deleted.\n`,
        }),
      },
    },
  }
}

const name = text('name', 'app', 'Its name')
const active = flag('isActive', true, 'Lets it be used again')
const paused = flag('isActive', false, 'Keeps it from being used until --active')

const stateOf = ({ isActive, draining }: { isActive?: boolean; draining?: boolean }) =>
  isActive === false ? 'paused' : draining ? 'draining' : 'active'

/** The end of a key, by which it is recognised. */
const ending = (key: string) => `…${key.slice(-4)}`

export const keys = recordCommand<ShownKey>({
  help: 'The API keys of clients',
  noun: 'key',
  columns: [
    ['ID', ({ id }) => id],
    ['NAME', (key) => key.name],
    ['STATE', stateOf],
    ['KEY', ({ key }) => key && ending(key)],
    ['CREATED', ({ createdAt }) => createdAt],
    ['PROBLEM', ({ error }) => error],
  ],
  words: ['[name]'],
  inputOf: ([given]) => (given === undefined ? {} : { name: given }),
  create: { name },
  update: { name, active, paused },
  operations: ({ keys: api }) => ({
    async list() {
      const body = await api.list()
      return { body, all: body.keys }
    },
    async get(id) {
      const body = await api.get(id)
      return printed(body, body.key)
    },
    create: async (input) => printed(await api.create(input)),
    async update(id, input) {
      const body = await api.update(id, input)
      return printed(body, { ...body.key, key: ending(body.key.key) })
    },
    delete: (id) => api.delete(id),
  }),
})

const account = {
  name,
  'api-key': secret('apiKey', 'sk-…', 'Its credential, a secret, by - from standard input'),
  'api-key-env': secretIn('apiKey', 'OPENAI_API_KEY', 'The variable that holds its credential'),
  'base-url': text('baseUrl', 'http://10.0.0.5:8000/v1', 'The address of the provider, with its version'),
  prefix: text('prefix', 'lab', 'What the names of its models begin with'),
  'shares-prefix': flag('sharesPrefix', true, 'Allows a prefix that is a name of another provider'),
  'no-shares-prefix': flag('sharesPrefix', false, 'Allows none'),
  model: texts('enabledModels', 'gpt-5-mini', 'A model to list; several times for more; without it all'),
  format: text('format', 'openai-chat', `One of ${wireFormats.join(', ')}`),
  priority: number('priority', 'priority', 'Lower comes first, none comes last'),
  active,
  paused,
  draining: flag('draining', true, 'Keeps new requests away; those under way go on'),
  'no-draining': flag('draining', false, 'Lets new requests come again'),
  discover: flag('discover', true, 'Asks its server for its models, and lists them'),
  'no-discover': flag('discover', false, 'Does not; a server of your own is asked by default'),
}

/** What is printed of a connection. Its warnings name the members of the API, for which there are options. */
function printedConnection(connection: ShownConnection): Printed {
  const { warnings, ...others } = printed(connection)
  const inOptions = (warning: string) =>
    warning.replace(/"(\w+)"(?:: true)?/g, (quoted, member) => {
      const [option] = Object.entries(account).find(([, field]) => field.member === member) ?? []
      return option === undefined ? quoted : `--${option}`
    })
  return { ...others, ...(warnings && { warnings: warnings.map(inOptions) }) }
}

/** The members of a change that decide which server is asked, and how. */
const ADDRESS = ['provider', 'baseUrl', 'apiKey', 'format', 'providerSpecificData']

/**
 * A connection that was made or changed by `input`. Its server is asked for its models where the listing does not ask it, of which the gateway
 * warns by naming "discover", unless `input` says whether to.
 */
async function withModels(api: Client<unknown>, input: object, connection: ShownConnection & Warned): Promise<Printed> {
  const isUnasked = connection.warnings?.some((warning) => warning.includes('"discover"'))
  const asks = isUnasked && !('discover' in input) && ADDRESS.some((member) => member in input)
  return printedConnection(asks ? await api.connections.discover(connection.id) : connection)
}

const connectionRecords = recordCommand<ShownConnection>({
  help: 'The accounts at providers',
  noun: 'connection',
  columns: [
    ['ID', ({ id }) => id],
    ['PROVIDER', ({ provider }) => provider],
    ['NAME', (connection) => connection.name],
    ['STATE', stateOf],
    ['PRIORITY', ({ priority }) => priority?.toString()],
    ['KEY', ({ apiKey }) => apiKey],
    ['PREFIX', ({ providerSpecificData }) => providerSpecificData?.prefix],
    ['BASE URL', ({ providerSpecificData }) => providerSpecificData?.baseUrl],
    ['FAILING', ({ health }) => health && `${health.length} (see signalbox connections get)`],
    ['PROBLEM', ({ error }) => error],
  ],
  words: ['[provider]'],
  inputOf: ([provider]) => (provider === undefined ? {} : { provider }),
  create: { provider: text('provider', 'openai', 'The provider'), ...account },
  update: account,
  operations: (api) => ({
    async list() {
      const body = await api.connections.list()
      return { body, all: body.connections }
    },
    get: async (id) => printed(await api.connections.get(id)),
    create: async (input) => withModels(api, input, await api.connections.create(input)),
    update: async (id, input) => withModels(api, input, await api.connections.update(id, input)),
    delete: (id) => api.connections.delete(id),
  }),
})

export const connections: CliCommand = {
  ...connectionRecords,
  actions: {
    ...connectionRecords.actions,
    discover: {
      help: 'Asks the server of a connection for its models, and lists them from then on',
      words: ['<connection>'],
      async run({ api, words: [given = ''] }) {
        const id = await idOf(given, 'connection', async () => (await api.connections.list()).connections)
        return printedConnection(await api.connections.discover(id))
      },
    },
  },
}

const group = {
  name: text('name', 'fast', 'Its name, under which clients ask for it'),
  model: texts('models', 'openai/gpt-5-mini', 'A model of it; several times, in their order'),
  strategy: text('strategy', 'round-robin', 'The order of its models for a request; fallback keeps theirs'),
  kind: text('kind', 'llm', 'Where it is listed'),
  'sticky-limit': number('sticky-limit', 'stickyLimit', 'Requests in a row for each model of a round-robin'),
  'connection-strategy': text('connectionStrategy', 'round-robin', 'The order of the connections of each provider'),
  hedge: flag('hedge', true, 'Starts a second attempt when the first is slow'),
  'no-hedge': flag('hedge', false, 'Starts none'),
  'max-attempts': number('max-attempts', 'maxAttempts', 'Attempts for one request'),
}

export const combos = recordCommand<Combo>({
  help: 'Named groups of models',
  noun: 'combo',
  columns: [
    ['ID', ({ id }) => id],
    ['NAME', (combo) => combo.name],
    ['KIND', ({ kind = 'llm' }) => kind],
    ['STRATEGY', ({ strategy }) => strategy],
    ['MODELS', ({ models }) => models.map(entryText).join(', ')],
  ],
  words: ['[name]', '[model...]'],
  inputOf: ([given, ...models]) => ({
    ...(given !== undefined && { name: given }),
    ...(models.length > 0 && { models }),
  }),
  create: group,
  update: group,
  operations: ({ combos: api }) => ({
    async list() {
      const body = await api.list()
      return { body, all: body.combos }
    },
    get: async (id) => printed(await api.get(id)),
    create: async (input) => printed(await api.create(input)),
    update: async (id, input) => printed(await api.update(id, input)),
    delete: (id) => api.delete(id),
  }),
})

function entryText(entry: string | { model: string; weight?: number; when?: object }): string {
  if (typeof entry === 'string') return entry
  const { model, weight, when } = entry
  const rules = [...(weight === undefined ? [] : [`weight ${weight}`]), ...(when ? ['conditional'] : [])]
  return rules.length > 0 ? `${model} (${rules.join(', ')})` : model
}

export const settings: CliCommand = {
  help: 'The settings of the gateway',
  actions: {
    list: {
      help: 'All settings',
      run: async ({ api }) => printed(await api.settings.get()),
    },
    update: {
      help: 'Changes what is given, and nothing else',
      fields: withData({
        'require-api-key': flag('requireApiKey', true, 'Requires a key of clients'),
        'no-require-api-key': flag('requireApiKey', false, 'Lets clients in without one'),
        'cloud-url': text('cloudUrl', 'https://cloud.example', 'The address of the cloud proxy'),
        'max-attempts': number('max-attempts', 'maxAttempts', 'Attempts for one request'),
      }),
      async run({ api, input }) {
        requireChange(input)
        return printed(await api.settings.update(input))
      },
    },
  },
}
