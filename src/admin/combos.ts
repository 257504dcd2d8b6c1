import { gatewayError, isGatewayError } from '../errors.ts'
import type { Mutex } from '../lib/promises.ts'
import { createComboRecords } from '../records/combo-records.ts'
import { readRules } from '../records/readings.ts'
import { retryOnConflict } from '../records/storage-access.ts'
import type { WritableStore } from '../records/writable-store.ts'
import { createNamedModels, formatCycle, reachesModel } from '../request/routing/named-models.ts'
import { findVectorProblem } from '../request/routing/one-model.ts'
import type { RoundRobin } from '../request/routing/round-robin.ts'
import { getComboLabel, type RouteTable } from '../request/routing/route-table.ts'
import { comboFields } from '../types/records/combo-fields.ts'
import type { InputOf } from '../types/records/record-fields.ts'
import type { Clock, Combo } from '../types.ts'
import { findParamsIndex } from './combo-entry.ts'
import { requireGuards } from './guard-names.ts'
import { createInputError, type OrUnset, parseInput, parsePut } from './input.ts'
import { findNamedCycle, getModelName, type ResolvableNames } from './models.ts'
import { getTimestamp, isSameJson, pickOutputFields, requirePresent, withChange } from './record-operations.ts'
import { createInputSchema, listNestedFields } from './schemas.ts'
import { listComboWarnings, type WithWarnings, withWarnings } from './warnings.ts'

/**
 * Combos (src/rules.md, Rotation of combos). Methods take the typed input or `Input`, which is `never` for in-process calls and `unknown` for HTTP
 * bodies.
 */
export interface ComboOperations<Input = never> {
  list(): Promise<{ combos: Combo[] }>
  get(id: string): Promise<Combo>
  /**
   * Rejects with `NAME_TAKEN`, `NAME_INVALID`, or `INVALID_REQUEST`. `strategy` defaults to `fallback`. Like the other changes, it returns `warnings`
   * about models that don't resolve to a connection yet. If all do, `warnings` is absent.
   */
  create(input: NewCombo | Input): Promise<Combo & WithWarnings>
  /** Changes the given fields; an empty `name` is treated as omitted. Resets the rotation even if nothing changes. */
  update(id: string, input: ComboChange | Input): Promise<Combo & WithWarnings>
  /**
   * Creates the combo with this `id`, or this `name` if there is no ID. If it exists, changes the given fields. Writes and resets nothing if nothing
   * would change, so you can call it at every start. Rejects with `INVALID_REQUEST` if a field is `undefined`.
   */
  put(input: OrUnset<ComboPut> | Input): Promise<Combo & WithWarnings>
  delete(id: string): Promise<{ success: true }>
}

/** Input to create a combo; see `Combo` for its fields and defaults. */
export interface NewCombo extends InputOf<typeof comboFields, 'create'> {}

/** A change to a combo; omitted fields stay the same, `null` removes a field. */
export interface ComboChange extends InputOf<typeof comboFields, 'update'> {}

/** Input of `put`, which creates or changes a combo; a new combo needs `models`. */
export interface ComboPut extends InputOf<typeof comboFields, 'put'> {}

export const comboInputs = {
  create: createInputSchema(comboFields, 'create'),
  update: createInputSchema(comboFields, 'update', { ignoredFields: ['warnings'] }),
  put: createInputSchema(comboFields, 'put'),
}

const nestedFields = listNestedFields(comboFields)

/** The longest name that fits in every storage's keys. */
const MAX_NAME_LENGTH = 512

interface WriterDependencies {
  store: WritableStore
  clock: Clock
  rotation: Pick<RoundRobin, 'reset'>
}

interface ComboDependencies extends WriterDependencies {
  /** Returns the current routing table, which resolves model names. */
  routes(): Promise<RouteTable>
  /** Shared with aliases, because combos and aliases both affect how names resolve. */
  runInOrder: Mutex
}

export function createComboOperations({ routes, runInOrder, ...deps }: ComboDependencies): ComboOperations<unknown> {
  const { store } = deps
  const writer = new ComboWriter(deps)

  async function showWithWarnings(storedCombo: Combo): Promise<Combo & WithWarnings> {
    const combo = showCombo(storedCombo)
    return withWarnings(combo, listComboWarnings(combo.models.map(getModelName), combo.kind, await routes()))
  }

  return {
    list: async () => ({ combos: (await store.combos.all()).map(showCombo) }),

    async get(id) {
      const hasId = (combo: Combo) => combo.id === id
      const existingCombo = (await store.combos.all()).find(hasId)
      if (existingCombo) return showCombo(existingCombo)
      await store.combos.entries({ fresh: true }) // another process may have just created the combo
      return showCombo(requirePresent((await store.combos.all()).find(hasId), 'Combo'))
    },

    async create(input) {
      const combo = parseInput(comboInputs.create, input, nestedFields)
      requireName(combo.name)
      await requireGuards(store, combo)
      return showWithWarnings(await runInOrder(() => writer.add(crypto.randomUUID(), combo)))
    },

    async update(id, input) {
      const { name, id: sentId = id, ...changes } = parseInput(comboInputs.update, input, nestedFields)
      if (name) requireName(name)
      if (sentId !== id) throw createInputError('"id" cannot be changed; omit it')
      await requireGuards(store, changes)
      return showWithWarnings(await runInOrder(() => writer.change(id, { ...changes, ...(name && { name }) })))
    },

    async put(input) {
      const fields = parsePut(comboInputs.put, input, nestedFields)
      requireName(fields.name)
      await requireGuards(store, fields)
      return showWithWarnings(await runInOrder(() => retryOnConflict(() => writer.tryPut(fields))))
    },

    delete: (id) =>
      runInOrder(async () => {
        await writer.remove(id)
        return { success: true }
      }),
  }
}

