import type { TopLevel } from '../admin/connection-input.ts'
import type { Guard } from '../features/guards/guard.ts'
import { isGuard } from '../features/guards/guards-feature.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { findShapeProblem, isPlainObject } from '../lib/shape-problem.ts'
import { trimCloudUrl } from '../lib/urls.ts'
import { findPrefixConflict, findProviders } from '../protocols/providers/prefix-conflict.ts'
import { getDefinition } from '../protocols/providers/provider-names.ts'
import {
  type CodeRecords,
  codeSecretId,
  type EntryConditionFunction,
  type ResponseConditionCheck,
} from '../records/code-records.ts'
import {
  ALIASES_PREFIX,
  COMBOS_PREFIX,
  CONNECTIONS_PREFIX,
  CUSTOM_MODELS_PREFIX,
  GROUPS_PREFIX,
  GUARDS_PREFIX,
  getCustomModelId,
} from '../records/record-collections.ts'
import type { RouteCall, RouteResponse } from '../request/route-call.ts'
import type { comboFields } from '../types/records/combo-fields.ts'
import type { connectionFields } from '../types/records/connection-fields.ts'
import type { groupFields } from '../types/records/group-fields.ts'
import type { guardFields } from '../types/records/guard-fields.ts'
import { aliasFields, type customModelFields } from '../types/records/model-fields.ts'
import type { InputOf } from '../types/records/record-fields.ts'
import type { SettingsChange } from '../types/records/settings-fields.ts'
import type {
  Catalog,
  Combo,
  ComboModel,
  Condition,
  CredentialSource,
  ResponseCondition,
  SharedCredentialSource,
} from '../types.ts'
import {
  type ConfigSection,
  checkNames,
  checkRecord,
  checkVectors,
  type NameReferences,
  throwProblem,
  topLevel,
} from './check-records.ts'
import type { KnownModel, KnownProvider } from './known-names.data.ts'
import type { RouteOptions } from './route-option.ts'

/**
 * Records and settings that the app defines in code. They come before stored records, replace stored records with the same ID or name, and can't be
 * changed through the management API (409 `DEFINED_IN_CODE`). Each section is an object by ID or name; entries that are `undefined` are skipped.
 */
export interface CodeConfig {
  /** Connections by ID, which is also the provider unless `provider` is set. */
  connections?: { readonly [ID in KnownProvider]?: CodeConnection | undefined } & {
    readonly [id: string]: CodeConnection | undefined
  }
  /** Combos by name; an array is the combo's `models`. */
  combos?: Readonly<Record<string, CodeCombo | CodeComboModels | undefined>>
  /** Aliases: the model that each name points to. */
  aliases?: Readonly<Record<string, ModelName | undefined>>
  /** Custom models by `<provider>/<model ID>`; a string is the model's `type`. */
  models?: Readonly<Record<string, CodeModel | NonNullable<CodeModel['type']> | undefined>>
  /** Groups of API keys by ID, which is also the name unless `name` is set. */
  groups?: Readonly<Record<string, CodeGroup | undefined>>
  /** Account plans, by ID. A plan is a group, and an ID can only be in one of the two sections. */
  plans?: Readonly<Record<string, CodeGroup | undefined>>
  /**
   * Guards that read, change, or reject the content of requests and responses: an array of functions, or an object by name. Functions check every
   * request, in order. Records, such as `{ kind: 'secrets' }`, only check requests whose settings, group, key, or combo names them.
   */
  guards?: readonly Guard[] | Readonly<Record<string, Guard | CodeGuard | undefined>>
  settings?: CodeSettings
}

/** A guard that is defined in code as a record. */
export interface CodeGuard extends Omit<InputOf<typeof guardFields, 'create'>, 'name'> {}

