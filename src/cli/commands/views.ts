import type { Client } from '../../client/client.ts'
import type { Provider } from '../../management/providers.ts'
import type { ExplainedTarget, LeftOut } from '../../routing/explanation.ts'
import type { HealthEntry, TargetState } from '../../routing/health-entry.ts'
import type { DamagedRecord } from '../../store/stored-records.ts'
import { providerCommandWords } from '../../types/records/command-words.ts'
import { providerFields } from '../../types/records/models.ts'
import { requireChange } from '../arguments.ts'
import { type CliCommand, idOf, missing, printed, printedList } from './command.ts'
import { memberOptions, optionsThrough, text, withData } from './fields.ts'
import { type Column, columnsOf, details, table } from './text-table.ts'

const targetColumns: readonly Column<ExplainedTarget>[] = [
  ['USE', ({ use }) => use],
  ['TARGET', ({ provider, model }) => `${provider}/${model}`],
  ['CONNECTION', ({ connection }) => connection],
  ['VIA', ({ via }) => via],
  ['WHY', ({ why }) => why],
]

const leftOutColumns: readonly Column<LeftOut>[] = [
  ['COMBO', ({ combo }) => combo],
  ['MODEL', ({ model }) => model],
  ['LEFT OUT BY', ({ unmet }) => unmet],
]

/** A table below its title; nothing when it has no lines. */
const titled = <T>(title: string, columns: readonly Column<T>[], all: readonly T[]): string =>
  all.length === 0 ? '' : `${title}\n${table(columns, all)}`

/** Blocks with a blank line between them, those that are empty left out. */
const blocks = (...all: string[]): string => all.filter((block) => block !== '').join('\n')

export const explain = {
  help: 'Where a request would go now, and why; nothing is sent',
  notes: '<model> is a model of `signalbox models`, an alias or a combo.',
  actions: {
    '': {
      help: 'The targets in the order in which they would be tried',
      words: ['<model>'],
      fields: withData({
        'key-id': text('keyId', 'app', 'The id of the API key that it comes with; default: none'),
        path: text('path', '/v1/messages', 'The endpoint of the request; default /v1/chat/completions'),
      }),
      async run({ api, words: [model], input, explain: explained }) {
        const body = await api.explain({ model, ...input })
        const { targets, leftOut, error } = body
        const refusal = error ? `A client would get ${error.status}: ${explained(error.message)}\n` : ''
        return {
          body,
          text: blocks(
            targets.length > 0 ? table(targetColumns, targets) : '',
            titled('Left out:', leftOutColumns, leftOut),
            refusal,
          ),
        }
      },
    },
  },
} satisfies CliCommand

export const info = {
  help: 'The version of a running gateway, its runtime and storage, and how many records it has',
  actions: {
    '': {
      help: 'What the gateway is, and what is going on',
      run: async ({ api }) => printed(await api.info()),
    },
  },
} satisfies CliCommand

const failureColumns: readonly Column<HealthEntry>[] = [
  ['LEVEL', ({ level }) => level],
  ['OF', ({ provider, model }) => (model === undefined ? provider : `${provider}/${model}`)],
  ['COMBO', ({ combo }) => combo],
  ['STATE', ({ state }) => state],
  ['REASON', ({ reason }) => reason],
  ['FAILURES', ({ failures }) => String(failures)],
  ['UNTIL', ({ retryAt }) => retryAt],
  ['MESSAGE', ({ message }) => message],
]

const stateColumns: readonly Column<TargetState>[] = [
  ['TARGET', ({ provider, model }) => (model === undefined ? provider : `${provider}/${model}`)],
  ['CONNECTION', ({ connectionId }) => connectionId],
  ['COMBO', ({ combo }) => combo],
  ['STATE', ({ state }) => state],
  ['CALLS', ({ calls }) => String(calls)],
  ['FAILED', ({ failureShare }) => (failureShare === undefined ? undefined : `${Math.round(failureShare * 100)} %`)],
]

const damageColumns: readonly Column<DamagedRecord>[] = [
  ['KEY', ({ key }) => key],
  ['PROBLEM', ({ problem }) => problem],
]

