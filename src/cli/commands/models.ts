import type { Client } from '../../client/client.ts'
import type { PublishedModel } from '../../management/published-models.ts'
import { aliasCommandWords, customModelCommandWords } from '../../types/records/command-words.ts'
import { aliasFields, customModelFields } from '../../types/records/models.ts'
import type { CustomModel } from '../../types.ts'
import { requireChange, usage } from '../arguments.ts'
import { problem } from '../problem.ts'
import { type ActionCall, type CliCommand, missing, printed, printedList } from './command.ts'
import { memberOptions, number, optionsThrough, text, withData } from './fields.ts'
import { columnsOf } from './text-table.ts'

const aliasInput = {
  words: ['[alias]', '[model]'],
  fields: withData(optionsThrough('put', aliasFields, memberOptions(aliasFields, aliasCommandWords))),
}

/** The alias that an action was called with, and its record, made from the words and the options. */
function givenAlias({ words: [alias, model], input }: ActionCall) {
  const record = { ...(alias !== undefined && { alias }), ...(model !== undefined && { model }), ...input }
  return { alias: 'alias' in record ? String(record.alias).trim() : '', record }
}

export const aliases = {
  help: 'Other names for models',
  actions: {
    list: {
      help: 'All aliases',
      async run({ api }) {
        const body = await api.aliases.list()
        return printedList(body, {
          all: Object.entries(body.aliases).map(([alias, model]) => ({ alias, model })),
          columns: columnsOf(aliasCommandWords),
          none: 'There are no aliases. Make one: signalbox aliases create <alias> <model>',
        })
      },
    },
    create: {
      help: 'Makes an alias; one that exists stays as it is',
      ...aliasInput,
      async run(call) {
        const { alias, record } = givenAlias(call)
        if (Object.hasOwn((await call.api.aliases.list()).aliases, alias))
          throw problem(`The alias "${alias}" exists. To change it: signalbox aliases update.`)
        return printed(await call.api.aliases.set(record))
      },
    },
    update: {
      help: 'Has an alias stand for another model',
      ...aliasInput,
      async run(call) {
        const { alias, record } = givenAlias(call)
        const known = (await call.api.aliases.list()).aliases
        if (!Object.hasOwn(known, alias)) throw missing('alias', alias, Object.keys(known))
        return printed(await call.api.aliases.set(record))
      },
    },
    delete: {
      help: 'Deletes an alias',
      words: ['<alias>'],
      run: async ({ api, words: [alias = ''] }) => ({
        body: await api.aliases.delete(alias),
        text: `The alias "${alias}" is deleted.\n`,
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
  if (slash < 1) throw usage(`"${given}" has no provider. Give it as <provider>/<id>, as in openai/gpt-5-mini.`)
  return { providerAlias: given.slice(0, slash), id: given.slice(slash + 1) }
}

const modelOptions = memberOptions(customModelFields, customModelCommandWords)

/** The prices but for those of tokens of text, such as `image 0.04`. */
function otherPrices({ price = {} }: PublishedModel): string | undefined {
  const others = Object.entries(price).filter(([of]) => of !== 'input' && of !== 'output' && !of.startsWith('cache'))
  const single = others.flatMap(([of, usd]) => (typeof usd === 'number' ? [[of, usd]] : Object.entries(usd))) // of images by size
  return single.map(([of, usd]) => `${of} ${usd}`).join(', ') || undefined
}

/** What is published while no connection is active, which the listing shows as what could be. */
const NOT_CONNECTED =
  'No provider is connected: these are the models of the built-in catalog. Each can be requested once its provider is connected, as in signalbox connections create openai --api-key -'

export const models = {
  help: 'What clients can ask for, and the custom models, which the catalog does not have',
  notes: 'A <model> is <provider>/<id>. Clients can ask for the names of signalbox aliases, too.',
  actions: {
    list: {
      help: 'All that clients can ask for, with prices in US dollars: tokens by the million, everything else each',
      fields: {
        kind: text('kinds', 'image,tts', 'Only those of these kinds, or "all"; default llm'),
        q: text('q', 'gpt', 'Only those that have this text in their name'),
        limit: number('limit', 'limit', 'The most models to print, 1 to 1000; default all'),
        after: text('after', '<cursor>', 'Begins after a page: the cursor that it ended with'),
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
            ['OF', ({ owned_by }) => owned_by],
            ['KIND', ({ kind }) => (isOfKinds ? kind : undefined)],
            ['INPUT', ({ price }) => price?.input?.toString()],
            ['OUTPUT', ({ price }) => price?.output?.toString()],
            ['OTHER PRICES', otherPrices],
            ['PRICE FROM', ({ priceSource }) => (priceSource === 'catalog' ? undefined : priceSource)],
            ['WINDOW', ({ contextWindow }) => contextWindow?.toString()],
          ],
          none:
            Object.keys(input).length > 0
              ? 'There are no such models.'
              : 'Nothing is published. Name models of a connection: signalbox connections update <connection> --model <id>',
        })
        const text = after === undefined ? list.text : `${list.text}There are more: --after ${after}\n`
        return { ...list, text, ...(!isConnected && { warnings: [NOT_CONNECTED] }) }
      },
    },
    custom: {
      help: 'All custom models',
      async run({ api }) {
        const body = await api.customModels.list()
        return printedList(body, {
          all: body.models,
          columns: [
            ['MODEL', nameOf],
            ...columnsOf<CustomModel>(customModelCommandWords, { type: ({ type = 'llm' }) => type }),
          ],
          none: 'There are no custom models. Make one: signalbox models create <provider>/<id>',
        })
      },
    },
    create: {
      help: 'Makes a custom model',
      words: ['[model]'],
      fields: withData(optionsThrough('create', customModelFields, modelOptions)),
      run: async ({ api, words: [model], input }) =>
        printed(await api.customModels.create({ ...givenModel(model), ...input })),
    },
    update: {
      help: 'Makes a custom model anew with what is given; it becomes the last of the list',
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
      help: 'Deletes a custom model',
      words: ['<model>'],
      async run({ api, words: [model] }) {
        const { providerAlias, id } = await meant(api, model)
        return { body: await api.customModels.delete(providerAlias, id), text: `The model "${model}" is deleted.\n` }
      },
    },
  },
} satisfies CliCommand