/** A connection that is defined in code. */
export interface CodeConnection
  extends NonNullFields<Omit<InputOf<typeof connectionFields, 'create'>, 'provider' | 'apiKey' | 'discover'>>,
    NonNullFields<TopLevel> {
  /** Default: the connection's ID. */
  provider?: KnownProvider | (string & {})
  /** The credential, or a function that returns it. It is never stored, logged, or shown. */
  apiKey?: string | CredentialSource | SharedCredentialSource
}

/** A combo that is defined in code. */
export interface CodeCombo extends Omit<InputOf<typeof comboFields, 'create'>, 'name' | 'models' | 'on'> {
  models: readonly CodeComboModel[]
  /** Responses after which the next model is tried: `content`, `schema`, and functions that return `true` for an unwanted response. */
  on?: ReadonlyArray<Exclude<ResponseCondition, 'function'> | ResponseConditionFunction>
}

/** A combo entry that is defined in code. */
export type CodeComboModel =
  | ModelName
  | (Omit<ComboEntry, 'when'> & { when?: Omit<Condition, 'function'> | RouteCondition })

/** An entry of a combo or a list, with model names that editors autocomplete. */
export type CodeListModel = ModelName | ComboEntry

type ComboEntry = Exclude<ComboModel, string> & { model: ModelName }

/** A combo entry's condition: `true` lets the request use the entry. If the function fails, the client gets a 503 `route_failed`, as for `route`. */
export type RouteCondition = (request: RouteCall, context: { signal: AbortSignal }) => boolean | Promise<boolean>

/**
 * A condition on a chat response: `true` tries the next model, as after a failure. If the function fails, the client gets a 503 `route_failed`, as for
 * `route`.
 */
export type ResponseConditionFunction = (
  response: RouteResponse,
  request: RouteCall,
  context: { signal: AbortSignal },
) => boolean | Promise<boolean>

/**
 * `readonly CodeComboModel[]`, but not an array to the compiler. In a union of an array and `undefined`, the compiler would report an invalid field
 * at the combo's name instead of at the field.
 */
type CodeComboModels = Pick<readonly CodeComboModel[], number | 'length' | 'map'>

/** A model in the catalog, or any other model, alias, or combo. */
export type ModelName = KnownModel | (string & {})

/** A custom model that is defined in code. */
export interface CodeModel extends Omit<InputOf<typeof customModelFields, 'create'>, 'id' | 'providerAlias'> {}

/** A group of API keys, or a plan of accounts, that is defined in code. */
export interface CodeGroup extends Omit<InputOf<typeof groupFields, 'create'>, 'name'> {
  /** Default: the ID. */
  name?: string
}

/** Settings that are defined in code. */
export interface CodeSettings extends NonNullFields<SettingsChange> {}

/** Excludes `null`, which removes a stored value. */
type NonNullFields<T> = { [Name in keyof T]: Exclude<T[Name], null> }

