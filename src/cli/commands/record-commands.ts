import type { ShownConnection } from '../../admin/connections.ts'
import type { ShownGroup } from '../../admin/groups.ts'
import type { HintedKey } from '../../admin/key-listing.ts'
import type { ShownKey } from '../../admin/keys.ts'
import type { Warned } from '../../admin/warnings.ts'
import type { Client } from '../../client/client.ts'
import { comboFields } from '../../types/records/combo-fields.ts'
import {
  comboCommandWords,
  connectionCommandWords,
  groupCommandWords,
  keyCommandWords,
  settingsCommandWords,
  topLevelCommandWords,
} from '../../types/records/command-words.ts'
import { connectionFields, dataMembers } from '../../types/records/connection-fields.ts'
import { groupFields } from '../../types/records/group-fields.ts'
import { keyFields } from '../../types/records/key-fields.ts'
import type { Door } from '../../types/records/record-fields.ts'
import { settingsFields } from '../../types/records/settings-fields.ts'
import type { Combo, ProviderSpecificData } from '../../types.ts'
import { requireChange } from '../command-line.ts'
import {
  type ActionCall,
  type CliCommand,
  idOf,
  mergeWords,
  type NamedRecord,
  type Printed,
  printed,
  printedList,
} from './command.ts'
import { type Field, memberOptions, number, optionsThrough, text, withData } from './field-options.ts'
import { limitActions, limitsOf } from './limit-actions.ts'
import { type Column, columnsOf } from './text-table.ts'

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

function recordCommand<T extends NamedRecord>(kind: RecordActions<T>) {
  const { help, noun, columns, operations } = kind
  const word = [`<${noun}>`]
  const meant = ({ api, words: [given = ''] }: ActionCall) =>
    idOf(given, noun, async () => (await operations(api).list()).all)
  return {
    help,
    notes: `<${noun}> is an ID or a unique name.`,
    actions: {
      list: {
        help: `List all ${noun}s`,
        async run({ api }) {
          const { body, all } = await operations(api).list()
          const words = kind.words.join(' ').replace(/\[([^[\]]*)\]/g, '<$1>')
          const none = `There are no ${noun}s yet. Create one: signalbox ${noun}s create ${words}`
          return printedList(body, { columns, all, none })
        },
      },
      get: {
        help: `Show all details of a ${noun}`,
        words: word,
        run: async (call) => operations(call.api).get(await meant(call)),
      },
      create: {
        help: `Create a ${noun}`,
        words: kind.words,
        fields: withData(kind.create),
        run: ({ api, words, input }) =>
          operations(api).create(mergeWords(kind.inputOf(words), { input, fields: kind.create })),
      },
      update: {
        help: `Update the given fields of a ${noun}`,
        words: word,
        fields: withData(kind.update),
        async run(call) {
          requireChange(call.input)
          return operations(call.api).update(await meant(call), call.input)
        },
      },
      delete: {
        help: `Delete a ${noun}`,
        words: word,
        run: async (call) => ({
          body: await operations(call.api).delete(await meant(call)),
          text: `Deleted ${noun} "${call.words[0]}".\n`,
        }),
      },
    },
  } satisfies CliCommand
}

const stateOf = ({ isActive, draining }: { isActive?: boolean; draining?: boolean }) =>
  isActive === false ? 'paused' : draining ? 'draining' : 'active'

/** The end of a key, by which it is recognised. */
const ending = (key: string) => `…${key.slice(-4)}`

const keyOptions = memberOptions(keyFields, keyCommandWords)

/** A key with or without its value. */
type ListedKey = Partial<Pick<ShownKey, 'key'>> & Omit<ShownKey, 'key'> & Partial<Pick<HintedKey, 'hint'>>

const keyColumns: readonly Column<ListedKey>[] = [
  ...columnsOf<ListedKey>(keyCommandWords, {
    isActive: stateOf,
    key: ({ key, hint }) => hint ?? (key && ending(key)),
  }),
  ['PROBLEM', ({ error }) => error],
]

/** Replaces the name of a group in the input of a key with its id. */
async function resolveGroup(api: Client<unknown>['groups'], input: object): Promise<object> {
  if (!('group' in input) || typeof input.group !== 'string' || input.group.trim() === '') return input
  return { ...input, group: await idOf(input.group, 'group', async () => (await api.list()).groups) }
}

const keyRecords = recordCommand<ListedKey>({
  help: 'Manage API keys',
  noun: 'key',
  columns: keyColumns,
  words: ['[name]'],
  inputOf: ([given]) => (given === undefined ? {} : { name: given }),
  create: optionsThrough('create', keyFields, keyOptions),
  update: optionsThrough('update', keyFields, keyOptions),
  operations: ({ keys: api, groups }) => ({
    async list() {
      const body = await api.list()
      return { body, all: body.keys }
    },
    async get(id) {
      const body = await api.get(id)
      return printed(body, body.key)
    },
    create: async (input) => printed(await api.create(await resolveGroup(groups, input))),
    async update(id, input) {
      const body = await api.update(id, await resolveGroup(groups, input))
      return printed(body, { ...body.key, key: ending(body.key.key), warnings: body.warnings })
    },
    delete: (id) => api.delete(id),
  }),
})

