import type { Provider } from '../../admin/providers.ts'
import type { Client } from '../../client/client.ts'
import type { DamagedRecord } from '../../records/stored-records.ts'
import type { ExplainedTarget, LeftOut } from '../../request/routing/explanation.ts'
import type { HealthEntry, TargetState } from '../../request/routing/health-entry.ts'
import { providerCommandWords } from '../../types/records/command-words.ts'
import { providerFields } from '../../types/records/model-fields.ts'
import { requireChange } from '../command-line.ts'
import { type CliCommand, idOf, missing, printed, printedList } from './command.ts'
import { memberOptions, optionsThrough, text, withData } from './field-options.ts'
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
  ['EXCLUDED BY', ({ unmet }) => unmet],
]

/** A table below its title; nothing when it has no lines. */
const titled = <T>(title: string, columns: readonly Column<T>[], all: readonly T[]): string =>
  all.length === 0 ? '' : `${title}\n${table(columns, all)}`

/** Blocks with a blank line between them, those that are empty left out. */
const blocks = (...all: string[]): string => all.filter((block) => block !== '').join('\n')

export const explain = {
  help: 'Show where a request would be routed, and why',
  notes: '<model> is a model from "signalbox models", an alias, or a combo.',
  actions: {
    '': {
      help: 'List the targets in the order they would be tried; no request is sent',
      words: ['<model>'],
      fields: withData({
        'key-id': text('keyId', 'app', 'API key of the request, by ID or name (default: none)'),
        path: text('path', '/v1/messages', 'Endpoint of the request (default: /v1/chat/completions)'),
      }),
      async run({ api, words: [model], input, explain: explained }) {
        const { keyId } = input
        const found =
          typeof keyId === 'string' &&
          keyId !== '' &&
          (await idOf(keyId, 'key', async () => (await api.keys.list()).keys))
        const body = await api.explain({ model, ...input, ...(found && { keyId: found }) })
        const { targets, leftOut, error } = body
        const refusal = error ? `A client would get a ${error.status}: ${explained(error.message)}\n` : ''
        return {
          body,
          text: blocks(
            targets.length > 0 ? table(targetColumns, targets) : '',
            titled('Excluded:', leftOutColumns, leftOut),
            refusal,
          ),
        }
      },
    },
  },
} satisfies CliCommand

export const info = {
  help: 'Show the version, runtime, storage, and record counts',
  actions: {
    '': {
      help: 'Print information about a running gateway',
      run: async ({ api }) => printed(await api.info()),
    },
  },
} satisfies CliCommand

const failureColumns: readonly Column<HealthEntry>[] = [
  ['LEVEL', ({ level }) => level],
  ['TARGET', ({ provider, model }) => (model === undefined ? provider : `${provider}/${model}`)],
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
  ['FAILED', ({ failureShare }) => (failureShare === undefined ? undefined : `${Math.round(failureShare * 100)}%`)],
]

const damageColumns: readonly Column<DamagedRecord>[] = [
  ['KEY', ({ key }) => key],
  ['PROBLEM', ({ problem }) => problem],
]

export const health = {
  help: 'Show failing targets, and repair damaged records',
  notes: '<connection> is an ID or a unique name. <record> is the storage key of a damaged record.',
  actions: {
    list: {
      help: 'List recent failures, the state of each target, and damaged records',
      async run({ api }) {
        const body = await api.health.list()
        const { health: failed, targets, damaged } = body
        return {
          body,
          text: blocks(
            failed.length > 0 ? titled('Recent failures:', failureColumns, failed) : 'No recent failures.\n',
            titled('Targets:', stateColumns, targets),
            titled('Damaged records:', damageColumns, damaged),
          ),
        }
      },
    },
    reset: {
      help: 'Reset the health of all targets, or of one connection',
      words: ['[connection]'],
      async run({ api, words: [given] }) {
        const all = async () => (await api.connections.list()).connections
        const id = given === undefined ? undefined : await idOf(given, 'connection', all)
        const what = given === undefined ? 'all targets' : `"${given}"`
        return { body: await api.health.reset(id), text: `Reset the health of ${what}.\n` }
      },
    },
    record: {
      help: 'Show the readable part of a damaged record',
      words: ['<record>'],
      run: async ({ api, words: [key = ''] }) => printed(await api.damagedRecords.get(key)),
    },
    repair: {
      help: 'Replace a damaged record with the complete record in --data',
      words: ['<record>'],
      fields: withData({}),
      async run({ api, words: [key = ''], input }) {
        requireChange(input)
        const body = await api.damagedRecords.put(key, { record: input })
        return { body, text: `Replaced record "${key}".\n` }
      },
    },
    remove: {
      help: 'Delete a damaged record',
      words: ['<record>'],
      run: async ({ api, words: [key = ''] }) => ({
        body: await api.damagedRecords.delete(key),
        text: `Deleted record "${key}".\n`,
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
  help: 'List built-in providers, and spread requests over their connections',
  notes:
    'To connect a provider: signalbox connections create <provider> --api-key -\nFor any other server, use --base-url and a provider name that starts with openai-compatible or\nanthropic-compatible.',
  actions: {
    list: {
      help: 'List all providers',
      async run({ api }) {
        const body = await api.providers.list()
        return printedList(body, { columns: providerColumns, all: body.providers, none: 'There are no providers.' })
      },
    },
    get: {
      help: 'Show a provider and its models',
      words: ['<provider>'],
      async run({ api, words: [id = ''] }) {
        const body = await withProvider(api, id, () => api.providers.get(id))
        return { body, text: shown(body) }
      },
    },
    update: {
      help: 'Set how requests are spread over the connections of a provider',
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
