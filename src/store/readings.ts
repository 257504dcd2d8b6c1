import { assertNever } from '../lib/assert-never.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { comboFields } from '../types/records/combos.ts'
import { connectionFields } from '../types/records/connections.ts'
import type { RecordField, RecordFields } from '../types/records/fields.ts'
import { formerKeyFields } from '../types/records/former-keys.ts'
import { groupFields } from '../types/records/groups.ts'
import { keyFields } from '../types/records/keys.ts'
import { aliasFields, customModelFields, providerFields } from '../types/records/models.ts'
import { ruleMembers } from '../types/records/rules.ts'
import { settingsFields } from '../types/records/settings.ts'
import type { Members, Shape } from '../types/records/shapes.ts'
import type { CustomModel, RequestRules } from '../types.ts'
import {
  ALIASES,
  type AliasRecord,
  COMBOS,
  CONNECTIONS,
  type ComboRecord,
  type ConnectionRecord,
  CUSTOM_MODELS,
  FORMER_KEYS,
  type FormerKeyRecord,
  GROUPS,
  type GroupRecord,
  KEYS,
  type KeyRecord,
  PROVIDERS,
  type ProviderRecord,
} from './collections.ts'

/** A stored record as it is read, and where the reading differs from what is stored. */
interface RecordReading<T> {
  record: T
  /** One sentence for each field that is read otherwise than it is stored; never a value, which may be a secret. */
  problems: string[]
}

/**
 * Reads a record that a restore, a bridge, another release or a defect may have written, at the id of its storage key. A field that cannot
 * be is read as its description says (types/records); fields that are not known stay. Answers with the problem in words when the record has no
 * usable identity or models: such a record is passed over.
 */
export type Reader<T> = (stored: JsonObject, id: string) => RecordReading<T> | string

const isName = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value)
const isAmount = (value: unknown): value is number => typeof value === 'number' && value > 0

/** Can a value be stored in a field of this shape? By its type alone: limits change, and hold for what is given. */
function fits(shape: Shape, value: unknown): boolean {
  switch (shape.type) {
    case 'text':
      return typeof value === 'string'
    case 'flag':
      return typeof value === 'boolean'
    case 'time':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value))
    case 'number':
      if (shape.isReadAsAmount) return isAmount(value)
      return shape.isWhole ? Number.isSafeInteger(value) && isAmount(value) : isNumber(value)
    case 'choice':
      return typeof value === 'string' && (shape.isOpen || [...shape.of, ...(shape.refused ?? [])].includes(value))
    case 'list':
      return Array.isArray(value)
    case 'map':
    case 'object':
      return isObject(value)
    case 'entry':
      return isEntry(value)
    default:
      return assertNever(shape)
  }
}

/** An entry whose condition or parameters cannot be read is none: without them, it would take requests that are not for it, or cost more. */
function isEntry(entry: unknown): boolean {
  if (!isObject(entry)) return isName(entry)
  const { model, weight, when, voices, params } = entry
  const areObjects = [when, voices, params].every((value) => value === undefined || isObject(value))
  return isName(model) && (weight === undefined || isNumber(weight)) && areObjects
}

/** Reads the fields of a record, or of an object in it; why it is of no use if it lacks one that is essential. */
function byFields(stored: JsonObject, fields: RecordFields, slot = '', where = ''): RecordReading<JsonObject> | string {
  const record = { ...stored }
  const problems: string[] = []
  const inside: string[] = []
  for (const name in fields) {
    const field = fields[name]
    if (!field || field.isStored === false) continue
    const value = stored[name]
    if (field.isEssential) {
      const lack = lackIn(name, field.shape, value)
      if (lack !== undefined) return lack
    }
    if (value === undefined ? !field.isOptional : !isGood(field, value, slot)) {
      const as = readInstead(field, stored, slot)
      if (as === undefined) delete record[name]
      else record[name] = as
      const read = as === undefined ? 'is left out' : `is read as ${JSON.stringify(as)}`
      problems.push(`"${where}${name}" is ${kindOf(value)} and ${read}`)
    }
    const inner = readInside(field.shape, record[name], where + name)
    if (!inner) continue
    record[name] = inner.value
    inside.push(...inner.problems)
  }
  return { record, problems: [...problems, ...inside] }
}

const isGood = ({ isSlot, readFrom, shape }: RecordField, value: unknown, slot: string) =>
  isSlot ? value === slot : readFrom === 'slot' ? isName(value) : fits(shape, value)

/** What a record without a usable value of an essential field has not. */
function lackIn(name: string, shape: Shape, value: unknown): string | undefined {
  const isThere = shape.type === 'text' ? isName(value) : fits(shape, value)
  if (!isThere && shape.type === 'list') return `has no list of "${name}"`
  if (!isThere) return `has no "${name}"${shape.type === 'choice' ? ' that this release knows' : ''}`
  if (shape.type !== 'list' || !Array.isArray(value)) return undefined
  const isUsable = value.length === 0 || value.some((item) => fits(shape.of, item))
  return isUsable ? undefined : `has no usable ${shape.of.type} in "${name}"`
}

