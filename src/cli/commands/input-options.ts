import { isObject, type JsonObject } from '../../lib/json.ts'
import { toFlag } from '../../lib/renamed-options.ts'
import { findNearest } from '../../lib/spelling.ts'
import { stripQuotes, type Variables } from '../cli-options.ts'
import { createUsageProblem, type OptionShape } from '../command-line.ts'
import { createProblem } from '../problem.ts'
import { readTime } from './times.ts'

/** An option that sets an input field. */
export interface Field extends OptionShape {
  /** The field's name. Absent for an option that sets the entire input. */
  member?: string
  help: string
  /** The name and value to show in the help. Default: the option with its example. Empty if another option's line already includes this option. */
  label?: string
  /** Converts one value of the option. */
  read(value: string, source: Source): unknown
  /** For an option without a value: the value to set the field to. */
  value?: boolean
  isSecret?: boolean
  /** Whether the option is an alternative name that help and messages don't mention. */
  isAlias?: boolean
  /** Converts a list of values to the field's value. Default: keeps the list. */
  join?(values: readonly unknown[]): unknown
  /** The environment variable that sets the field if no option does. */
  variable?: string
  /** The former name of that variable. Setting it causes an error that states the new name. */
  formerVariable?: string
}

/** The sources of values that shouldn't be part of a command line. */
export interface Source {
  variables: Variables
  /** Reads all of stdin, without the trailing line break. Throws a problem if it is called twice. */
  stdin(): Promise<string>
}

/** Option names that differ from their field's name. Help shows the first name; the other names are also accepted. */
const VALUE_NAMES: Readonly<Record<string, readonly string[]>> = {
  alias: ['name'],
  enabledModels: ['model'],
  from: ['from', 'since'],
  to: ['to', 'until'],
  providerAlias: ['provider'],
  q: ['search', 'q'],
  url: ['service-url'], // `--url` is the gateway's URL
}

/** Example values for options with types that aren't self-explanatory. */
const EXAMPLES: Readonly<Record<string, string>> = {
  name: 'app',
  after: '<cursor>',
  before: '<cursor>',
  baseUrl: 'http://10.0.0.5:8000/v1',
  by: 'key,day',
  expiresIn: '15m',
  from: '7d',
  limits: 'usd.day=5',
  metadata: 'team=ml',
  model: 'openai/gpt-5-mini',
  models: 'openai/gpt-5-mini',
  provider: 'openai',
  to: 'today',
}

/** Creates the options that set a field, by name. Returns none if the field's values need JSON. */
export function createOptions(member: string, schema: JsonObject, help: string): [name: string, Field][] {
  const types = listTypes(schema)
  const isList = types.includes('array') || types[0] === 'object'
  const defaultFlag = toFlag(isList ? member.replace(/s$/, '') : member).replace(/^is-/, '')
  const [name = defaultFlag, ...aliases] =
    VALUE_NAMES[member] ?? (/Id$/.test(member) ? [defaultFlag.slice(0, -3), defaultFlag] : [defaultFlag])
  const field = createField(name, member, { schema, help })
  if (!field) return []
  const others = aliases.map((alias): [string, Field] => [
    alias,
    { ...field, ...createField(alias, member, { schema, help }), isAlias: true },
  ])
  if (member === 'isActive')
    return [
      ['active', { ...createFlagOption(member, true, help), label: '--active, --paused' }],
      ['paused', { ...createFlagOption(member, false, help), label: '' }],
    ]
  if (field.type === 'boolean')
    return [
      [name, { ...field, label: `--[no-]${name}` }],
      ...others,
      [`no-${name}`, { ...createFlagOption(member, false, help), label: '' }],
    ]
  if (!field.isSecret) return [[name, field], ...others]
  const inVariable: Field = field.isList
    ? {
        ...field,
        example: 'name=VARIABLE',
        help: 'Environment variable to read a value from',
        async read(value, source) {
          const entry = splitEntry(value, { schema, name: `${name}-env`, example: 'name=VARIABLE' })
          return { ...entry, value: readVariable(String(entry.value), source) }
        },
      }
    : {
        ...createTextOption(member, '<variable>', `Environment variable to read it from`),
        read: readVariable,
      }
  return [[name, field], ...others, [`${name}-env`, inVariable]]
}

function createField(
  name: string,
  member: string,
  { schema, help }: { schema: JsonObject; help: string },
): Field | undefined {
  const choices = listChoices(schema)
  const example = EXAMPLES[member] ?? choices[0] ?? `<${name.slice(name.lastIndexOf('-') + 1)}>`
  const textOption = {
    ...createTextOption(member, example, addNames(help, 'One of', choices)),
    ...(choices.length > 0 && { label: `--${name} <value>` }),
  }
  switch (listTypes(schema)[0]) {
    case 'boolean':
      return createFlagOption(member, true, help)
    case 'integer':
    case 'number':
      if (listTypes(schema).includes('string'))
        return { ...textOption, read: (value) => (/^\d+$/.test(value) ? Number(value) : value) }
      return createNumberOption(name, member, help)
    case 'array':
      return listTypes(schema.items).includes('string') ? { ...textOption, isList: true } : undefined
    case 'object':
      return createObjectOption(name, member, { schema, help })
    case 'string':
      if (/^key$|(?:Key|Token|Secret)$/.test(member)) return createSecretOption(member, help)
      if (/^(?:from|to)$/.test(member)) return { ...textOption, read: (value) => readTime(name, value) }
      return schema.format === 'date-time' ? { ...textOption, example: '2027-01-31T00:00:00Z' } : textOption
    default:
      return undefined
  }
}