/** Writes combos, and resets their rotation positions. */
class ComboWriter {
  readonly #deps: WriterDependencies
  readonly #records: ReturnType<typeof createComboRecords>

  constructor(deps: WriterDependencies) {
    this.#deps = deps
    this.#records = createComboRecords(deps.store.combos)
  }

  async add(id: string, input: NewCombo, options?: { replacesDamaged?: boolean }): Promise<Combo> {
    const { store, clock, rotation } = this.#deps
    const { name, models, strategy = 'fallback', ...rest } = input
    const aliases = await store.aliases.all()
    const now = getTimestamp(clock)
    const combo = { id, name, ...rest, models, strategy, createdAt: now, updatedAt: now }
    const checkNames = (otherCombos: readonly Combo[]) => {
      requireFreeName(combo, otherCombos)
      rejectParamsUnlessChat(combo)
      const names = { combos: [...otherCombos, combo], aliases }
      requireNoCycle(combo, names)
      requireCompatibleVectors(combo, names)
    }
    await this.#records.add(combo, checkNames, options)
    await rotation.reset(getComboLabel(name)) // an instance that missed a deletion may have kept the old position
    return combo
  }

  async change(id: string, { name, ...changes }: Omit<ComboChange, 'id'>): Promise<Combo> {
    const { store, clock, rotation } = this.#deps
    const aliases = await store.aliases.all()
    const { before, after } = await this.#records.change(id, {
      check: (currentCombos) => name && requireFreeName({ id, name }, currentCombos),
      edit(combo, currentCombos) {
        const changedCombo = withChange(combo, { ...changes, name: name ?? combo.name, updatedAt: getTimestamp(clock) })
        rejectParamsUnlessChat(changedCombo)
        const combos = currentCombos.map((other) => (other.id === id ? changedCombo : other))
        if (changes.models || changedCombo.name !== combo.name) requireNoCycle(changedCombo, { combos, aliases })
        requireCompatibleVectors(changedCombo, { combos, aliases })
        return changedCombo
      },
    })
    await rotation.reset(getComboLabel(before.name))
    if (after.name !== before.name) await rotation.reset(getComboLabel(after.name))
    return after
  }

  /** Creates or changes a combo. Resolves to `false` if another process has just created one with this name. */
  async tryPut({ id, ...fields }: ComboPut): Promise<Combo | false> {
    const { combos } = this.#deps.store
    await combos.entries({ fresh: true })
    const existingCombo = (await combos.all()).find((combo) =>
      id === undefined ? combo.name === fields.name : combo.id === id,
    )
    if (existingCombo) {
      const isUnchanged = isSameJson(showCombo(existingCombo), showCombo(withChange(existingCombo, fields)))
      return isUnchanged ? existingCombo : this.change(existingCombo.id, fields)
    }
    const combo = parseInput(comboInputs.create, withChange({}, fields))
    return this.add(id ?? crypto.randomUUID(), combo, { replacesDamaged: true }).catch((error: unknown) => {
      if (id === undefined && isGatewayError(error, 'NAME_TAKEN')) return false
      throw error
    })
  }

  async remove(id: string): Promise<void> {
    const { name } = requirePresent(await this.#records.remove(id), 'Combo')
    await this.#deps.rotation.reset(getComboLabel(name))
  }
}

function requireName(name: string): void {
  if (name === '') throw createInputError('"name" is required and must not be blank')
  if (!/^[a-zA-Z0-9_.-]+$/.test(name)) throw gatewayError('NAME_INVALID')
  if (name.length > MAX_NAME_LENGTH)
    throw createInputError(`"name" must not be longer than ${MAX_NAME_LENGTH} characters`)
}

function requireFreeName(combo: Pick<Combo, 'id' | 'name'>, existingCombos: readonly Combo[]): void {
  if (existingCombos.some(({ id, name }) => name === combo.name && id !== combo.id)) throw gatewayError('NAME_TAKEN')
}

function rejectParamsUnlessChat({ kind = 'llm', models }: Pick<Combo, 'kind' | 'models'>): void {
  const index = kind === 'llm' ? -1 : findParamsIndex(models)
  if (index >= 0) throw createInputError(`"models[${index}].params" is only for chat combos ("kind": "llm"); omit it`)
}

function requireNoCycle({ name, models }: Pick<Combo, 'name' | 'models'>, names: ResolvableNames): void {
  const cycle = findNamedCycle(name, names)
  if (!cycle) return
  const index = models.findIndex((entry) => getModelName(entry) === cycle[1])
  const path = formatCycle(cycle)
  throw createInputError(
    `"models[${index}]" must not lead back to the combo itself (${path}). Remove it or use another model`,
  )
}

/** Rejects a change that would make this combo, or one that contains it, mix vectors from two models. */
function requireCompatibleVectors(changedCombo: Combo, { combos, aliases }: ResolvableNames): void {
  const names = createNamedModels(combos, aliases)
  for (const combo of combos) {
    const entries = combo.models.map(getModelName)
    if (
      combo.kind !== 'embedding' ||
      !(combo.id === changedCombo.id || reachesModel(entries, changedCombo.name, names))
    )
      continue
    const problem = findVectorProblem(combo, names)
    if (problem === undefined) continue
    const location = combo.id === changedCombo.id ? '' : ` in the combo "${combo.name}", which includes this one`
    throw createInputError(`"models" must all be the same embedding model${location}: ${problem}`)
  }
}

/** Returns the combo as the API shows it, with only the valid parts of its stored rules. */
function showCombo(combo: Combo): Combo {
  const { health, maxAttempts, timeouts, ...rest } = combo
  return pickOutputFields(comboFields, { ...rest, ...readRules(combo) })
}
