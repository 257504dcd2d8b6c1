import * as v from 'valibot'
import { gatewayError } from '../errors.ts'
import { isObject } from '../lib/json.ts'
import type { Mutex } from '../lib/mutex.ts'
import type { Rotation } from '../routing/rotation.ts'
import type { Store } from '../store/store.ts'
import type { Clock, Combo, ComboModel, Kind, Strategy } from '../types.ts'
import { createComboRecords } from './combo-records.ts'
import { findCycle, type Names } from './cycle.ts'
import { fields } from './fields.ts'
import { present } from './find.ts'
import { closed, invalidInput, parseInput } from './input.ts'
import { timestamp } from './time.ts'

/** Named model groupings (spec.md, Combos). `Input` is what methods take besides the typed input: nothing, or `unknown`. */
export interface ComboOperations<Input = never> {
  list(): Promise<{ combos: Combo[] }>
  get(id: string): Promise<Combo>
  /** `strategy` is `fallback` unless given. */
  create(input: NewCombo | Input): Promise<Combo>
  /** An empty `name` counts as absent. Resets the rotation also when nothing changes. */
  update(id: string, input: Partial<Combo> | Input): Promise<Combo>
  delete(id: string): Promise<{ success: true }>
}

export interface NewCombo {
  /** Letters, digits, `_`, `.` and `-`; unique. */
  name: string
  models: ComboModel[]
  strategy?: Strategy
  kind?: Kind
}

/** The rule of spec.md comes first; this only keeps names storable. */
const MAX_NAME = 512

const WEIGHT = 'must be a number from 0 to 1000'

const weightedModel = v.pipe(
  closed({
    model: fields.model,
    weight: v.optional(v.pipe(v.number(WEIGHT), v.minValue(0, WEIGHT), v.maxValue(1_000, WEIGHT))),
  }),
  v.transform(({ model, weight }): ComboModel => (weight === undefined ? { model } : { model, weight })),
)
const comboModel = v.lazy((input) => (isObject(input) ? weightedModel : fields.modelOrObject))
const models = v.pipe(
  v.array(comboModel, 'must be a list of model names'),
  v.maxLength(100, 'must not name more than 100 models'),
)
const shared = { strategy: v.exactOptional(fields.strategy), kind: v.exactOptional(fields.kind) }
const newCombo = closed({ name: fields.text, models, ...shared })
const comboChange = closed({
  name: v.exactOptional(fields.text),
  models: v.exactOptional(models),
  ...shared,
  id: v.exactOptional(fields.text),
  createdAt: fields.ignored,
  updatedAt: fields.ignored,
})

interface Dependencies {
  store: Store
  clock: Clock
  rotation: Rotation
  /** Shared with the aliases: both say where a name leads. */
  inTurn: Mutex
}

export function createCombos({ store, clock, rotation, inTurn }: Dependencies): ComboOperations<unknown> {
  const records = createComboRecords(store.combos)

  async function find(id: string): Promise<Combo> {
    const has = (combo: Combo) => combo.id === id
    const known = (await store.combos.all()).find(has)
    if (known) return known
    await store.combos.entries({ fresh: true }) // another process may have made it a moment ago
    return present((await store.combos.all()).find(has), 'Combo')
  }

  return {
    list: async () => ({ combos: (await store.combos.all()).map(shown) }),

    get: async (id) => shown(await find(id)),

    async create(input) {
      const { name, models, strategy = 'fallback', ...kind } = parseInput(newCombo, input)
      requireName(name)
      return inTurn(async () => {
        const aliases = await store.aliases.all()
        const now = timestamp(clock)
        const combo = { id: crypto.randomUUID(), name, ...kind, models, strategy, createdAt: now, updatedAt: now }
        await records.add(combo, (others) => {
          requireFreeName(combo, others)
          requireNoCycle(name, { combos: [...others, combo], aliases })
        })
        return shown(combo)
      })
    },

    async update(id, input) {
      const { name, id: sentId = id, createdAt, updatedAt, ...change } = parseInput(comboChange, input)
      if (name) requireName(name)
      if (sentId !== id) throw invalidInput('"id" cannot be changed; leave it out')
      return inTurn(async () => {
        const aliases = await store.aliases.all()
        const { before, after } = await records.change(id, {
          check: (all) => name && requireFreeName({ id, name }, all),
          edit(combo, all) {
            const changed = { ...combo, ...change, name: name || combo.name, updatedAt: timestamp(clock) }
            const combos = all.map((other) => (other.id === id ? changed : other))
            if (change.models || changed.name !== combo.name) requireNoCycle(changed.name, { combos, aliases })
            return changed
          },
        })
        rotation.reset(before.name)
        if (after.name !== before.name) rotation.reset(after.name)
        return shown(after)
      })
    },

    delete: (id) =>
      inTurn(async () => {
        const { name } = present(await records.remove(id), 'Combo')
        rotation.reset(name)
        return { success: true }
      }),
  }
}

function requireName(name: string): void {
  if (name === '') throw invalidInput('"name" is required and must not be blank')
  if (!/^[a-zA-Z0-9_.-]+$/.test(name)) throw gatewayError('NAME_INVALID')
  if (name.length > MAX_NAME) throw invalidInput(`"name" must not be longer than ${MAX_NAME} characters`)
}

function requireFreeName(combo: Pick<Combo, 'id' | 'name'>, all: readonly Combo[]): void {
  if (all.some(({ id, name }) => name === combo.name && id !== combo.id)) throw gatewayError('NAME_TAKEN')
}

function requireNoCycle(name: string, names: Names): void {
  const cycle = findCycle(name, names)
  if (cycle) throw invalidInput(`"models" must not lead back to the combo itself: ${cycle}`)
}

function shown({ id, name, kind, models, strategy, createdAt, updatedAt }: Combo): Combo {
  return { id, name, ...(kind && { kind }), models: models.map(copied), strategy, createdAt, updatedAt }
}

const copied = (entry: ComboModel): ComboModel => (typeof entry === 'string' ? entry : { ...entry })