/** Adds the names that the help doesn't mention. */
function addNames(help: string, title: string, names: readonly string[]): string {
  const isComplete = names.every((name) => help.includes(name))
  return isComplete ? help : [help, `${title}: ${names.join(', ')}`].filter(Boolean).join('. ')
}

/** Returns the types of a schema's values, except `null`, which only `--data` can set. */
function listTypes(schema: unknown): unknown[] {
  const { type, anyOf = [] } = Object(schema) as { type?: unknown; anyOf?: unknown[] } // a JSON Schema
  return [type, ...anyOf.flatMap(listTypes)].flat().filter((typeName) => typeName !== undefined && typeName !== 'null')
}

function listChoices({ enum: values, items }: JsonObject): string[] {
  const found = values ?? (isObject(items) ? items.enum : undefined)
  return Array.isArray(found) ? found.filter((value) => value !== null).map(String) : []
}

/** Creates an option whose value is used unchanged. */
export const createTextOption = (member: string, example: string, help: string): Field => ({
  type: 'string',
  member,
  example,
  help,
  read: (value) => value,
})

/** Creates an option whose value is a number. */
export const createNumberOption = (name: string, member: string, help: string): Field => ({
  ...createTextOption(member, '1', help),
  label: `--${name} <number>`,
  acceptsDash: true,
  read(value) {
    const found = Number(value)
    if (!Number.isFinite(found)) throw createUsageProblem(`--${name} "${value}" is not a number.`)
    return found
  },
})

/** Creates an option without a value. */
export const createFlagOption = (member: string, value: boolean, help: string): Field => ({
  type: 'boolean',
  member,
  help,
  value,
  read: () => value,
})

/** Creates an option for a secret. The value can come from stdin, because other users can see arguments, and shells keep them in their history. */
export const createSecretOption = (member: string, help: string): Field => ({
  ...createTextOption(member, '-', `${help}; use - to read it from stdin`),
  acceptsDash: true,
  isSecret: true,
  read: (value, { stdin }) => (value === '-' ? stdin() : value),
})

/** Reads an environment variable. Throws a problem if it is empty or not set. */
function readVariable(name: string, { variables }: Source): string {
  const value = variables[name]
  if (value?.trim()) return stripQuotes(value)
  throw createProblem(`The environment variable ${name} is ${value === undefined ? 'not set' : 'empty'}.`)
}

/**
 * Creates an option for an object, either of strings by name (`team=ml`) or of fields by path (`usd.day=5`). Returns `undefined` for more complex
 * values.
 */
function createObjectOption(
  name: string,
  member: string,
  { schema, help }: { schema: JsonObject; help: string },
): Field | undefined {
  const hasNames = isObject(schema.additionalProperties) && listTypes(schema.additionalProperties)[0] === 'string'
  const path = findFirstPath(schema)
  if (!hasNames && path === undefined) return undefined
  const example = EXAMPLES[member] ?? (hasNames ? 'name=value' : `${path}`)
  const separate = hasNames ? splitEntry : splitPath
  const isSecret = member === 'headers'
  return {
    ...createTextOption(member, example, addNames(help, 'Fields', Object.keys(Object(schema.properties)))),
    ...(isSecret && { isSecret, help: `${help}; use name=- to read a value from stdin` }),
    isList: true,
    async read(value, { stdin }) {
      const entry = separate(value, { schema, name, example })
      return isSecret && entry.value === '-' ? { ...entry, value: await stdin() } : entry
    },
    join(values) {
      const all = values as Assignment[] // each value was read as an assignment
      const names = all.map(({ path }) => path.join('.'))
      const duplicate = names.find((name, index) => names.indexOf(name) < index)
      if (duplicate !== undefined) throw createUsageProblem(`--${name} sets "${duplicate}" twice. Set it once.`)
      return all
        .map(({ path, value }) => path.reduceRight<unknown>((inner, part) => ({ [part]: inner }), value))
        .reduce(mergeObjects)
    },
  }
}

interface Assignment {
  path: readonly string[]
  value: unknown
}

/** Returns `path=example` for an object's first field, if all of its fields are numbers, strings, or objects of those. */
function findFirstPath({ properties }: JsonObject): string | undefined {
  const paths = Object.entries(Object(properties) as Record<string, JsonObject>).map(([name, inner]) => {
    const [type] = listTypes(inner)
    if (type === 'object') return findFirstPath(inner)?.replace(/^/, `${name}.`)
    if (type === 'string') return `${name}=${listChoices(inner)[0] ?? 'text'}`
    return type === 'number' || type === 'integer' ? `${name}=1` : undefined
  })
  return paths.includes(undefined) ? undefined : paths[0]
}

