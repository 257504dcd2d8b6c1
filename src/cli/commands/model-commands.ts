import type { PublishedModel } from '../../admin/published-models.ts'
import type { Client } from '../../client/client.ts'
import { aliasCommandWords, customModelCommandWords } from '../../types/records/command-words.ts'
import { aliasFields, customModelFields } from '../../types/records/model-fields.ts'
import type { CustomModel } from '../../types.ts'
import { requireChange, usage } from '../command-line.ts'
import { problem } from '../problem.ts'
import { type ActionCall, type CliCommand, mergeWords, missing, printed, printedList } from './command.ts'
import { memberOptions, number, optionsThrough, text, withData } from './field-options.ts'
import { columnsOf } from './text-table.ts'

const aliasInput = {
  words: ['[alias]', '[model]'],
  fields: withData(optionsThrough('put', aliasFields, memberOptions(aliasFields, aliasCommandWords))),
}

/** The alias that an action was called with, and its record, made from the words and the options. */
function givenAlias({ words: [alias, model], input }: ActionCall) {
  const words = { ...(alias !== undefined && { alias }), ...(model !== undefined && { model }) }
  const record = mergeWords(words, { input, fields: aliasInput.fields })
  return { alias: 'alias' in record ? String(record.alias).trim() : '', record }
}

export const aliases = {
  help: 'Manage aliases for model names',
  actions: {
    list: {
      help: 'List all aliases',
      async run({ api }) {
        const body = await api.aliases.list()
        return printedList(body, {
          all: Object.entries(body.aliases).map(([alias, model]) => ({ alias, model })),
          columns: columnsOf(aliasCommandWords),
          none: 'There are no aliases yet. Create one: signalbox aliases create <alias> <model>',
        })
      },
    },
    create: {
      help: 'Create an alias; fails if it exists',
      ...aliasInput,
      async run(call) {
        const { alias, record } = givenAlias(call)
        if (Object.hasOwn((await call.api.aliases.list()).aliases, alias))
          throw problem(`The alias "${alias}" already exists. To change it, run: signalbox aliases update`)
        return printed(await call.api.aliases.set(record))
      },
    },
    update: {
      help: 'Point an alias at a different model',
      ...aliasInput,
      async run(call) {
        const { alias, record } = givenAlias(call)
        const known = (await call.api.aliases.list()).aliases
        if (!Object.hasOwn(known, alias)) throw missing('alias', alias, Object.keys(known))
        return printed(await call.api.aliases.set(record))
      },
    },
    delete: {
      help: 'Delete an alias',
      words: ['<alias>'],
      run: async ({ api, words: [alias = ''] }) => ({
        body: await api.aliases.delete(alias),
        text: `Deleted alias "${alias}".\n`,
      }),
    },
  },
} satisfies CliCommand

const nameOf = ({ providerAlias, id }: CustomModel) => `${providerAlias}/${id}`

async function meant(api: Client<unknown>, given = ''): Promise<CustomModel> {
  const { models: all } = await api.customModels.list()
  const found = all.find((model) => nameOf(model) === given)
  if (!found) throw missing('custom model', given, all.map(nameOf))
  return found
}

/** Parses `<provider>/<id>`, which the first slash divides. */
function givenModel(given: string | undefined): Partial<CustomModel> {
  if (given === undefined) return {}
  const slash = given.indexOf('/')
  if (slash < 1) throw usage(`"${given}" has no provider. Use <provider>/<id>, for example: openai/gpt-5-mini`)
  return { providerAlias: given.slice(0, slash), id: given.slice(slash + 1) }
}

const modelOptions = memberOptions(customModelFields, customModelCommandWords)
const customModelOptions = optionsThrough('create', customModelFields, modelOptions)

/** The prices but for those of tokens of text, such as `image 0.04`. */
function otherPrices({ price = {} }: PublishedModel): string | undefined {
  const { tiers = [], ...all } = price
  const others = Object.entries(all).filter(([of]) => of !== 'input' && of !== 'output' && !of.startsWith('cache'))
  const single = others.flatMap(([of, usd]) => (typeof usd === 'number' ? [[of, usd]] : Object.entries(usd))) // of images by size
  const ofLong = tiers.map(({ above, input, output }) => [`above ${above} tokens`, [input, output].join('/')])
  return [...single, ...ofLong].map(([of, usd]) => `${of} ${usd}`).join(', ') || undefined
}