function readInstead(
  { shape, isOptional, isSlot, readFrom, readAs }: RecordField,
  stored: JsonObject,
  slot: string,
): unknown {
  if (isSlot || readFrom === 'slot') return slot
  if (readFrom !== undefined) return stored[readFrom]
  if (readAs !== undefined || isOptional) return readAs
  return shape.type === 'time' ? '1970-01-01T00:00:00.000Z' : ''
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? 'a text that it cannot be' : `a ${typeof value}`
}

/** What is in a list or an object, if there is something wrong with it. */
function readInside(shape: Shape, value: unknown, where: string): { value: unknown; problems: string[] } | undefined {
  if (shape.type === 'list' && Array.isArray(value)) {
    const kept = value.filter((item) => fits(shape.of, item))
    const lost = value.length - kept.length
    if (lost === 0) return undefined
    return { value: kept, problems: [`"${where}" holds ${lost} that are no ${shape.of.type}, which are left out`] }
  }
  const members = isObject(value) && membersOf(shape, value)
  const reading = members && byFields(value, members, '', `${where}.`)
  if (!reading || typeof reading === 'string' || reading.problems.length === 0) return undefined
  return { value: reading.record, problems: reading.problems }
}

/** The members of an object as fields; none when it is looked into where it is used. */
function membersOf(shape: Shape, value: JsonObject): RecordFields | undefined {
  if (shape.type === 'object') return shape.isReadWhole ? undefined : shape.fields
  if (shape.type !== 'map') return undefined
  return Object.fromEntries(Object.keys(value).map((name) => [name, { shape: shape.of, isOptional: true }]))
}

/** The reader of records with these fields. */
function readerOf<T>(fields: RecordFields): Reader<T> {
  return (stored, slot) => byFields(stored, fields, slot) as (RecordReading<JsonObject> & RecordReading<T>) | string // the type comes from the same fields
}

const readCombo = readerOf<ComboRecord>(comboFields)

/** Every kind of records: the prefix of its storage keys, and how it is read. */
export const recordKinds = {
  keys: { prefix: KEYS, read: readerOf<KeyRecord>(keyFields) },
  formerKeys: { prefix: FORMER_KEYS, read: readerOf<FormerKeyRecord>(formerKeyFields) },
  groups: { prefix: GROUPS, read: readerOf<GroupRecord>(groupFields) },
  connections: { prefix: CONNECTIONS, read: readerOf<ConnectionRecord>(connectionFields) },
  combos: {
    prefix: COMBOS,
    read: ((stored, name) =>
      /^[a-zA-Z0-9_.-]+$/.test(name)
        ? readCombo(stored, name)
        : 'lies under a name that no combo can have') satisfies Reader<ComboRecord>,
  },
  customModels: { prefix: CUSTOM_MODELS, read: readerOf<CustomModel>(customModelFields) },
  aliases: { prefix: ALIASES, read: readerOf<AliasRecord>(aliasFields) },
  providers: { prefix: PROVIDERS, read: readerOf<ProviderRecord>(providerFields) },
} as const

/**
 * A changed record as it is stored: what `next` changes of the reading `was`, and the rest as it stood, so that nothing which could not be
 * read is lost by a write that is about something else.
 */
export function overStored<T extends object>(stored: JsonObject, was: T, next: T): T {
  const written: JsonObject = { ...stored }
  for (const [name, value] of Object.entries(next))
    if (JSON.stringify(value) !== JSON.stringify(Reflect.get(was, name))) written[name] = value
  for (const name of Object.keys(was)) if (Reflect.get(next, name) === undefined) delete written[name]
  return written as T // the reading of it is
}

/** The settings as they are read, and what is wrong with them: one sentence for each field that is read otherwise than it is stored. */
export const readSettings = (stored: JsonObject): RecordReading<JsonObject> =>
  byFields(stored, settingsFields) as RecordReading<JsonObject> // none of their fields is essential

/** The rules in a stored record; members that no release would write are left out. `undefined` when there are none. */
export function storedRules(record: Readonly<{ [Member in keyof RequestRules]?: unknown }>): RequestRules | undefined {
  const rules: RequestRules = {}
  const health = numbersIn(record.health, ruleMembers.health)
  const timeouts = numbersIn(record.timeouts, ruleMembers.timeouts)
  if (health) rules.health = health
  if (isAmount(record.maxAttempts)) rules.maxAttempts = record.maxAttempts
  if (timeouts) rules.timeouts = timeouts
  return Object.keys(rules).length > 0 ? rules : undefined
}

function numbersIn<const M extends Members>(value: unknown, members: M) {
  if (!isObject(value)) return undefined
  const found: { [Name in keyof M]?: number } = {}
  for (const name of Object.keys(members)) {
    const amount = value[name]
    if (isAmount(amount)) Object.assign(found, { [name]: amount })
  }
  return Object.keys(found).length > 0 ? found : undefined
}
