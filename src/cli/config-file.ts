import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { WithWarnings } from '../admin/warnings.ts'
import { checkNames, checkRecord, configSections, formatProblem } from '../config/check-records.ts'
import { isGatewayError } from '../errors.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { didYouMean, findNearest } from '../lib/spelling.ts'
import type { Management } from '../management/operations.ts'
import { recordKinds } from '../records/readings.ts'
import { KEYRING_KEY, SETTINGS_KEY } from '../records/record-collections.ts'
import type { Catalog, Combo, Storage } from '../types.ts'
import { ENV_PREFIX, type Variables } from './cli-options.ts'
import { replaceCallsWithCommands } from './commands/wording.ts'
import { type DataAccess, withManagement } from './data-folder.ts'
import { toOneLine } from './logger.ts'
import { createProblem, type Problem } from './problem.ts'
import { parseYaml } from './yaml.ts'

/** The contents of the `--config` file: inputs for management operations, by section. */
export interface ConfigFile {
  path: string
  settings: ConfigEntry[]
  connections: ConfigEntry[]
  combos: ConfigEntry[]
  aliases: ConfigEntry[]
  models: ConfigEntry[]
  guards: ConfigEntry[]
  groups: ConfigEntry[]
  keys: ConfigEntry[]
}

/** One record, and its path in the file, such as `connections.main`. */
export interface ConfigEntry {
  place: string
  input: JsonObject
}

type Section = Exclude<keyof ConfigFile, 'path'>

/** Reads the file. Throws a problem that names the file and the path of any invalid value. */
export async function readConfigFile(path: string, env: Variables): Promise<ConfigFile> {
  const fail: Fail = (place, reason) => createProblem(`${path}: ${place ? `${place} ` : ''}${reason}`)
  const content: unknown = parse(path, await readText(path))
  if (content !== null && !isObject(content))
    throw fail('', `must contain an object with these sections, which are all optional: ${SECTION_NAMES_TEXT}.`)
  const missing = new Map<string, string>()
  const fileSections = Object.entries(content ?? {}).filter(([name]) => !isIgnored(name))
  const resolved = replaceVariables(Object.fromEntries(fileSections), { place: '', env, fail, missing })
  const [first, ...others] = missing
  if (first)
    throw fail(
      first[1],
      describeMissingVariable(
        first[0],
        others.map(([name]) => name),
        env,
      ),
    )
  for (const name of Object.keys(resolved as object)) {
    if (!Object.hasOwn(sections, name) && !Object.values(otherNames).includes(name))
      throw fail(
        name,
        `is not a known section. ${didYouMean(findNearest(name, [...SECTION_NAMES, 'plans'], 1)) ?? `Known sections: ${SECTION_NAMES_TEXT}.`}`,
      )
  }
  const loadedSections = SECTION_NAMES.map((name) => {
    const entries = [name, otherNames[name] ?? []].flat().flatMap((sectionName) => {
      const section = (resolved as JsonObject)[sectionName] // `replaceVariables` returns an object for an object
      return section === undefined || section === null ? [] : sections[name](section, { place: sectionName, fail })
    })
    rejectDuplicates(entries, identityFields[name], fail)
    return [name, entries]
  })
  return { path, ...(Object.fromEntries(loadedSections) as Record<Section, ConfigEntry[]>) } // built with one key per section
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    const reason = code === 'ENOENT' ? 'no such file' : code === 'EISDIR' ? 'it is a directory' : String(code)
    throw createProblem(`Cannot read the config file ${path}: ${reason}.`, { cause })
  }
}