/** What is published while no connection is active, which the listing shows as what could be. */
const NOT_CONNECTED =
  'No provider is connected, so these are the models in the built-in catalog. To use one, connect its provider, for example: signalbox connections create openai --api-key -'

export const models = {
  help: 'List the models clients can use, and manage custom models',
  notes: 'A <model> is <provider>/<id>. Clients can also use aliases (see "signalbox aliases").',
  actions: {
    list: {
      help: 'List the models clients can use, with prices in USD per million tokens or per unit',
      fields: {
        kind: text('kinds', 'image,tts', 'Only these kinds, or "all" (default: llm)'),
        q: text('q', 'gpt', 'Only models with this text in their name'),
        limit: number('limit', 'limit', 'Maximum number of models, 1 to 1000 (default: all)'),
        after: text('after', '<cursor>', 'Cursor printed at the end of the previous page'),
      },
      async run({ api, input }) {
        const query = { details: true, ...input }
        const [body, { connections }] = await Promise.all([api.models.published(query), api.connections.list()])
        const { data, after } = body
        const isOfKinds = data.some(({ kind }) => kind !== 'llm')
        const isConnected = connections.some(({ isActive }) => isActive !== false)
        const list = printedList(body, {
          all: data,
          columns: [
            ['MODEL', ({ id }) => id],
            ['OWNER', ({ owned_by }) => owned_by],
            ['KIND', ({ kind }) => (isOfKinds ? kind : undefined)],
            ['INPUT', ({ price }) => price?.input?.toString()],
            ['OUTPUT', ({ price }) => price?.output?.toString()],
            ['OTHER PRICES', otherPrices],
            ['PRICE SOURCE', ({ priceSource }) => (priceSource === 'catalog' ? undefined : priceSource)],
            ['CONTEXT', ({ contextWindow }) => contextWindow?.toString()],
          ],
          none:
            Object.keys(input).length > 0
              ? 'No matching models.'
              : 'No models yet. Add one to a connection: signalbox connections update <connection> --model <id>',
        })
        const text = after === undefined ? list.text : `${list.text}More: --after ${after}\n`
        return { ...list, text, ...(!isConnected && { warnings: [NOT_CONNECTED] }) }
      },
    },
    custom: {
      help: 'List all custom models',
      async run({ api }) {
        const body = await api.customModels.list()
        return printedList(body, {
          all: body.models,
          columns: [
            ['MODEL', nameOf],
            ...columnsOf<CustomModel>(customModelCommandWords, { type: ({ type = 'llm' }) => type }),
          ],
          none: 'There are no custom models yet. Create one: signalbox models create <provider>/<id>',
        })
      },
    },
    create: {
      help: 'Create a custom model',
      words: ['[model]'],
      fields: withData(customModelOptions),
      run: async ({ api, words: [model], input }) =>
        printed(await api.customModels.create(mergeWords(givenModel(model), { input, fields: customModelOptions }))),
    },
    update: {
      help: 'Recreate a custom model with the given values, at the end of the list',
      words: ['<model>'],
      fields: withData(Object.fromEntries(modelOptions.get('type') ?? [])),
      async run({ api, words: [model], input }) {
        requireChange(input)
        const before = await meant(api, model)
        await api.customModels.delete(before.providerAlias, before.id)
        try {
          return printed(await api.customModels.create({ ...before, ...input }))
        } catch (error) {
          await api.customModels.create(before) // a refused call changes nothing
          throw error
        }
      },
    },
    delete: {
      help: 'Delete a custom model',
      words: ['<model>'],
      async run({ api, words: [model] }) {
        const { providerAlias, id } = await meant(api, model)
        return { body: await api.customModels.delete(providerAlias, id), text: `Deleted custom model "${model}".\n` }
      },
    },
  },
} satisfies CliCommand
