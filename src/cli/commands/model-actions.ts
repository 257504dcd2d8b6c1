import type { PublishedModel } from '../../admin/published-models.ts'
import type { Client } from '../../client/client.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { CustomModel } from '../../types.ts'
import { createUsageProblem } from '../command-line.ts'
import { createProblem } from '../problem.ts'
import { createMissingProblem } from './command.ts'
import type { ActionDetails } from './operation-action.ts'
import type { FieldColumn } from './text-table.ts'

/** Formats all prices except those for text tokens, such as `image 0.04`. */
function formatOtherPrices({ price = {} }: PublishedModel): string | undefined {
  const { tiers = [], ...all } = price
  const others = Object.entries(all).filter(
    ([unit]) => unit !== 'input' && unit !== 'output' && !unit.startsWith('cache'),
  )
  const single = others.flatMap(([unit, usd]) => (typeof usd === 'number' ? [[unit, usd]] : Object.entries(usd))) // image prices by size
  const longPrices = tiers.map(({ above, input, output }) => [`above ${above} tokens`, [input, output].join('/')])
  return [...single, ...longPrices].map(([unit, usd]) => `${unit} ${usd}`).join(', ') || undefined
}

/** Shown if there is no active connection. The list then contains the models that could be used. */
const NOT_CONNECTED_MESSAGE =
  'No provider is connected, so these are the models in the built-in catalog. To use one, connect its provider, for example: signalbox connections create openai --api-key -'

const formatName = ({ providerAlias, id }: CustomModel) => `${providerAlias}/${id}`

async function findModel(api: Client<unknown>, name = ''): Promise<CustomModel> {
  const { models } = await api.customModels.list()
  const found = models.find((model) => formatName(model) === name)
  if (!found) throw createMissingProblem('custom model', name, models.map(formatName))
  return found
}

/** Splits `<provider>/<id>` at its first slash. */
function parseModel([name]: readonly string[]): JsonObject {
  if (name === undefined) return {}
  const slash = name.indexOf('/')
  if (slash < 1)
    throw createUsageProblem(`"${name}" has no provider. Use <provider>/<id>, for example: openai/gpt-5-mini`)
  return { providerAlias: name.slice(0, slash), id: name.slice(slash + 1) }
}

export const modelActions = {
  list: {
    help: 'List the models clients can use, with prices in USD per million tokens or per unit',
    hides: ['details'],
    async run({ api, input }, { perform, format }) {
      const [body, { connections }] = await Promise.all([perform({ details: true, ...input }), api.connections.list()])
      const isConnected = connections.some(({ isActive }) => isActive !== false)
      return { ...(await format(body)), ...(!isConnected && { warnings: [NOT_CONNECTED_MESSAGE] }) }
    },
    columns: [
      ['MODEL', ({ id }) => id],
      ['OWNER', ({ owned_by }) => owned_by],
      ['KIND', ({ kind }) => (kind === 'llm' ? undefined : kind)],
      ['INPUT', ({ price }) => price?.input?.toString()],
      ['OUTPUT', ({ price }) => price?.output?.toString()],
      ['OTHER PRICES', formatOtherPrices],
      ['PRICE SOURCE', ({ priceSource }) => (priceSource === 'catalog' ? undefined : priceSource)],
      ['CONTEXT', ({ contextWindow }) => contextWindow?.toString()],
    ] satisfies FieldColumn<PublishedModel>[],
  },
  custom: {
    columns: [
      ['MODEL', formatName],
      ['TYPE', ({ type = 'llm' }) => type],
    ] satisfies FieldColumn<CustomModel>[],
    none: 'There are no custom models yet. Create one: signalbox models create <provider>/<id>',
  },
  create: { usage: ['[model]'], parseWords: parseModel },
  update: {
    operation: 'customModels.put',
    help: 'Change a custom model',
    usage: ['<model>'],
    hides: ['id', 'providerAlias'],
    async run({ api, words: [name], input }, { perform, format }) {
      const { providerAlias, id } = await findModel(api, name)
      return format(await perform({ providerAlias, id, ...input }))
    },
  },
  delete: {
    noun: 'model',
    usage: ['<model>'],
    async findPath({ api, words: [name] }) {
      const { providerAlias, id } = await findModel(api, name)
      return [providerAlias, id]
    },
  },
} satisfies Record<string, ActionDetails & { operation?: string }>

export const aliasActions = {
  list: {
    rows: ({ aliases }: { aliases: object }) => Object.entries(aliases).map(([alias, model]) => ({ alias, model })),
    columns: ['alias', 'model'],
  },
  create: {
    operation: 'aliases.set',
    help: 'Create an alias; fails if it exists',
    words: ['alias', 'model'],
    async run({ api, input }, { perform, format }) {
      const alias = String(input.alias ?? '').trim()
      if (Object.hasOwn((await api.aliases.list()).aliases, alias))
        throw createProblem(`The alias "${alias}" already exists. To change it, run: signalbox aliases update`)
      return format(await perform())
    },
  },
  update: {
    help: 'Point an alias at a different model',
    words: ['alias', 'model'],
    async run({ api, input }, { perform, format }) {
      const alias = String(input.alias ?? '').trim()
      const aliases = (await api.aliases.list()).aliases
      if (!Object.hasOwn(aliases, alias)) throw createMissingProblem('alias', alias, Object.keys(aliases))
      return format(await perform())
    },
  },
} satisfies Record<string, ActionDetails & { operation?: string }>