interface ObjectOption {
  schema: JsonObject
  name: string
  example: string
}

function splitEntry(value: string, { schema, name, example }: ObjectOption): Assignment {
  const index = value.indexOf('=')
  const acceptsFlags = listTypes(schema.additionalProperties).includes('boolean')
  if (acceptsFlags && index < 0) return { path: [value], value: true }
  const rawValue = value.slice(index + 1)
  if (index < 1)
    throw createUsageProblem(`--${name} "${value}" is not in the form name=value, for example: --${name} ${example}`)
  return {
    path: [value.slice(0, index)],
    value: acceptsFlags && /^(?:true|false)$/.test(rawValue) ? rawValue === 'true' : rawValue,
  }
}

function splitPath(value: string, { schema, name, example }: ObjectOption): Assignment {
  const [, before = '', after = ''] = /^([^=]*)=(.*)$/.exec(value) ?? [undefined, value]
  const path = before.split('.')
  const found = findProperty(path, schema)
  const fault = typeof found === 'string' ? found : undefined
  if (fault !== undefined) throw createUsageProblem(`--${name} "${value}" ${fault}. Example: --${name} ${example}`)
  if (listTypes(found)[0] === 'string') return { path, value: after }
  if (after.trim() === '' || !Number.isFinite(Number(after)))
    throw createUsageProblem(`--${name} "${value}" needs a number. Example: --${name} ${example}`)
  return { path, value: Number(after) }
}

/** Finds the schema of the number or string at a path. If there is none, returns the reason, as the rest of a sentence. */
function findProperty(path: readonly string[], schema: JsonObject): JsonObject | string {
  let innerSchema = schema
  for (const [index, name] of path.entries()) {
    const parentPath = path.slice(0, index).join('.')
    if (!isObject(innerSchema.properties))
      return `can't have "${name}" after "${parentPath}", which is a ${listTypes(innerSchema)[0] === 'string' ? 'string' : 'number'}`
    const propertyNames = Object.keys(innerSchema.properties)
    const property = Object.hasOwn(innerSchema.properties, name) ? innerSchema.properties[name] : undefined
    if (!isObject(property)) {
      const position = parentPath === '' ? '' : ` after "${parentPath}."`
      const [suggestion] = name === '' ? [] : findNearest(name, propertyNames, 1)
      return suggestion === undefined
        ? `needs one of ${propertyNames.join(', ')}${position}`
        : `has an unknown part "${name}" (did you mean "${suggestion}"?)`
    }
    innerSchema = property
  }
  if (!isObject(innerSchema.properties)) return innerSchema
  return `needs one of ${Object.keys(innerSchema.properties).join(', ')} after "${path.join('.')}."`
}

/** Merges two objects recursively. */
function mergeObjects(a: unknown, b: unknown): unknown {
  if (!isObject(a) || !isObject(b)) return b
  const both = Object.keys(b).map((name) => [name, name in a ? mergeObjects(a[name], b[name]) : b[name]])
  return { ...a, ...Object.fromEntries(both) }
}

/** The `--data` option. It sets the entire input, including fields without an option. */
export const dataOption: Field = {
  type: 'string',
  acceptsDash: true,
  example: `'{"name":"x"}'`,
  label: '--data <json>',
  help: 'Other fields as a JSON object; use - to read it from stdin, and null to clear a field',
  async read(value, { stdin }) {
    const json = value === '-' ? await stdin() : value
    try {
      const parsed: unknown = JSON.parse(json)
      if (isObject(parsed)) return parsed
    } catch {} // the error is ignored, because its message may quote a secret
    throw createUsageProblem(`--data must be a JSON object, for example: --data ${dataOption.example}`)
  },
}

/** Reads the input that the options set. An option overrides the same field in `--data`. */
export async function readInput(
  valuesByName: ReadonlyMap<string, readonly string[]>,
  fields: Readonly<Record<string, Field>>,
  source: Source,
): Promise<JsonObject> {
  const input: JsonObject = {}
  const optionByField = new Map<string, string>()
  for (const [name, field] of Object.entries(fields)) {
    const { member, isList, variable, formerVariable = '' } = field
    if (source.variables[formerVariable] !== undefined)
      throw createProblem(`${formerVariable} has been renamed to ${variable}. Rename it in your environment.`)
    const values =
      valuesByName.get(name) ?? (variable !== undefined && source.variables[variable] !== undefined ? [''] : [])
    if (values.length === 0) continue
    const read = (value: string) =>
      valuesByName.has(name) ? field.read(value, source) : readVariable(variable ?? '', source)
    const all = isList ? await Promise.all(values.map(read)) : []
    const found = isList ? (field.join?.(all) ?? all) : await read(values.at(-1) ?? '')
    if (member === undefined) {
      Object.assign(input, found, { ...input })
      continue
    }
    const other = optionByField.get(member)
    if (other !== undefined) throw createUsageProblem(`--${other} and --${name} conflict. Use only one of them.`)
    optionByField.set(member, name)
    input[member] = found
  }
  return input
}