export const health = {
  help: 'What has failed lately, and the damaged records',
  notes: '<connection> is an id, or a name that only one connection has. <record> is the key of a damaged record.',
  actions: {
    list: {
      help: 'What has failed, the state of each target, and the damaged records',
      async run({ api }) {
        const body = await api.health.list()
        const { health: failed, targets, damaged } = body
        return {
          body,
          text: blocks(
            failed.length > 0 ? titled('Failed lately:', failureColumns, failed) : 'Nothing has failed lately.\n',
            titled('Targets:', stateColumns, targets),
            titled('Damaged records:', damageColumns, damaged),
          ),
        }
      },
    },
    reset: {
      help: 'Forgets all failures, or those of one connection',
      words: ['[connection]'],
      async run({ api, words: [given] }) {
        const all = async () => (await api.connections.list()).connections
        const id = given === undefined ? undefined : await idOf(given, 'connection', all)
        const what = given === undefined ? 'All failures' : `The failures of "${given}"`
        return { body: await api.health.reset(id), text: `${what} are forgotten.\n` }
      },
    },
    record: {
      help: 'A damaged record, as far as it can be read',
      words: ['<record>'],
      run: async ({ api, words: [key = ''] }) => printed(await api.damagedRecords.get(key)),
    },
    repair: {
      help: 'Replaces a damaged record by the one of --data, which is given whole',
      words: ['<record>'],
      fields: withData({}),
      async run({ api, words: [key = ''], input }) {
        requireChange(input)
        const body = await api.damagedRecords.put(key, { record: input })
        return { body, text: `The record "${key}" is replaced.\n` }
      },
    },
    remove: {
      help: 'Removes a damaged record',
      words: ['<record>'],
      run: async ({ api, words: [key = ''] }) => ({
        body: await api.damagedRecords.delete(key),
        text: `The record "${key}" is removed.\n`,
      }),
    },
  },
} satisfies CliCommand

const providerColumns: readonly Column<Provider>[] = [
  ['ID', ({ id }) => id],
  ['NAME', ({ name }) => name],
  ['PREFIX', ({ id, alias }) => (alias === id ? undefined : alias)],
  ['MODELS', ({ models = [] }) => String(models.length)],
  ['FORMAT', ({ format }) => format],
  ...columnsOf<Provider>(providerCommandWords),
]

/** A provider that the command was given; of one that is not known the nearest is named. */
async function withProvider<T>(api: Client<unknown>, given: string, work: () => Promise<T>): Promise<T> {
  return work().catch(async (error: unknown) => {
    if (!(error instanceof Error && 'status' in error && error.status === 404)) throw error
    throw missing(
      'provider',
      given,
      (await api.providers.list()).providers.map(({ id }) => id),
    )
  })
}

/** A provider with the ids of its models alone: what else is known of them is in `--json`. */
const shown = ({ models = [], ...provider }: Provider) =>
  details({ ...provider, models: models.map(({ id }) => id).join(', ') })

export const providers = {
  help: 'The providers that need no address, and how requests are spread over the connections of each',
  notes:
    'To connect one: signalbox connections create <provider> --api-key - . For any other server: --base-url and a provider that begins with openai-compatible or anthropic-compatible.',
  actions: {
    list: {
      help: 'All providers',
      async run({ api }) {
        const body = await api.providers.list()
        return printedList(body, { columns: providerColumns, all: body.providers, none: 'There are no providers.' })
      },
    },
    get: {
      help: 'One provider with its models',
      words: ['<provider>'],
      async run({ api, words: [id = ''] }) {
        const body = await withProvider(api, id, () => api.providers.get(id))
        return { body, text: shown(body) }
      },
    },
    update: {
      help: 'Sets how requests are spread over the connections of a provider',
      words: ['<provider>'],
      fields: withData(optionsThrough('update', providerFields, memberOptions(providerFields, providerCommandWords))),
      async run({ api, words: [id = ''], input }) {
        requireChange(input)
        const body = await withProvider(api, id, () => api.providers.update(id, input))
        return { body, text: shown(body) }
      },
    },
  },
} satisfies CliCommand
