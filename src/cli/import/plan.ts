import { stringify } from 'yaml'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { problem } from '../problem.ts'

/** A text that holds variables of the environment; it is written as `${NAME}`. All other texts are written so that nothing in them is taken for one. */
export class Reference {
  /** Between the names, in their order: one part more than names. */
  readonly parts: readonly string[]
  readonly names: readonly string[]

  constructor(parts: readonly string[], names: readonly string[]) {
    this.parts = parts
    this.names = names
  }
}

/** The whole value of one variable. */
export const variable = (name: string): Reference => new Reference(['', ''], [name])

/** A value of the file: a text, a reference, a number, or an object or a list of such. */
export type PlannedValue =
  | string
  | number
  | boolean
  | Reference
  | readonly PlannedValue[]
  | { readonly [member: string]: PlannedValue | undefined }

/** What becomes of a part of the other program's configuration. */
export interface ImportFinding {
  /** Its place there, such as `model_list[0]`. */
  from: string
  /** What it becomes, or why it becomes nothing. */
  to: string
}

/** An account at a provider, as the other program has it. */
export interface PlannedAccount {
  /** The id of a provider here, or the beginning of one that speaks like OpenAI or Anthropic, such as `openai-compatible-lab`. */
  provider: string
  apiKey?: Reference | undefined
  data?: Readonly<Record<string, PlannedValue | undefined>>
  /** The name for the connection, where it is free. */
  id?: string
  /** The prefix of its models, where the other program has one. */
  prefix?: string
  more?: Readonly<Record<string, PlannedValue | undefined>>
}

interface PlannedConnection {
  id: string
  account: PlannedAccount
  prices: Record<string, PlannedValue>
  /** Its models that anything leads to. */
  models: Set<string>
}

/** An entry of a combo before its weight is needed. */
export interface PlannedEntry {
  model: string
  weight?: number | undefined
  when?: PlannedValue | undefined
  params?: Readonly<Record<string, PlannedValue>> | undefined
}

/**
 * The file of records that an import makes, and what it says of it. It holds no secret: each becomes the name of a variable before it gets here,
 * the same secret always the same one.
 */
export class ImportPlan {
  readonly mapped: ImportFinding[] = []
  readonly unmapped: ImportFinding[] = []
  readonly settings: Record<string, PlannedValue> = {}
  readonly combos = new Map<string, Record<string, PlannedValue | undefined>>()
  readonly aliases = new Map<string, string>()
  readonly groups = new Map<string, Record<string, PlannedValue | undefined>>()
  readonly keys = new Map<string, Record<string, PlannedValue | undefined>>()
  readonly customModels = new Map<string, Record<string, PlannedValue | undefined>>()
  /** By the names of the variables: what each holds. */
  readonly variables = new Map<string, string>()
  readonly #connections: PlannedConnection[] = []
  readonly #secrets = new Map<string, string>()
  readonly #reserved = new Set<string>()

  /** Something of the other program that is found here again. */
  maps(from: string, to: string): void {
    this.mapped.push({ from, to })
  }

  /** Something of the other program that is not found here. */
  leaves(from: string, why: string): void {
    this.unmapped.push({ from, to: why })
  }

  /** The members of an object that nothing was made of: `reasons` says why by name, and `done` are those that were looked at. */
  leavesRest(
    place: string,
    given: JsonObject,
    { done, reasons = {} }: { done: readonly string[]; reasons?: Readonly<Record<string, string>> },
  ): void {
    for (const [name, value] of Object.entries(given)) {
      if (done.includes(name) || value === null || value === undefined || value === false) continue
      const reason = Object.hasOwn(reasons, name) ? reasons[name] : undefined
      this.leaves(place === '' ? name : `${place}.${name}`, reason ?? 'has no counterpart')
    }
  }

  /** Says which members are not of their type, as nothing is made of them. `place` ends in a dot, or is empty. */
  leavesMistyped(place: string, given: JsonObject, types: Readonly<Record<string, 'list' | 'object'>>): void {
    for (const [name, type] of Object.entries(types)) {
      const value = given[name] ?? undefined
      const fits = type === 'list' ? Array.isArray(value) : isObject(value)
      if (value !== undefined && !fits)
        this.leaves(`${place}${name}`, `must be ${type === 'list' ? 'a list' : 'an object'}: nothing is made of it`)
    }
  }

