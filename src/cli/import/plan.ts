import { stringify } from 'yaml'
import { withoutCredentialShapes } from '../../lib/credential-shapes.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { definitions } from '../../protocols/providers/definitions.ts'
import { isNothing, numberOf } from './given-fields.ts'
import { slug, variableName } from './plan-names.ts'

/** A text with variables of the environment, which the file has as `${NAME}`. In all other texts of the file `${` is escaped. */
export class Reference {
  /** The texts around the variables, in order: one more than there are names. */
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

/** The result of importing one part of the other program's configuration. */
export interface ImportFinding {
  /** The place of the part in that configuration, such as `model_list[0]`. */
  from: string
  /** What the part is imported as, or why it is not imported. */
  to: string
  /** The model name that clients use for the part, if it has one. */
  name?: string
}

/** An account at a provider, as the other program has it. */
export interface PlannedAccount {
  /** The id of a provider of Signalbox, or of a server that speaks like OpenAI or Anthropic, such as `openai-compatible-lab`. */
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
  prices: Map<string, PlannedValue>
  /** Its models to which a name in the file leads. */
  models: Set<string>
}

/** An entry of a combo; its weight is left out where all weights are the same. */
export interface PlannedEntry {
  model: string
  weight?: number | undefined
  when?: PlannedValue | undefined
  params?: Readonly<Record<string, PlannedValue>> | undefined
}

/**
 * The file of records that an import makes, and the findings that it reports. Neither holds a secret: each secret is replaced by a variable first, the
 * same secret always by the same variable.
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
  /** What each variable holds, by the names of the variables. */
  readonly variables = new Map<string, string>()
  /** The connections by their ids. */
  readonly #connections = new Map<string, PlannedConnection>()
  /** The ids of the connections, by the members that tell accounts apart. */
  readonly #accounts = new Map<string, string>()
  /** The ids of the connections, by their providers. */
  readonly #providers = new Map<string, string[]>()
  readonly #secrets = new Map<string, string>()
  readonly #reserved = new Set<string>()
  readonly #names = new Set<string>()
  readonly #beginnings = new Set<string>()
  /** The model names that clients use, by place, such as `model_list[0]`. */
  readonly #clientNames = new Map<string, string>()

  /** Reports a part of the other program's configuration that is imported, and as what. */
  maps(from: string, to: string): void {
    this.mapped.push(shown(from, to))
  }

  /** Records the model name that clients use for a place, for the findings about it. */
  setClientName(place: string, name: string): void {
    this.#clientNames.set(place, name)
  }

  /** Reports a part of the other program's configuration that is not imported, or not as it was, and why. */
  leaves(from: string, why: string): void {
    const name = this.#clientNames.get(/^[^.:]+\[\d+\]/.exec(from)?.[0] ?? '')
    this.unmapped.push({ ...shown(from, why), ...(name !== undefined && { name: withoutCredentialShapes(name) }) })
  }

  /** Reports the members of an object that are not imported. `reasons`: why, by name; `done`: the members that need no report. */
  leavesRest(
    place: string,
    given: JsonObject,
    { done, reasons = {} }: { done: readonly string[]; reasons?: Readonly<Record<string, string>> },
  ): void {
    for (const [name, value] of Object.entries(given)) {
      if (done.includes(name) || isNothing(value)) continue
      const reason = Object.hasOwn(reasons, name) ? reasons[name] : undefined
      this.leaves(place === '' ? name : `${place}.${name}`, reason ?? 'Has no equivalent.')
    }
  }

  /** Reports the members that do not have their type, and so are left out. `place` ends in a dot, or is empty. */
  leavesMistyped(place: string, given: JsonObject, types: Readonly<Record<string, 'list' | 'object'>>): void {
    for (const [name, type] of Object.entries(types)) {
      const value = given[name] ?? undefined
      const fits = type === 'list' ? Array.isArray(value) : isObject(value)
      if (value !== undefined && !fits)
        this.leaves(`${place}${name}`, `Must be ${type === 'list' ? 'a list' : 'an object'}; not imported.`)
    }
  }

