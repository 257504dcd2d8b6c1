import type { Mutex } from '../lib/promises.ts'
import { getCustomModelId } from '../records/record-collections.ts'
import type { AliasRecord } from '../records/store.ts'
import type { WritableStore } from '../records/writable-store.ts'
import { findCycle, formatCycle, isDirectModel } from '../request/routing/named-models.ts'
import type { RouteTable } from '../request/routing/route-table.ts'
import { aliasFields, customModelFields } from '../types/records/model-fields.ts'
import type { InputOf } from '../types/records/record-fields.ts'
import type { Combo, ComboModel, CustomModel } from '../types.ts'
import { createInputError, type OrUnset, parseInput, parsePut } from './input.ts'
import { listTokenPriceWarnings } from './price-warnings.ts'
import { findRecord, isSameJson, requirePresent, withChange } from './record-operations.ts'
import { createInputSchema } from './schemas.ts'
import { explainUnresolved, type WithWarnings, withWarnings } from './warnings.ts'

/** Model aliases. Methods take the typed input or `Input`, which is `never` for in-process calls and `unknown` for HTTP bodies. */
export interface AliasOperations<Input = never> {
  /** Model names by alias, in creation order. */
  list(): Promise<{ aliases: Record<string, string> }>
  /**
   * Creates or changes an alias. Writes nothing if nothing would change. Rejects with `INVALID_REQUEST` if the alias would resolve to itself. A combo
   * with the same name takes precedence. `warnings` explains why the alias doesn't resolve yet, and is absent if it does.
   */
  set(input: AliasRecord | Input): Promise<AliasRecord & WithWarnings>
  delete(alias: string): Promise<{ success: true }>
}

export const aliasInputs = { set: createInputSchema(aliasFields, 'put') }

/**
 * Creates the operations. `runInOrder` is shared with combos, because combos and aliases both affect how names resolve. `routes` returns the current
 * routing table.
 */
export function createAliasOperations({
  store,
  routes,
  runInOrder,
}: {
  store: WritableStore
  routes: () => Promise<RouteTable>
  runInOrder: Mutex
}): AliasOperations<unknown> {
  const { aliases } = store

  async function addWarnings(record: AliasRecord): Promise<AliasRecord & WithWarnings> {
    const table = await routes()
    const { model } = record
    const combo = table.findCombo(record.alias)
    if (combo?.entries.length === 0) return { ...record, warnings: [`The combo "${combo.name}" has no models.`] }
    const reason = explainUnresolved(model, table)
    return withWarnings(
      record,
      reason === undefined ? [] : [`The alias doesn't resolve yet: it points to "${model}", but ${reason}.`],
    )
  }

  return {
    list: async () => ({
      aliases: Object.fromEntries((await aliases.all()).map(({ alias, model }) => [alias, model])),
    }),

    async set(input) {
      const record = parseInput(aliasInputs.set, input)
      return runInOrder(async () => {
        const records = (await aliases.entries({ fresh: true })).map((entry) => entry.record)
        if (records.some(({ alias, model }) => alias === record.alias && model === record.model))
          return addWarnings(record)
        const otherAliases = records.filter(({ alias }) => alias !== record.alias)
        const cycle = findNamedCycle(record.alias, {
          combos: await store.combos.all(),
          aliases: [...otherAliases, record],
        })
        if (cycle) throw createInputError(`"model" must not lead back to the alias itself: ${formatCycle(cycle)}`)
        await aliases.upsert(record.alias, record)
        return addWarnings(record)
      })
    },

    delete: (name) =>
      runInOrder(async () => {
        const { id } = await findRecord(aliases, 'Alias', ({ alias }) => alias === name)
        requirePresent(await aliases.remove(id), 'Alias')
        return { success: true }
      }),
  }
}

/** The names that resolve to other names. */
export interface ResolvableNames {
  combos: readonly Combo[]
  aliases: readonly AliasRecord[]
}

/**
 * Finds the chain of names through which `start` resolves to itself; it begins and ends with `start`. As in routing, a combo takes precedence over an
 * alias with the same name.
 */
export function findNamedCycle(start: string, { combos, aliases }: ResolvableNames): string[] | undefined {
  const targetsByName = new Map<string, readonly string[]>()
  for (const { alias, model } of aliases)
    if (alias !== model || !isDirectModel(model)) targetsByName.set(alias, [model])
  for (const { name, models } of combos) targetsByName.set(name, models.map(getModelName))
  return findCycle(start, targetsByName)
}

/** Returns an entry's model name. */
export const getModelName = (entry: ComboModel) => (typeof entry === 'string' ? entry : entry.model)

/**
 * Models that aren't in the catalog. Methods take the typed input or `Input`, which is `never` for in-process calls and `unknown` for HTTP bodies.
 */
export interface CustomModelOperations<Input = never> {
  list(): Promise<{ models: CustomModel[] }>
  /** Rejects with `INVALID_REQUEST` if the model exists. `warnings` list prices that no request will use, or that are probably in another unit. */
  create(input: CustomModel | Input): Promise<CustomModel & WithWarnings>
  /**
   * Creates the model, or changes the given fields; `null` removes the prices. Writes nothing if nothing would change. Rejects with `INVALID_REQUEST`
   * if a field is `undefined`.
   */
  put(input: OrUnset<CustomModelPut> | Input): Promise<CustomModel & WithWarnings>
  delete(providerAlias: string, id: string): Promise<{ success: true }>
}

/** Input of `put`, which creates or changes a custom model. */
export interface CustomModelPut extends InputOf<typeof customModelFields, 'put'> {}

export const customModelInputs = {
  create: createInputSchema(customModelFields, 'create'),
  put: createInputSchema(customModelFields, 'put'),
}

export function createCustomModelOperations({
  store: { customModels },
  routes,
}: {
  store: WritableStore
  routes: () => Promise<RouteTable>
}): CustomModelOperations<unknown> {
  /** Adds warnings. Never rejects, because the model has been written. */
  async function addWarnings(model: CustomModel): Promise<CustomModel & WithWarnings> {
    const { providerAlias, id, prices } = model
    const name = `${providerAlias}/${id.trim()}`
    if (!prices) return model
    const reason = await routes().then(
      (table) => explainUnresolved(name, table),
      () => undefined,
    )
    return withWarnings(model, [
      ...(reason === undefined ? [] : [`"prices" of "${name}": the model doesn't resolve yet because ${reason}.`]),
      ...listTokenPriceWarnings(prices, `"prices" of "${name}"`),
    ])
  }

  return {
    list: async () => ({ models: (await customModels.all()).map((model) => ({ ...model })) }),

    async create(input) {
      const model = parseInput(customModelInputs.create, input)
      if (!(await customModels.insert(getCustomModelId(model), model))) {
        throw createInputError(`The custom model "${model.providerAlias}/${model.id}" already exists`)
      }
      return addWarnings(model)
    },

    async put(input) {
      const model = parsePut(customModelInputs.put, input)
      const id = getCustomModelId(model)
      const storedModel = await customModels.get(id)
      const changedModel = withChange({ ...storedModel }, model)
      if (!storedModel || !isSameJson(storedModel, changedModel)) await customModels.upsert(id, changedModel)
      return addWarnings(changedModel)
    },

    async delete(providerAlias, id) {
      const isRequested = (model: CustomModel) => model.providerAlias === providerAlias && model.id === id
      const foundEntry = await findRecord(customModels, 'Custom model', isRequested)
      requirePresent(await customModels.remove(foundEntry.id), 'Custom model')
      return { success: true }
    },
  }
}
