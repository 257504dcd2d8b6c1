import { isObject, type JsonObject } from '../lib/json.ts'
import { strategies, wireFormats } from '../lib/unions.ts'
import type { CustomModel, RequestRules } from '../types.ts'
import {
  ALIASES,
  type AliasRecord,
  COMBOS,
  CONNECTIONS,
  type ComboRecord,
  type ConnectionRecord,
  CUSTOM_MODELS,
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
 * be is read as spec.md has it where it is missing; fields that are not known stay. Answers with the problem in words when the record has no
 * usable identity or models: such a record is passed over.
 */
export type Reader<T> = (stored: JsonObject, id: string) => RecordReading<T> | string

/** What a field can be; `as` is what it is read as otherwise, and `undefined` leaves it out. */
interface FieldRule {
  isGood(value: unknown): boolean
  as?: unknown
  /** May it be missing? */
  optional?: boolean
}

const isText = (value: unknown) => typeof value === 'string'
const isName = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isFlag = (value: unknown) => typeof value === 'boolean'
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value)
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0
const isOneOf = (values: readonly unknown[]) => (value: unknown) => values.includes(value)

const text: FieldRule = { isGood: isText, as: '' }
const optionalText: FieldRule = { isGood: isText, optional: true }
const time: FieldRule = {
  isGood: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  as: '1970-01-01T00:00:00.000Z',
}
/** Only `false` is off (spec.md, API key, Provider connection). */
const active: FieldRule = { isGood: isFlag, as: true, optional: true }

/** Reads the fields by their rules. */
function byRules(stored: JsonObject, rules: Record<string, FieldRule>, where = ''): RecordReading<JsonObject> {
  const record = { ...stored }
  const problems: string[] = []
  for (const [name, { isGood, as, optional = false }] of Object.entries(rules)) {
    const value = stored[name]
    if (value === undefined ? optional : isGood(value)) continue
    if (as === undefined) delete record[name]
    else record[name] = as
    const read = as === undefined ? 'is left out' : `is read as ${JSON.stringify(as)}`
    problems.push(`"${where}${name}" is ${kindOf(value)} and ${read}`)
  }
  return { record, problems }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? 'a text that it cannot be' : `a ${typeof value}`
}

/** Client keys: the digest is their identity, the id what the management API calls them by. */
const readKey: Reader<KeyRecord> = (stored) => {
  if (!isName(stored.id)) return 'has no "id"'
  return readAs<KeyRecord>(
    byRules(stored, {
      name: text,
      isActive: active,
      createdAt: time,
      sealedKey: text,
      sha256: optionalText,
      mac: optionalText,
      edit: optionalText,
    }),
  )
}

const readConnection: Reader<ConnectionRecord> = (stored, id) => {
  if (!isName(stored.provider)) return 'has no "provider"'
  const { record, problems } = byRules(stored, {
    id: { isGood: (value) => value === id, as: id },
    name: { isGood: isText, as: stored.provider },
    isActive: active,
    draining: { isGood: isFlag, optional: true },
    priority: { isGood: isNumber, optional: true },
    sealedApiKey: optionalText,
    edit: optionalText,
    providerSpecificData: { isGood: isObject, optional: true },
    createdAt: time,
    updatedAt: time,
  })
  if (isObject(record.providerSpecificData)) {
    const inner = readData(record.providerSpecificData)
    problems.push(...inner.problems)
    record.providerSpecificData = inner.record
  }
  return readAs<ConnectionRecord>({ record, problems })
}

const DATA: Record<string, FieldRule> = {
  prefix: optionalText,
  sharesPrefix: { isGood: isFlag, optional: true },
  enabledModels: { isGood: Array.isArray, optional: true },
  baseUrl: optionalText,
  format: { isGood: isOneOf(wireFormats), optional: true },
  resource: optionalText,
  apiVersion: optionalText,
  deployment: optionalText,
  region: optionalText,
  project: optionalText,
}

function readData(stored: JsonObject): RecordReading<JsonObject> {
  const { record, problems } = byRules(stored, DATA, 'providerSpecificData.')
  if (!Array.isArray(record.enabledModels)) return { record, problems }
  const ids = record.enabledModels.filter(isText)
  const lost = record.enabledModels.length - ids.length
  if (lost === 0) return { record, problems }
  problems.push(`"providerSpecificData.enabledModels" holds ${lost} that are no text, which are left out`)
  return { record: { ...record, enabledModels: ids }, problems }
}