  /** The share of a model, at least 0. Reports a value that is not a share. */
  share(place: string, given: unknown): number | undefined {
    const found = numberOf(given)
    if (found === undefined && given !== undefined && given !== null)
      this.leaves(place, 'Must be a number; not imported.')
    if (found === undefined || found >= 0) return found
    this.leaves(place, 'Weights must be at least 0. 0 is used, so the model is tried after all others.')
    return 0
  }

  /** The variable for a secret that was written out; `wish` is its name, unless another secret has it. */
  secret(value: string, wish: string, holds: string): Reference {
    return this.variableFor(value, wish, `${holds} (in plain text in the file)`)
  }

  /** The variable for what a value stands for, such as the content of a file: the same for the same value. `wish` is its name, if that is free. */
  variableFor(value: string, wish: string, holds: string): Reference {
    const known = this.#secrets.get(value)
    if (known !== undefined) return variable(known)
    const name = free(variableName(wish), (one) => this.variables.has(one) || this.#reserved.has(one), '_')
    this.#secrets.set(value, name)
    this.variables.set(name, holds)
    return variable(name)
  }

  /** Reserves the name of a variable that the other program reads: no secret that was written out gets it. Call it before `secret`. */
  reserve(name: string): void {
    this.#reserved.add(name)
  }

  /** A variable that the other program reads as well. */
  read(name: string, holds: string): Reference {
    if (!this.variables.has(name)) this.variables.set(name, holds)
    return variable(name)
  }

  /**
   * Reserves a name by which clients ask: no combo that the import adds gets it, and no connection gets the part before its slash as a prefix, as
   * `openai/gpt-5` may stand for another model than OpenAI's, or for several. `isItself`: the name stands for exactly that model. Call it before combos
   * and connections are made.
   */
  reserveName(name: string, { isItself = false }: { isItself?: boolean } = {}): void {
    this.#names.add(name)
    if (!isItself && !name.includes('*')) this.#beginnings.add(name.slice(0, Math.max(0, name.indexOf('/'))))
  }

  /** The connection for an account, made when there is none; the same account is one connection. */
  connection(account: PlannedAccount): string {
    const { provider, apiKey, data, prefix } = account
    const identity = JSON.stringify([provider, apiKey, data, prefix])
    const known = this.#accounts.get(identity)
    if (known !== undefined) return known
    const wish = slug(account.id ?? provider)
    const id = isOwnServer(provider) ? this.freePrefix(wish) : free(wish, (name) => this.#isPrefix(name))
    this.#accounts.set(identity, id)
    this.#connections.set(id, { id, account, prices: new Map(), models: new Set() })
    this.#providers.set(provider, [...this.connectionsOf(provider), id])
    return id
  }

  /** A prefix that is not the name of a provider or of another server; `known`: the prefix that the same server has already. */
  freePrefix(wish: string, known?: string): string {
    return known ?? free(BUILT_IN.has(wish) ? `${wish}-server` : wish, (name) => this.#isPrefix(name))
  }

  /** Do the names of other models begin with this one? */
  #isPrefix(name: string): boolean {
    return this.#connections.has(name) || this.#beginnings.has(name)
  }

  /** The price of a model of a connection, in dollars for a million tokens. */
  price(connection: string, model: string, price: PlannedValue): void {
    this.#connections.get(connection)?.prices.set(model, price)
  }

  /** The connections of a provider. */
  connectionsOf(provider: string): readonly string[] {
    return this.#providers.get(provider) ?? []
  }

  get connectionCount(): number {
    return this.#connections.size
  }

  /** Notes that a name leads to this model at all connections of the provider. */
  uses(provider: string, model: string): void {
    for (const id of this.connectionsOf(provider)) this.#connections.get(id)?.models.add(model)
  }

  /** A connection's model as clients and combos name it. Call it once all connections are known: several of one provider get prefixes. */
  model(connection: string, model: string): string {
    if (!/[*<]/.test(model)) this.#connections.get(connection)?.models.add(model)
    return `${this.prefixOf(connection)}/${model}`
  }

  /** What the names of a connection's models begin with. Its provider's name would lead to all connections of the provider. */
  prefixOf(connection: string): string {
    const { account: { provider, prefix } = { provider: connection } } = this.#connections.get(connection) ?? {}
    if (prefix !== undefined) return prefix
    if (isOwnServer(provider)) return connection
    if (this.connectionsOf(provider).length === 1 && !this.#beginnings.has(provider)) return provider
    return connection === provider ? free(`${provider}-1`, (name) => this.#isPrefix(name)) : connection
  }

  /**
   * A name that no combo has: `wish`, with characters replaced that a name cannot have. `isMadeUp`: the other program does not have the name, which must
   * therefore not be one of that program's names either.
   */
  comboName(wish: string, { isMadeUp = false }: { isMadeUp?: boolean } = {}): string {
    const found = wish.replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '')
    const name = found.slice(0, MAX_NAME) || 'combo'
    const isTaken = (one: string) =>
      this.combos.has(one) || ((isMadeUp || one !== wish) && (this.#names.has(one) || this.aliases.has(one)))
    return free(name, isTaken)
  }

  /** Plans an alias, or reports that its name cannot be one. */
  alias(place: string, name: string, model: string): void {
    if (name.trim() === '' || name.length > MAX_NAME || /^\.{1,2}$/.test(name))
      this.leaves(
        place,
        `An alias must have 1 to ${MAX_NAME} characters and can't be "." or "..". Use ${model} instead.`,
      )
    else this.aliases.set(name, model)
  }

  /** The first entries, as many as a combo may have. Reports that others are left out. */
  entries<T>(place: string, all: readonly T[]): readonly T[] {
    if (all.length > MAX_ENTRIES)
      this.leaves(
        place,
        `A combo can have at most ${MAX_ENTRIES} entries. The first ${MAX_ENTRIES} of ${all.length} are imported.`,
      )
    return all.slice(0, MAX_ENTRIES)
  }

  /** An id that no group has. */
  groupId(wish: string): string {
    return free(slug(wish), (id) => this.groups.has(id))
  }

  /** A name that no key has. */
  keyName(wish: string): string {
    return free(wish, (name) => this.keys.has(name))
  }

  /** The file, in YAML that `--config` takes. `from`: the program and the file that it was made from. */
  file(from: string): string {
    const connections = [...this.#connections.values()].map(
      ({ id, account: { provider, apiKey, data = {}, more = {} }, prices, models }) => {
        const prefix = this.prefixOf(id)
        const own = {
          ...data,
          ...(prefix !== provider && { prefix }),
          // The listing of models does not ask a server without a key, and takes the models of local servers from the catalog.
          ...((!apiKey || LOCAL.includes(provider)) && models.size > 0 && { enabledModels: [...models] }),
        }
        return [
          id,
          {
            ...(provider !== id && { provider }),
            ...(apiKey && { apiKey }),
            ...(Object.values(own).some((value) => value !== undefined) && { providerSpecificData: own }),
            ...more,
            ...(prices.size > 0 && { prices: Object.fromEntries(prices) }),
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
    return `# Created by "signalbox import" from ${from.replace(/\s+/g, ' ')}\n${stringify(content, { lineWidth: 120 })}`
  }
}

/** A finding quotes the other program's file, which may have a secret where none belongs. */
const shown = (from: string, to: string): ImportFinding => ({
  from: withoutCredentialShapes(from),
  to: withoutCredentialShapes(to),
})

/** The longest name of an alias. */
const MAX_NAME = 200
/** The most entries of a combo. */
const MAX_ENTRIES = 100

/** All names of the providers of Signalbox. */
const BUILT_IN: ReadonlySet<string> = new Set(
  Object.entries(definitions).flatMap(([id, { alias, catalogAlias }]) => [id, alias ?? id, catalogAlias ?? id]),
)

/** Providers whose servers have other models than the catalog. */
const LOCAL = ['ollama', 'lmstudio']

/** Is it a provider that only speaks like another one, at an address of its own? */
const isOwnServer = (provider: string) => /^(?:openai|anthropic)-compatible/.test(provider)

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

/** The entries of a combo, with their weights if these differ. Weights above 1,000 are scaled down, all in the same proportion. */
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