function parse(path: string, text: string): unknown {
  const type = extname(path).toLowerCase()
  const isYaml = type === '.yaml' || type === '.yml'
  if (!isYaml && type !== '.json')
    throw createProblem(`${path}: the name of a config file must end in .json, .yaml, or .yml.`)
  try {
    return isYaml ? parseYaml(text) : JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    const [first = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    throw createProblem(`${path} is not valid ${isYaml ? 'YAML' : 'JSON'}: ${toOneLine(first).replace(/:$/, '')}.`, {
      cause,
    })
  }
}

type Fail = (place: string, reason: string) => Problem

interface Location {
  place: string
  fail: Fail
}

/** Returns the error message for a missing variable. Also names the other missing variables, so the user can set them all in one go. */
function describeMissingVariable(name: string, others: readonly string[], env: Variables): string {
  const more = others.length > 0 ? ` Also missing: ${others.join(', ')}.` : ''
  return `needs the environment variable ${name}, which is ${env[name] === '' ? 'empty' : 'not set'}.${more}`
}

/**
 * Replaces `${NAME}` in a value's strings with environment variables; `$${` becomes `${`. Doesn't change field names. Adds missing variables to
 * `missing`, each with the first path that needs it.
 */
function replaceVariables(
  value: unknown,
  location: Location & { env: Variables; missing: Map<string, string> },
): unknown {
  const replaceInner = (name: string | number, inner: unknown) =>
    replaceVariables(inner, { ...location, place: joinPath(location.place, name) })
  if (typeof value === 'string') {
    return value.replace(/\$(\$?)\{([^{}$]*)\}/g, (_, escapedDollar: string, name: string) => {
      if (escapedDollar) return `\${${name}}`
      if (!/^[A-Za-z_]\w*$/.test(name))
        throw location.fail(
          location.place,
          `refers to "${name}", which is not a valid variable name. For a literal \${, write $\${.`,
        )
      const found = location.env[name]
      if (!found && !location.missing.has(name)) location.missing.set(name, location.place)
      return found ?? ''
    })
  }
  if (Array.isArray(value)) return value.map((item, index) => replaceInner(index, item))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replaceInner(name, inner)]))
}

const joinPath = (place: string, name: string | number) =>
  typeof name === 'number' ? `${place}[${name}]` : place === '' ? name : `${place}.${name}`

/** Reads one section: a list of records, or a map by name. In a map, each name becomes the `nameField` of its record. */
type ReadSection = (section: unknown, location: Location) => ConfigEntry[]

interface SectionShape {
  /** The field that is set to a record's name in a map. */
  nameField: string
  /** The problem with a record that isn't an object. */
  typeMessage?: string
  /** Expands a record's shorthand, which isn't an object. */
  expandShorthand?: (value: unknown) => JsonObject | undefined
}

const readListOrMap =
  ({ nameField, typeMessage = 'must be an object.', expandShorthand = () => undefined }: SectionShape): ReadSection =>
  (section, { place, fail }) => {
    const read = (value: unknown, path: string): ConfigEntry => {
      const input = isObject(value) ? value : expandShorthand(value)
      if (!input) throw fail(path, typeMessage)
      return { place: path, input }
    }
    if (Array.isArray(section)) return section.map((value, index) => read(value, joinPath(place, index)))
    if (!isObject(section)) throw fail(place, 'must be an object by ID or name.')
    return Object.entries(section).map(([name, value]) => {
      const entry = read(value ?? {}, joinPath(place, name))
      const inputName = entry.input[nameField]
      if (inputName !== undefined && inputName !== name)
        throw fail(entry.place, `has a "${nameField}" that differs from its name in the map. Remove one of them.`)
      return { place: entry.place, input: { ...entry.input, [nameField]: name } }
    })
  }

const readShortForm = (nameField: string) => (value: unknown) =>
  typeof value === 'string' ? { [nameField]: value } : undefined

const connections = readListOrMap({ nameField: 'id' })
const customModels = readListOrMap({ nameField: 'model', expandShorthand: readShortForm('type') })