/** Reads a configuration. Throws a TypeError that names the first invalid part and explains what to do. */
export function readCodeConfig(
  config: CodeConfig & Pick<RouteOptions, 'onRouteError'>,
  { catalog, now }: { catalog: Catalog; now: number },
): CodeRecords {
  const timestamp = new Date(now).toISOString()
  const values = new Map<string, string>()
  const secrets: CodeRecords['secrets'] = new Map()
  const add = (prefix: string, id: string, record: object) =>
    values.set(
      prefix + encodeURIComponent(id),
      JSON.stringify({ order: MIN_ORDER + values.size, record: { ...record, source: 'code' } }),
    )

  const connections = readSection(config, 'connections').map(([id, input]) => {
    const path = `connections.${id}`
    requireName(path, id)
    const definition = { provider: id, ...requireObject(path, input) } as CodeConnection & { provider: string } // the fields are checked below
    const { apiKey, ...fields } = definition
    const source = getCredentialFunction(apiKey)
    if (!source && isObject(apiKey))
      throwProblem(`${path}.apiKey`, 'must be a string, a function, or { resolve, shared: true }')
    checkRecord('connections', path, source ? fields : { ...definition }, { catalog })
    const { provider: providerName, providerSpecificData, ...others } = fields
    const [provider = providerName] = findProviders(catalog, providerName)
    const data: JsonObject = { ...providerSpecificData }
    const otherFields: JsonObject = {}
    for (const [name, value] of Object.entries(others)) (name in topLevel ? data : otherFields)[name] = value
    const secret = source ?? (typeof apiKey === 'string' ? apiKey.trim() : undefined)
    if (secret !== undefined) secrets.set(codeSecretId({ id, updatedAt: timestamp }), secret)
    const name = getDefinition(catalog, provider)?.name ?? provider
    const providerData = Object.keys(data).length > 0 && { providerSpecificData: data }
    const record = { id, provider, name, ...otherFields, ...providerData, createdAt: timestamp, updatedAt: timestamp }
    add(CONNECTIONS_PREFIX, id, record)
    return record
  })
  for (const connection of connections) {
    const conflict = findPrefixConflict(catalog, connection, connections) // ignores connections to the same provider
    if (!conflict) continue
    const { prefix, owner } = conflict
    const other = typeof owner === 'string' ? owner : owner.id
    throwProblem(
      `connections.${connection.id}`,
      `shares "${prefix}" with "${other}". Change one, or set "sharesPrefix"`,
    )
  }
  const combos: Array<NameReferences['combos'][number]> = []
  const conditions: EntryConditionFunction[] = []
  const responseConditions = new Map<string, ResponseConditionCheck[]>()
  for (const [name, input] of readSection(config, 'combos')) {
    const path = `combos.${name}`
    const combo = Array.isArray(input) ? { models: input } : requireObject(path, input)
    const responses: unknown[] = Array.isArray(combo.on) ? combo.on : []
    const functions = responses.filter(isResponseFunction)
    const others = functions.length > 0 && { on: responses.filter((response) => !isResponseFunction(response)) }
    const entryFunctions = Array.isArray(combo.models) ? combo.models.map(getConditionFunction) : []
    const models = entryFunctions.length > 0 && {
      models: entryFunctions.map((when, index) => omitFunction(Object(combo.models)[index], when)),
    }
    const definition = copyPlain({ ...combo, ...others, ...models }, path)
    requireName(path, name)
    checkRecord('combos', path, definition, { catalog })
    const { kind, sameVectors } = definition as Pick<Combo, 'kind' | 'sameVectors'> // `checkRecord` has validated them
    const entries = (definition.models as ComboModel[]).map((entry, index) => {
      const when = entryFunctions[index]
      return when ? { ...(entry as ComboEntry), when: { function: conditions.push(when) } } : entry
    })
    if (others) {
      responseConditions.set(name, functions)
      definition.on = [...others.on, 'function']
    }
    add(COMBOS_PREFIX, name, {
      id: name,
      name,
      strategy: 'fallback',
      ...definition,
      models: entries,
      createdAt: timestamp,
      updatedAt: timestamp,
    })
    combos.push({ name, models: entries, ...(kind && { kind }), ...(sameVectors && { sameVectors }) })
  }
  for (const [name, input] of readSection(config, 'models')) {
    const path = `models.${name}`
    const slash = name.indexOf('/')
    if (slash < 1 || slash === name.length - 1) throwProblem(path, 'must be named <provider>/<model ID>')
    const id = { providerAlias: name.slice(0, slash), id: name.slice(slash + 1) }
    const definition = typeof input === 'string' ? { type: input } : requireObject(path, input)
    checkRecord('models', path, { ...definition, ...id }, { catalog })
    add(CUSTOM_MODELS_PREFIX, getCustomModelId(id), { ...definition, ...id })
  }
  const aliases: Array<NameReferences['aliases'][number]> = []
  for (const [alias, model] of readSection(config, 'aliases')) {
    const aliasProblem = findShapeProblem(aliasFields.alias.shape, alias)
    if (aliasProblem) throwProblem('aliases', `must not contain the name "${alias}": it ${aliasProblem.problem}`)
    checkRecord('aliases', `aliases.${alias}`, { model }, { catalog })
    add(ALIASES_PREFIX, alias, { alias, model })
    aliases.push({ alias, model: String(model) })
  }
  for (const section of ['groups', 'plans'] as const)
    for (const [id, input] of readSection(config, section)) {
      const path = `${section}.${id}`
      requireName(path, id)
      const definition = { name: id, ...requireObject(path, input) }
      checkRecord(section, path, definition, { catalog })
      if (values.has(GROUPS_PREFIX + id)) throwProblem(path, `has the same "id" as groups.${id}. Change one of them`)
      add(GROUPS_PREFIX, id, { id, isActive: true, ...definition, createdAt: timestamp })
    }
  if (!Array.isArray(config.guards))
    for (const [name, input] of readSection(config, 'guards')) {
      if (isGuard(input)) continue
      const path = `guards.${name}`
      requireName(path, name)
      const settings = requireObject(path, input)
      if (Object.hasOwn(settings, 'name'))
        throwProblem(`${path}.name`, 'is not a known field. The guard is named by its key')
      const definition = { ...settings, name }
      checkRecord('guards', path, definition, { catalog })
      add(GUARDS_PREFIX, name, { ...definition, createdAt: timestamp, updatedAt: timestamp })
    }
  checkNames({ combos, aliases })
  checkVectors({ combos, aliases })

  const settings = Object.fromEntries(readSection(config, 'settings'))
  checkRecord('settings', 'settings', settings, { catalog })
  if (typeof settings.cloudUrl === 'string') settings.cloudUrl = trimCloudUrl(settings.cloudUrl)
  return { values, secrets, settings, conditions, responseConditions, onRouteError: config.onRouteError }
}