  /** The share of a model, which is 0 at least; what is none is said. */
  share(place: string, given: unknown): number | undefined {
    const found = numberOf(given)
    if (found === undefined && given !== undefined && given !== null)
      this.leaves(place, 'must be a number: nothing is made of it')
    if (found === undefined || found >= 0) return found
    this.leaves(place, 'A weight is 0 at least: 0 is taken, with which a model is tried after all others.')
    return 0
  }

  /** The variable for a secret that was written out; `wish` is its name, unless another secret has it. */
  secret(value: string, wish: string, holds: string): Reference {
    const known = this.#secrets.get(value)
    if (known !== undefined) return variable(known)
    const name = free(variableName(wish), (one) => this.variables.has(one) || this.#reserved.has(one), '_')
    this.#secrets.set(value, name)
    this.variables.set(name, `${holds}, which the file has in clear`)
    return variable(name)
  }

  /** Keeps the name of a variable that the other program reads from those of secrets that are written out. Call it before these are found. */
  reserve(name: string): void {
    this.#reserved.add(name)
  }

  /** A variable that the other program reads as well. */
  read(name: string, holds: string): Reference {
    if (!this.variables.has(name)) this.variables.set(name, holds)
    return variable(name)
  }

  /** The connection for an account, made when there is none; the same account is one connection. */
  connection(account: PlannedAccount): string {
    const identity = (one: PlannedAccount) => JSON.stringify([one.provider, one.apiKey, one.data, one.prefix])
    const known = this.#connections.find((one) => identity(one.account) === identity(account))
    if (known) return known.id
    const id = free(slug(account.id ?? account.provider), (name) => this.#connections.some((one) => one.id === name))
    this.#connections.push({ id, account, prices: {}, models: new Set() })
    return id
  }

  /** The price of a model of a connection, in dollars for a million tokens. */
  price(connection: string, model: string, price: PlannedValue): void {
    const found = this.#connections.find(({ id }) => id === connection)
    if (found) found.prices[model] = price
  }

  /** The connections of a provider. */
  connectionsOf(provider: string): string[] {
    return this.#connections.filter(({ account }) => account.provider === provider).map(({ id }) => id)
  }

  get connectionCount(): number {
    return this.#connections.length
  }

  /** A connection's model as clients and combos name it. Ask once all connections are known: two of one provider are told apart by their prefixes. */
  model(connection: string, model: string): string {
    if (!/[*<]/.test(model)) this.#connections.find(({ id }) => id === connection)?.models.add(model)
    return `${this.#prefixOf(connection)}/${model}`
  }

  #prefixOf(connection: string): string {
    const found = this.#connections.find(({ id }) => id === connection)
    if (!found) return connection
    const { provider, prefix } = found.account
    if (prefix !== undefined) return prefix
    const isAlone = this.#connections.filter(({ account }) => account.provider === provider).length === 1
    return isAlone && !provider.includes('-compatible') ? provider : connection
  }

  /** A name that no combo has: what is asked for, with other characters replaced. */
  comboName(wish: string): string {
    return free(wish.replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '') || 'combo', (name) => this.combos.has(name))
  }

  /** A name that no key has. */
  keyName(wish: string): string {
    return free(wish, (name) => this.keys.has(name))
  }