const sections: Readonly<Record<Section, ReadSection>> = {
  settings: (section, { place, fail }) => {
    if (!isObject(section)) throw fail(place, 'must be an object.')
    return [{ place, input: section }]
  },

  /** A connection's ID defaults to its provider, and its provider to its ID. */
  connections: (section, location) =>
    connections(section, location).map(({ place, input }) => {
      const id = input.id ?? input.provider
      if (typeof id === 'string' && id.startsWith(ENV_PREFIX))
        throw location.fail(
          place,
          `has an id that starts with "${ENV_PREFIX}", which is reserved for connections from environment variables.`,
        )
      return { place, input: { ...input, id, provider: input.provider ?? id } }
    }),

  combos: readListOrMap({
    nameField: 'name',
    expandShorthand: (models) => (Array.isArray(models) ? { models } : undefined),
  }),
  aliases: readListOrMap({
    nameField: 'alias',
    typeMessage: 'must be a string.',
    expandShorthand: readShortForm('model'),
  }),

  /** Reads custom models: a list of records with `providerAlias` and `id`, or a map by `<provider>/<model ID>`. */
  models: (section, location) => {
    const entries = customModels(section, location)
    if (Array.isArray(section)) return entries
    return entries.map(({ place, input: { model, ...input } }) => {
      const name = String(model)
      const slash = name.indexOf('/')
      if (slash < 1 || slash === name.length - 1) throw location.fail(place, 'must be named <provider>/<model ID>.')
      return { place, input: { ...input, providerAlias: name.slice(0, slash), id: name.slice(slash + 1) } }
    })
  },

  guards: readListOrMap({ nameField: 'name' }),

  /** A group's name defaults to its ID, and its ID to its name. */
  groups: (section, location) =>
    readListOrMap({ nameField: 'id' })(section, location).map(({ place, input }) => {
      const { id = input.name, name = input.id } = input
      return { place, input: { ...input, id, name } }
    }),
  keys: (section, location) =>
    readListOrMap({ nameField: 'name', ...(Array.isArray(section) && { expandShorthand: readShortForm('name') }) })(
      section,
      location,
    ),
}

const SECTION_NAMES = Object.keys(sections) as Section[]
/** Alternative section names: plans are groups, and the section for custom models had another name in earlier versions. */
const otherNames: Readonly<Partial<Record<Section, string>>> = { groups: 'plans', models: 'customModels' }
/** Returns whether a top-level name is only for editors, or for YAML anchors as in Docker Compose. */
const isIgnored = (name: string) => name === '$schema' || name.startsWith('x-')
const SECTION_NAMES_TEXT = [...SECTION_NAMES, 'plans'].map((name) => `"${name}"`).join(', ')

/** The fields that identify an entry's record, by section. */
const identityFields: Readonly<Record<Section, readonly string[]>> = {
  settings: [],
  connections: ['id'],
  combos: ['name'],
  aliases: ['alias'],
  models: ['providerAlias', 'id'],
  guards: ['name'],
  groups: ['id'],
  keys: ['name'],
}

/** Rejects two entries for the same record, because the second would overwrite the first on every start. */
function rejectDuplicates(entries: readonly ConfigEntry[], identity: readonly string[], fail: Fail): void {
  const places = new Map<string, string>()
  for (const { place, input } of entries) {
    const key = JSON.stringify(identity.map((member) => input[member]))
    const first = places.get(key)
    const memberNames = identity.map((member) => `"${member}"`).join(' and ')
    if (first !== undefined) throw fail(place, `has the same ${memberNames} as ${first}. Change one of them.`)
    places.set(key, place)
  }
}

/**
 * Writes the file's records; leaves all other records unchanged. Running it again writes nothing, unless a server that is queried for its models now
 * returns different ones. First tries everything on a copy. If a record is rejected, throws a problem with its path before anything is written.
 * Resolves to the operations' warnings, each with its path.
 */
export async function applyConfig(config: ConfigFile, data: DataAccess): Promise<string[]> {
  await tryConfig(config, data)
  return withManagement(data, (api) => apply(config, api))
}

/** Like `applyConfig`, with a running gateway's operations. Also resolves to the warnings from `listConfigWarnings`. */
export async function reapplyConfig(config: ConfigFile, data: DataAccess, api: Management): Promise<string[]> {
  await tryConfig(config, data)
  return [...(await apply(config, api)), ...(await listWarnings(config, api))]
}

async function tryConfig(config: ConfigFile, data: DataAccess): Promise<void> {
  checkConfig(config, data.catalog)
  const fetch = () => Promise.reject(new TypeError('The trial run calls no server.'))
  await withManagement({ ...data, fetch, storage: await copyRecords(data.storage) }, (api) => apply(config, api))
}