/** Sorts the records before stored records, whose order starts at 1. */
const MIN_ORDER = -1_000_000

/** Returns the credential function in `apiKey`, if there is one. */
function getCredentialFunction(apiKey: unknown): CredentialSource | SharedCredentialSource | undefined {
  const isShared = isObject(apiKey) && typeof apiKey.resolve === 'function' && apiKey.shared === true
  return typeof apiKey === 'function' || isShared ? (apiKey as CredentialSource | SharedCredentialSource) : undefined
}

const getConditionFunction = (entry: unknown): EntryConditionFunction | undefined =>
  isObject(entry) && typeof entry.when === 'function' ? (entry.when as EntryConditionFunction) : undefined

/** Returns the entry without its function, so it can be checked like a stored entry. A function in place of an entry becomes an invalid entry. */
function omitFunction(entry: unknown, when: EntryConditionFunction | undefined): unknown {
  if (when) return { ...Object(entry), when: undefined }
  return typeof entry === 'function' ? null : entry
}

/** Copies a record without fields that are `undefined`. Functions and big integers, which would be lost, become values that no field can have. */
function copyPlain(record: object, path: string): JsonObject {
  try {
    const text = JSON.stringify(record, (_, value: unknown) =>
      typeof value === 'function' || typeof value === 'bigint' ? { function: null } : value,
    )
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof TypeError) throwProblem(path, 'must not contain itself')
    throw error // thrown by one of the record's getters
  }
}

const isResponseFunction = (value: unknown): value is ResponseConditionCheck => typeof value === 'function'

function readSection(config: CodeConfig, section: ConfigSection): Array<[string, unknown]> {
  const value: unknown = config[section]
  if (value === undefined) return []
  if (!isPlainObject(value))
    throwProblem(section, section === 'settings' ? 'must be an object' : 'must be an object by ID or name')
  const entries = Object.entries(value)
  return section === 'settings' ? entries : entries.filter(([, input]) => input !== undefined)
}

function requireName(path: string, name: string) {
  if (!/^(?!\.\.?$)[\w.-]{1,200}$/.test(name))
    throwProblem(path, 'must be named with letters, digits, "-", "_", and "."')
}

function requireObject(path: string, input: unknown): JsonObject {
  return isObject(input) ? input : throwProblem(path, 'must be an object')
}
