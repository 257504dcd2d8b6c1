import { isObject, type JsonObject } from '../../lib/json.ts'
import { nearest } from '../../lib/spelling.ts'
import type { CommandWords, OptionWords } from '../../types/records/command-words.ts'
import type { Door, RecordField, RecordFields } from '../../types/records/record-fields.ts'
import type { Member, Members } from '../../types/records/shapes.ts'
import { type Variables, withoutQuotes } from '../cli-options.ts'
import { type OptionShape, usage } from '../command-line.ts'
import { problem } from '../problem.ts'

/** An option from which a member of an input is made. */
export interface Field extends OptionShape {
  /** The name of the member; absent for an option that is the whole input. */
  member?: string
  help: string
  /** Converts one value of the option. */
  read(value: string, source: Source): unknown | Promise<unknown>
  /** Of an option without a value: what the member becomes. */
  value?: boolean
  isSecret?: boolean
  /** Whether it is an alias of another option, which messages name instead. */
  isAlias?: boolean
  /** Makes one value of the list of values; default: the list itself. */
  join?(values: readonly unknown[]): unknown
  /** The environment variable from which the value is taken when the option is not given. */
  variable?: string
  /** The former name of that variable. Setting it is an error that gives the new name. */
  formerVariable?: string
}

/** The sources of values that should not be part of a command line. */
export interface Source {
  variables: Variables
  /** All of standard input, without the line break at its end. Throws a problem when it is called twice. */
  stdin(): Promise<string>
}

/** An option whose value is used unchanged. */
export const text = (member: string, example: string, help: string): Field => ({
  type: 'string',
  member,
  example,
  help,
  read: (value) => value,
})

/** An option that may be repeated; its values make a list. */
export const texts = (member: string, example: string, help: string): Field => ({
  ...text(member, example, help),
  isList: true,
})

/** An option whose value is a number. */
export const number = (name: string, member: string, help: string): Field => ({
  ...text(member, '1', help),
  takesDash: true,
  read(value) {
    const found = Number(value)
    if (!Number.isFinite(found)) throw usage(`--${name} "${value}" is not a number.`)
    return found
  },
})

/** An option without a value. */
export const flag = (member: string, value: boolean, help: string): Field => ({
  type: 'boolean',
  member,
  help,
  value,
  read: () => value,
})

/** An option for a secret, which is read from standard input or a variable: other users of the machine can see arguments, and shells keep them. */
export const secret = (member: string, example: string, help: string): Field => ({
  ...text(member, example, help),
  takesDash: true,
  isSecret: true,
  read: (value, { stdin }) => (value === '-' ? stdin() : value),
})

/** An option that names the variable which holds a secret. */
export const secretIn = (member: string, example: string, help: string): Field => ({
  ...text(member, example, help),
  read: (name, { variables }) => variableOf(name, variables),
})

/** The value of a variable. Throws a problem when it is not set, or empty. */
function variableOf(name: string, variables: Variables): string {
  const value = variables[name]
  if (value?.trim()) return withoutQuotes(value)
  throw problem(`The environment variable ${name} is ${value === undefined ? 'not set' : 'empty'}.`)
}

/** An object of texts, a member in each value. */
const entries = (name: string, member: string, { example, help }: OptionWords): Field => ({
  ...texts(member, example ?? 'name=value', help),
  read(value) {
    const at = value.indexOf('=')
    if (at < 1) throw usage(`--${name} "${value}" is not in the form name=value, for example: --${name} ${example}`)
    return [value.slice(0, at), value.slice(at + 1)]
  },
  join(values) {
    const all = values as [string, string][] // as they are read
    rejectDuplicates(
      name,
      all.map(([entry]) => entry),
    )
    return Object.fromEntries(all)
  },
})

/** Throws if an option sets the same name twice. */
function rejectDuplicates(option: string, names: readonly string[]): void {
  const twice = names.find((one, at) => names.indexOf(one) < at)
  if (twice !== undefined) throw usage(`--${option} sets "${twice}" twice. Set it once.`)
}

/** An object of numbers, one in each value by its place there: `usd.day=5`. */
const numbers = (
  name: string,
  member: string,
  { words: { example, help }, fields }: { words: OptionWords; fields: Members },
): Field => ({
  ...texts(member, example ?? 'name=1', help),
  read(value) {
    const [, path = '', number = ''] = /^([^=]*)=(.*)$/.exec(value) ?? [undefined, value]
    const names = path.split('.')
    const fault = checkPath(names, fields)
    if (fault !== undefined) throw usage(`--${name} "${value}" ${fault}. Example: --${name} ${example}`)
    if (number.trim() === '' || !Number.isFinite(Number(number)))
      throw usage(`--${name} "${value}" needs a number. Example: --${name} ${example}`)
    return [path, names, Number(number)]
  },
  join(values) {
    const all = values as [path: string, names: string[], number: number][] // as they are read
    rejectDuplicates(
      name,
      all.map(([path]) => path),
    )
    return all
      .map(([, names, number]) => names.reduceRight<unknown>((inner, part) => ({ [part]: inner }), number))
      .reduce(joined)
  },
})