/** Checks the records the same way as records defined in code, so mistakes get the same messages. */
function checkConfig(config: ConfigFile, catalog: Catalog): void {
  try {
    for (const section of configSections) {
      if (section === 'plans') continue // plans are already in `groups`
      for (const { place, input } of config[section]) {
        if (section === 'combos' && input.models === undefined) continue // this entry changes a stored combo, so it may omit `models`
        const fields = Object.entries(input).filter(([name]) => !configOnlyFields[section]?.includes(name))
        checkRecord(section, place, omitNulls(Object.fromEntries(fields)), { catalog, isChange: true })
      }
    }
    const combos = config.combos.filter(({ input }) => input.models !== undefined)
    checkNames({
      combos: combos.map(({ input }) => input as unknown as Combo), // `checkRecord` has validated them
      aliases: config.aliases.map(({ input }) => ({ alias: String(input.alias), model: String(input.model) })),
    })
  } catch (cause) {
    throw cause instanceof TypeError ? createProblem(`${config.path}: ${cause.message}`, { cause }) : cause
  }
}

/** Fields that config files support but records in code don't. */
const configOnlyFields: Readonly<Partial<Record<Section, readonly string[]>>> = {
  connections: ['id', 'discover'],
  combos: ['id', 'name'],
  groups: ['id'],
}

/** Returns a copy without fields that are `null`. In a change, `null` removes a stored value. */
const omitNulls = (input: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(input, (_, value: unknown) => (value === null ? undefined : value)))

async function apply(config: ConfigFile, typed: Management): Promise<string[]> {
  const api = typed as Management<unknown> // typed as `unknown` because the operations validate the input
  await putEach(config.path, config.models, api.customModels.put) // first, because a server with custom models isn't queried for its models
  const warnings = await putEach(config.path, config.connections, api.connections.put)
  await putNamed(config, api)
  await putEach(config.path, config.settings, api.settings.update)
  return warnings
}

/**
 * Returns the warnings about all records except connections and settings, one per line. Call it once all connections exist, including those from
 * environment variables.
 */
export const listConfigWarnings = (config: ConfigFile, data: DataAccess): Promise<string[]> =>
  withManagement(data, (api) => listWarnings(config, api))

async function listWarnings(config: ConfigFile, typed: Management): Promise<string[]> {
  const api = typed as Management<unknown> // the operations validate the input; putting unchanged records again writes nothing
  const modelWarnings = await putEach(config.path, config.models, api.customModels.put)
  return [...modelWarnings, ...(await putNamed(config, api))]
}

/** Puts the records that contain model names, and resolves to their warnings. */
async function putNamed({ path, aliases, guards, combos, groups, keys }: ConfigFile, api: Management<unknown>) {
  return [
    ...(await putEach(path, guards, api.guards.put)), // before the records that refer to guards
    ...(await putEach(path, aliases, api.aliases.set)),
    ...(await putEach(path, combos, api.combos.put)),
    ...(await putEach(path, groups, api.groups.put)), // before the keys, because keys refer to groups
    ...(await putEach(path, keys, api.keys.put)),
  ]
}

async function putEach(
  path: string,
  entries: readonly ConfigEntry[],
  put: (input: unknown) => Promise<object & WithWarnings>,
): Promise<string[]> {
  const lines: string[] = []
  for (const { place, input } of entries) {
    const { warnings = [] } = await put(input).catch((error) => rethrowWithPath(path, place, error))
    lines.push(...warnings.map((warning) => `${path}: ${place}: ${warning}`))
  }
  return lines
}

function rethrowWithPath(path: string, place: string, cause: unknown): never {
  if (!isGatewayError(cause) || cause.status >= 500) throw cause
  throw createProblem(`${path}: ${formatProblem(place, replaceCallsWithCommands(cause.message))}`, { cause })
}

/** Copies all records except client keys to memory. There can be a huge number of keys, and no other record depends on them. */
async function copyRecords(storage: Storage): Promise<Storage> {
  const copy = memoryStorage()
  const { keys: _, ...copied } = recordKinds
  for (const prefix of [...Object.values(copied).map((kind) => kind.prefix), SETTINGS_KEY, KEYRING_KEY])
    for (const { key, value } of await storage.list(prefix)) await copy.set(key, value)
  return { ...copy, ...(storage.ownSecret && { ownSecret: storage.ownSecret }) }
}