export const keys = {
  ...keyRecords,
  actions: {
    ...keyRecords.actions,
    list: {
      ...keyRecords.actions.list,
      fields: {
        search: text('q', 'app', 'Only keys with this text in their name or ID'),
        limit: number('limit', 'limit', 'Maximum number of keys, 1 to 1000 (default: all)'),
        after: text('after', '<cursor>', 'Cursor printed at the end of the previous page'),
        values: text('values', 'all', 'Include key values in --json output: all or none (default: none)'),
      },
      async run(call) {
        if (Object.keys(call.input).length === 0) return keyRecords.actions.list.run(call)
        const body = await call.api.keys.list(call.input)
        const shown = printedList(body, { columns: keyColumns, all: body.keys, none: 'No matching keys.' })
        return body.after === undefined ? shown : { ...shown, text: `${shown.text}More: --after ${body.after}\n` }
      },
    },
    rotate: {
      help: 'Replace the value of a key, and print the new one',
      words: ['<key>'],
      fields: {
        'grace-ms': number('grace-ms', 'graceMs', 'How long the old value keeps working, in milliseconds (default: 0)'),
      },
      run: async ({ api, words: [given = ''], input }) => {
        const id = await idOf(given, 'key', async () => (await api.keys.list()).keys)
        return printed(await api.keys.rotate(id, input))
      },
    },
    ...limitActions('<key>', ({ api, words: [given = ''] }) =>
      idOf(given, 'key', async () => (await api.keys.list()).keys).then((id) => limitsOf(api.keys.limits, id)),
    ),
  },
} satisfies CliCommand

const groupOptions = memberOptions(groupFields, groupCommandWords)

const groupRecords = recordCommand<ShownGroup>({
  help: 'Manage groups of keys that share limits',
  noun: 'group',
  columns: [...columnsOf<ShownGroup>(groupCommandWords, { isActive: stateOf }), ['PROBLEM', ({ error }) => error]],
  words: ['[name]'],
  inputOf: ([given]) => (given === undefined ? {} : { name: given }),
  create: optionsThrough('create', groupFields, groupOptions),
  update: optionsThrough('update', groupFields, groupOptions),
  operations: ({ groups: api }) => ({
    async list() {
      const body = await api.list()
      return { body, all: body.groups }
    },
    get: async (id) => printed(await api.get(id)),
    create: async (input) => printed(await api.create(input)),
    update: async (id, input) => printed(await api.update(id, input)),
    delete: (id) => api.delete(id),
  }),
})

export const groups = {
  ...groupRecords,
  actions: {
    ...groupRecords.actions,
    ...limitActions('<group>', ({ api, words: [given = ''] }) =>
      idOf(given, 'group', async () => (await api.groups.list()).groups).then((id) => limitsOf(api.groups.limits, id)),
    ),
  },
} satisfies CliCommand

const connectionOptions = memberOptions(connectionFields, connectionCommandWords)
const topLevelOptions = [...memberOptions(dataMembers, topLevelCommandWords).values()].flat()

/** The options of a connection; those of its settings come after its credential. */
function accountOptions(door: Door): Record<string, Field> {
  const options = Object.entries(optionsThrough(door, connectionFields, connectionOptions))
  const at = options.findIndex(([name]) => name === 'priority')
  return Object.fromEntries([...options.slice(0, at), ...topLevelOptions, ...options.slice(at)])
}

const account = accountOptions('update')

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

const topLevelColumns = columnsOf<ProviderSpecificData>(topLevelCommandWords).map(
  ([title, of]): Column<ShownConnection> => [title, ({ providerSpecificData = {} }) => of(providerSpecificData)],
)

const connectionRecords = recordCommand<ShownConnection>({
  help: 'Manage your accounts with providers',
  noun: 'connection',
  columns: [
    ...columnsOf<ShownConnection>(connectionCommandWords, { isActive: stateOf }),
    ...topLevelColumns,
    ['FAILING', ({ health }) => health && `${health.length} (see signalbox connections get)`],
    ['PROBLEM', ({ error }) => error],
  ],
  words: ['[provider]'],
  inputOf: ([provider]) => (provider === undefined ? {} : { provider }),
  create: accountOptions('create'),
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

export const connections = {
  ...connectionRecords,
  actions: {
    ...connectionRecords.actions,
    discover: {
      help: "Fetch the model list from the connection's server and save it",
      words: ['<connection>'],
      async run({ api, words: [given = ''] }) {
        const id = await idOf(given, 'connection', async () => (await api.connections.list()).connections)
        return printedConnection(await api.connections.discover(id))
      },
    },
    test: {
      help: 'Send a small test request, limited to 16 output tokens',
      words: ['<connection>'],
      fields: {
        model: text('model', 'gpt-5-mini', 'ID of the model to test (default: one that the connection lists)'),
      },
      async run({ api, words: [given = ''], input }) {
        const id = await idOf(given, 'connection', async () => (await api.connections.list()).connections)
        return printed(await api.connections.test(id, input))
      },
    },
  },
} satisfies CliCommand

const comboOptions = memberOptions(comboFields, comboCommandWords)

export const combos = recordCommand<Combo>({
  help: 'Manage combos (virtual models with a routing strategy)',
  noun: 'combo',
  columns: columnsOf<Combo>(comboCommandWords, {
    kind: ({ kind = 'llm' }) => kind,
    models: ({ models }) => models.map(entryText).join(', '),
  }),
  words: ['[name]', '[model...]'],
  inputOf: ([given, ...models]) => ({
    ...(given !== undefined && { name: given }),
    ...(models.length > 0 && { models }),
  }),
  create: optionsThrough('create', comboFields, comboOptions),
  update: optionsThrough('update', comboFields, comboOptions),
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

export const settings = {
  help: "Show and change the gateway's settings",
  actions: {
    list: {
      help: 'Show all settings',
      run: async ({ api }) => printed(await api.settings.get()),
    },
    update: {
      help: 'Update the given settings',
      fields: withData(optionsThrough('update', settingsFields, memberOptions(settingsFields, settingsCommandWords))),
      async run({ api, input }) {
        requireChange(input)
        return printed(await api.settings.update(input))
      },
    },
    ...limitActions(undefined, async ({ api }) => api.settings.limits),
  },
} satisfies CliCommand