  /** The file, in YAML that `--config` takes. `from`: the program and the file that it was made from. */
  file(from: string): string {
    const connections = this.#connections.map(
      ({ id, account: { provider, apiKey, data = {}, more = {} }, prices, models }) => {
        const prefix = this.#prefixOf(id)
        const own = {
          ...data,
          ...(prefix !== provider && { prefix }),
          ...(!apiKey && models.size > 0 && { enabledModels: [...models] }), // the listing asks no server without a key
        }
        return [
          id,
          {
            ...(provider !== id && { provider }),
            ...(apiKey && { apiKey }),
            ...(Object.values(own).some((value) => value !== undefined) && { providerSpecificData: own }),
            ...more,
            ...(Object.keys(prices).length > 0 && { prices }),
          },
        ] as const
      },
    )
    const sections: Record<string, Iterable<readonly [string, PlannedValue]>> = {
      settings: Object.entries(this.settings),
      connections,
      customModels: this.customModels,
      combos: this.combos,
      aliases: this.aliases,
      groups: this.groups,
      keys: this.keys,
    }
    const content = Object.fromEntries(
      Object.entries(sections)
        .map(
          ([name, entries]) =>
            [name, Object.fromEntries([...entries].map(([key, value]) => [key, plain(value)]))] as const,
        )
        .filter(([, section]) => Object.keys(section).length > 0),
    )
    return `# Made by signalbox import from ${from.replace(/\s+/g, ' ')}.\n${stringify(content, { lineWidth: 120 })}`
  }
}

/** The value as YAML gets it. */
function plain(value: PlannedValue | undefined): unknown {
  if (value instanceof Reference) {
    return value.parts
      .map((part, at) => escaped(part) + (at < value.names.length ? `\${${value.names[at]}}` : ''))
      .join('')
  }
  if (typeof value === 'string') return escaped(value)
  if (isList(value)) return value.map(plain)
  if (typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => [name, plain(inner)]),
  )
}

const isList = (value: PlannedValue | undefined): value is readonly PlannedValue[] => Array.isArray(value)

const escaped = (text: string) => text.replaceAll('${', () => '$${')

/** `wish` itself if it is no name yet; otherwise `wish-2`, `wish-3` and so on, the first that is no name yet. */
function free(wish: string, isTaken: (name: string) => boolean, between = '-'): string {
  let name = wish
  for (let count = 2; isTaken(name); count++) name = `${wish}${between}${count}`
  return name
}

/** The text as an id: letters, digits, `.`, `_` and `-`. */
export function slug(text: string): string {
  const found = text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 60)
  return found.startsWith('env-') ? `from-${found}` : found || 'connection'
}

/** The text as the name of a variable of the environment. */
export function variableName(text: string): string {
  const found = text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  return /^[A-Z]/.test(found) ? found : `KEY_${found}`
}

/** The variable that usually holds the key of a provider here. */
export const keyVariable = (provider: string): string => `${variableName(provider)}_API_KEY`

/**
 * An address as it may be written to the file. One with a user, a password or a query may hold a secret, and one that is no address may be one: both
 * become a variable.
 */
export function address(
  plan: ImportPlan,
  given: string,
  { wish, end = '' }: { wish: string; end?: string },
): PlannedValue {
  let trimmed = given.trim()
  while (trimmed.endsWith('/')) trimmed = trimmed.slice(0, -1)
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && !(url.username || url.password || url.search || url.hash)
  const whole = trimmed.endsWith(end) ? trimmed : trimmed + end
  return isPlain ? whole : plan.secret(whole, `${wish}_BASE_URL`, 'an address')
}

/** The entries of a combo, with their weights where they differ: up to 1,000, in the same proportion where one was higher. */
export function entriesOf(entries: readonly PlannedEntry[]): PlannedValue[] {
  const weights = entries.map(({ weight }) => weight ?? 1)
  const most = Math.max(...weights)
  const isEven = weights.every((weight) => weight === weights[0])
  return entries.map(({ model, when, params }, at) => {
    if (isEven && when === undefined && params === undefined) return model
    const weight = weights[at] ?? 1
    const share = most > 1_000 ? Number(((weight / most) * 1_000).toPrecision(6)) : weight
    return { model, ...(!isEven && { weight: share }), when, params }
  })
}

/** The number, also where it is written as a text. */
export function numberOf(value: unknown): number | undefined {
  const found = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

/** A time in ms within the bounds of time-outs. */
export const milliseconds = (ms: number): number => Math.min(86_400_000, Math.max(1, Math.round(ms)))

/** The text, if it is one that is not blank. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

/** The object, or an empty one. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** The list, or an empty one. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Throws that the file is none of that program. */
export function isNone(what: string, hint: string): never {
  throw problem(`This is not ${what}. ${hint}`)
}