/** Checks that the names lead to a number in an object; otherwise returns why not, as the rest of a sentence. */
function checkPath(names: readonly string[], fields: Members): string | undefined {
  let inside: Members | undefined = fields
  for (const [at, name] of names.entries()) {
    const before = names.slice(0, at).join('.')
    if (!inside) return `can't have "${name}" after "${before}", which is a number`
    const known: string[] = Object.keys(inside)
    const member: Member | undefined = Object.hasOwn(inside, name) ? inside[name] : undefined
    if (!member) {
      const place = before === '' ? '' : ` after "${before}."`
      const [meant] = name === '' ? [] : nearest(name, known, 1)
      return meant === undefined
        ? `needs one of ${known.join(', ')}${place}`
        : `has an unknown part "${name}" (did you mean "${meant}"?)`
    }
    inside = member.shape.type === 'object' ? member.shape.fields : undefined
  }
  return inside && `needs one of ${Object.keys(inside).join(', ')} after "${names.join('.')}."`
}

/** Merges two objects. */
function joined(one: unknown, other: unknown): unknown {
  if (!isObject(one) || !isObject(other)) return other
  const both = Object.keys(other).map((name) => [name, name in one ? joined(one[name], other[name]) : other[name]])
  return { ...one, ...Object.fromEntries(both) }
}

/** The options that give a field, by the words that are said of it. */
function optionsOfField(
  member: string,
  { shape, sealedAs }: RecordField,
  { options = {} }: CommandWords,
): [string, Field][] {
  return Object.entries(options).map(([name, words]) => {
    const { example = '', help, value, isVariable } = words
    if (value !== undefined) return [name, flag(member, value, help)]
    if (isVariable) return [name, secretIn(member, example, help)]
    if (sealedAs !== undefined) return [name, secret(member, example, help)]
    if (shape.type === 'number') return [name, number(name, member, help)]
    if (shape.type === 'list') return [name, texts(member, example, help)]
    if (shape.type === 'object') return [name, numbers(name, member, { words, fields: shape.fields })]
    return [name, shape.type === 'map' ? entries(name, member, words) : text(member, example, help)]
  })
}

/** The options for the fields of a record, by their members, in the order of the words. */
export function memberOptions<F extends RecordFields>(
  recordFields: F,
  words: Readonly<Partial<Record<keyof F, CommandWords>>>,
): Map<string, [string, Field][]> {
  const said = Object.entries<CommandWords | undefined>(words)
  return new Map(
    said.map(([member, one]) => {
      const field = recordFields[member]
      return [member, field && one ? optionsOfField(member, field, one) : []]
    }),
  )
}

/** The options of the members that come through a door; `more` members that are given with them. */
export function optionsThrough(
  door: Door,
  recordFields: RecordFields,
  options: ReadonlyMap<string, [string, Field][]>,
): Record<string, Field> {
  const isGiven = (member: string) => {
    const passage = recordFields[member]?.given?.[door]
    const way = typeof passage === 'object' ? passage.as : passage
    return way !== undefined && way !== 'same' && way !== 'ignored' && way !== 'refused'
  }
  return Object.fromEntries([...options].flatMap(([member, found]) => (isGiven(member) ? found : [])))
}

/** The option `--data`: the whole input, for members without an option of their own. */
const data: Field = {
  type: 'string',
  takesDash: true,
  example: `'{"name":"x"}'`,
  help: 'Other fields as JSON; use - to read it from stdin, and null to clear a field',
  async read(value, { stdin }) {
    const json = value === '-' ? await stdin() : value
    try {
      const parsed: unknown = JSON.parse(json)
      if (isObject(parsed)) return parsed
    } catch {} // the message of the error may quote a secret
    throw usage(`--data must be a JSON object, for example: --data ${data.example}`)
  },
}

/** The options of an action, `--data` included. */
export const withData = (fields: Readonly<Record<string, Field>>): Record<string, Field> => ({ ...fields, data })

/** The input that is made from the options. An option overrides the same member of `--data`. */
export async function inputOf(
  given: ReadonlyMap<string, readonly string[]>,
  fields: Readonly<Record<string, Field>>,
  source: Source,
): Promise<JsonObject> {
  const input: JsonObject = {}
  const from = new Map<string, string>()
  for (const [name, field] of Object.entries(fields)) {
    const { member, isList, variable, formerVariable = '' } = field
    if (source.variables[formerVariable] !== undefined)
      throw problem(`${formerVariable} has been renamed to ${variable}. Rename it in your environment.`)
    const values = given.get(name) ?? (variable !== undefined && source.variables[variable] !== undefined ? [''] : [])
    if (values.length === 0) continue
    const read = (value: string) =>
      given.has(name) ? field.read(value, source) : variableOf(variable ?? '', source.variables)
    const all = isList ? await Promise.all(values.map(read)) : []
    const found = isList ? (field.join?.(all) ?? all) : await read(values.at(-1) ?? '')
    if (member === undefined) {
      Object.assign(input, found, { ...input })
      continue
    }
    const other = from.get(member)
    if (other !== undefined) throw usage(`--${other} and --${name} conflict. Use only one of them.`)
    from.set(member, name)
    input[member] = found
  }
  return input
}