/** Combos are stored under their names. */
const readCombo: Reader<ComboRecord> = (stored, name) => {
  if (!/^[a-zA-Z0-9_.-]+$/.test(name)) return 'lies under a name that no combo can have'
  if (!Array.isArray(stored.models)) return 'has no list of "models"'
  const models = stored.models.filter(isEntry)
  const lost = stored.models.length - models.length
  if (lost > 0 && models.length === 0) return 'has no usable entry in "models"'
  const { record, problems } = byRules(stored, {
    id: { isGood: isName, as: name },
    name: { isGood: (value) => value === name, as: name },
    kind: { isGood: isText, as: 'llm', optional: true }, // one that is not known is listed nowhere
    strategy: { isGood: isOneOf(strategies), as: 'fallback' },
    stickyLimit: { isGood: isCount, optional: true },
    connectionStrategy: { isGood: isOneOf(strategies), optional: true },
    hedge: { isGood: isFlag, optional: true },
    health: { isGood: isObject, optional: true },
    maxAttempts: { isGood: isCount, optional: true },
    timeouts: { isGood: isObject, optional: true },
    from: optionalText,
    movedTo: optionalText,
    revision: optionalText,
    createdAt: time,
    updatedAt: time,
  })
  if (lost > 0) problems.push(`"models" holds ${lost} that are no entry, which are left out`)
  return readAs<ComboRecord>({ record: { ...record, models }, problems })
}

/** An entry whose condition cannot be read is none: without it, it would take requests that are not for it. */
function isEntry(entry: unknown): boolean {
  if (!isObject(entry)) return isName(entry)
  const { model, weight, when } = entry
  return isName(model) && (weight === undefined || isNumber(weight)) && (when === undefined || isObject(when))
}

const readCustomModel: Reader<CustomModel> = (stored) => {
  if (!isName(stored.id)) return 'has no "id"'
  if (!isName(stored.providerAlias)) return 'has no "providerAlias"'
  return readAs<CustomModel>(byRules(stored, { type: { isGood: isText, optional: true } }))
}

/** Aliases are stored under their own names. */
const readAlias: Reader<AliasRecord> = (stored, alias) => {
  if (!isName(stored.model)) return 'has no "model"'
  return readAs<AliasRecord>(byRules(stored, { alias: { isGood: (value) => value === alias, as: alias } }))
}

/** Strategies among connections are stored under the provider's id. */
const readProvider: Reader<ProviderRecord> = (stored, provider) => {
  if (!isOneOf(strategies)(stored.strategy)) return 'has no "strategy" that this release knows'
  return readAs<ProviderRecord>(
    byRules(stored, {
      provider: { isGood: (value) => value === provider, as: provider },
      stickyLimit: { isGood: isCount, optional: true },
    }),
  )
}

/** Every field that the type needs has a rule above. */
const readAs = <T>(reading: RecordReading<JsonObject>): RecordReading<T> =>
  reading as RecordReading<JsonObject> & RecordReading<T>

/** Every kind of records: the prefix of its storage keys, and how it is read. */
export const recordKinds = {
  keys: { prefix: KEYS, read: readKey },
  connections: { prefix: CONNECTIONS, read: readConnection },
  combos: { prefix: COMBOS, read: readCombo },
  customModels: { prefix: CUSTOM_MODELS, read: readCustomModel },
  aliases: { prefix: ALIASES, read: readAlias },
  providers: { prefix: PROVIDERS, read: readProvider },
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

/** What is wrong with stored settings: one sentence for each field that is read otherwise than it is stored. */
export function problemsOfSettings(stored: JsonObject): string[] {
  const rules: Record<string, FieldRule> = {
    requireApiKey: active,
    cloudEnabled: { isGood: isFlag, as: false, optional: true },
    cloudUrl: { ...text, optional: true },
    maxAttempts: { isGood: isAmount, optional: true },
    health: { isGood: isObject, optional: true },
    timeouts: { isGood: isObject, optional: true },
  }
  const { problems } = byRules(stored, rules)
  for (const [name, numbers] of Object.entries({ health: HEALTH, timeouts: TIMEOUTS })) {
    const amounts = Object.fromEntries(numbers.map((one) => [one, { isGood: isAmount, optional: true }]))
    if (isObject(stored[name])) problems.push(...byRules(stored[name], amounts, `${name}.`).problems)
  }
  return problems
}

/** The rules in a stored record; members that no release would write are left out. `undefined` when there are none. */
export function storedRules(record: Readonly<{ [Member in keyof RequestRules]?: unknown }>): RequestRules | undefined {
  const rules: RequestRules = {}
  const health = numbersIn(record.health, HEALTH)
  const timeouts = numbersIn(record.timeouts, TIMEOUTS)
  if (health) rules.health = health
  if (isAmount(record.maxAttempts)) rules.maxAttempts = record.maxAttempts
  if (timeouts) rules.timeouts = timeouts
  return Object.keys(rules).length > 0 ? rules : undefined
}

const HEALTH = ['failureShare', 'windowMs', 'minCalls', 'cooldownMs', 'maxCooldownMs'] as const
const TIMEOUTS = ['headersMs', 'idleMs', 'totalMs'] as const

function numbersIn<const Name extends string>(value: unknown, names: readonly Name[]) {
  if (!isObject(value)) return undefined
  const found: { [Member in Name]?: number } = {}
  for (const name of names) {
    const amount: unknown = value[name]
    if (isAmount(amount)) found[name] = amount
  }
  return Object.keys(found).length > 0 ? found : undefined
}

const isAmount = (value: unknown): value is number => typeof value === 'number' && value > 0
