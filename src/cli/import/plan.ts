import { stringify } from 'yaml'
import { redactCredentialShapes } from '../../lib/credential-shapes.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { definitions } from '../../protocols/providers/definitions.ts'
import { isEmpty, readNumber } from './field-values.ts'
import { toSlug, toVariableName } from './plan-names.ts'

/** A string that contains environment variables, which the file writes as `${NAME}`. In all other strings, `${` is escaped. */
export class Reference {
  /** The strings around the variables, in order: one more than there are names. */
  readonly parts: readonly string[]
  readonly names: readonly string[]

  constructor(parts: readonly string[], names: readonly string[]) {
    this.parts = parts
    this.names = names
  }
}

/** Creates a reference to one variable. */
export const createReference = (name: string): Reference => new Reference(['', ''], [name])

/** A value in the file. */
export type PlannedValue =
  | string
  | number
  | boolean
  | Reference
  | readonly PlannedValue[]
  | { readonly [member: string]: PlannedValue | undefined }

/** The result of importing one part of another gateway's configuration. */
export interface ImportFinding {
  /** The part's path in that configuration, such as `model_list[0]`. */
  from: string
  /** How the part is imported, or why it isn't. */
  to: string
  /** The model name that clients use for the part, if it has one. */
  name?: string
}

/** An account with a provider, as the other program configures it. */
export interface PlannedAccount {
  /** The ID of a built-in provider, or of a server that uses the OpenAI or Anthropic format, such as `openai-compatible-lab`. */
  provider: string
  apiKey?: Reference | undefined
  data?: Readonly<Record<string, PlannedValue | undefined>>
  /** The connection's base ID. */
  id?: string
  /** The prefix of the account's models, if the other program has one. */
  prefix?: string
  more?: Readonly<Record<string, PlannedValue | undefined>>
}

interface PlannedConnection {
  id: string
  account: PlannedAccount
  prices: Map<string, PlannedValue>
  /** The connection's models that names in the file resolve to. */
  models: Set<string>
}

/** A combo entry. Its weight is omitted if all entries have the same weight. */
export interface PlannedEntry {
  model: string
  weight?: number | undefined
  when?: PlannedValue | undefined
  params?: Readonly<Record<string, PlannedValue>> | undefined
}

/** The records and findings of an import. They contain no secrets: each secret is replaced by a variable, and equal secrets by the same variable. */
export class ImportPlan {
  readonly mapped: ImportFinding[] = []
  readonly unmapped: ImportFinding[] = []
  readonly settings: Record<string, PlannedValue> = {}
  readonly combos = new Map<string, Record<string, PlannedValue | undefined>>()
  readonly aliases = new Map<string, string>()
  readonly groups = new Map<string, Record<string, PlannedValue | undefined>>()
  readonly keys = new Map<string, Record<string, PlannedValue | undefined>>()
  readonly customModels = new Map<string, Record<string, PlannedValue | undefined>>()
  /** Describes the contents of each variable, by name. */
  readonly variables = new Map<string, string>()
  readonly #connections = new Map<string, PlannedConnection>()
  /** The IDs of the connections, by the identifying fields of their accounts. */
  readonly #accounts = new Map<string, string>()
  /** Connection IDs by provider. */
  readonly #providers = new Map<string, string[]>()
  readonly #secrets = new Map<string, string>()
  readonly #reserved = new Set<string>()
  readonly #names = new Set<string>()
  readonly #beginnings = new Set<string>()
  /** The model names that clients use, by path, such as `model_list[0]`. */
  readonly #clientNames = new Map<string, string>()

  /** Reports a part of the other program's configuration as imported. */
  reportMapped(from: string, to: string): void {
    this.mapped.push(redactFinding(from, to))
  }

  /** Stores the model name that clients use for a path, for the findings about it. */
  setClientName(place: string, name: string): void {
    this.#clientNames.set(place, name)
  }

  /** Reports a part of the other program's configuration that was changed or not imported, with the reason. */
  reportUnmapped(from: string, reason: string): void {
    const name = this.#clientNames.get(/^[^.:]+\[\d+\]/.exec(from)?.[0] ?? '')
    this.unmapped.push({
      ...redactFinding(from, reason),
      ...(name !== undefined && { name: redactCredentialShapes(name) }),
    })
  }

  /**
   * Reports the fields of an object that aren't imported. `reasons` contains the reasons by name; `known` lists the fields that don't need a report.
   */
  reportOtherFields(
    place: string,
    fields: JsonObject,
    { known, reasons = {} }: { known: readonly string[]; reasons?: Readonly<Record<string, string>> },
  ): void {
    for (const [name, value] of Object.entries(fields)) {
      if (known.includes(name) || isEmpty(value)) continue
      const reason = Object.hasOwn(reasons, name) ? reasons[name] : undefined
      this.reportUnmapped(place === '' ? name : `${place}.${name}`, reason ?? 'Has no equivalent.')
    }
  }

  /** Reports fields of the wrong type, which aren't imported. `place` is empty or ends with a dot. */
  reportMistyped(place: string, fields: JsonObject, types: Readonly<Record<string, 'list' | 'object'>>): void {
    for (const [name, type] of Object.entries(types)) {
      const value = fields[name] ?? undefined
      const fits = type === 'list' ? Array.isArray(value) : isObject(value)
      if (value !== undefined && !fits)
        this.reportUnmapped(`${place}${name}`, `Must be ${type === 'list' ? 'a list' : 'an object'}; not imported.`)
    }
  }

  /** Reads a model's weight, at least 0. Reports an invalid weight. */
  readWeight(place: string, value: unknown): number | undefined {
    const found = readNumber(value)
    if (found === undefined && value !== undefined && value !== null)
      this.reportUnmapped(place, 'Must be a number; not imported.')
    if (found === undefined || found >= 0) return found
    this.reportUnmapped(place, 'Weights must be at least 0. 0 is used, so the model is tried after all others.')
    return 0
  }

  /** Returns a variable for a plain-text secret. Its name is `base` unless another secret has that name. */
  addSecret(value: string, base: string, holds: string): Reference {
    return this.addVariable(value, base, `${holds} (in plain text in the file)`)
  }

  /**
   * Returns a variable for a value, such as the path of a file whose contents the variable should contain. The same value always gets the same
   * variable. Its name is `base` if that name is free.
   */
  addVariable(value: string, base: string, holds: string): Reference {
    const existing = this.#secrets.get(value)
    if (existing !== undefined) return createReference(existing)
    const name = findFreeName(toVariableName(base), (name) => this.variables.has(name) || this.#reserved.has(name), '_')
    this.#secrets.set(value, name)
    this.variables.set(name, holds)
    return createReference(name)
  }

  /** Reserves the name of a variable that the other program reads, so no plain-text secret is stored under the name. Call it before `addSecret`. */
  reserveVariable(name: string): void {
    this.#reserved.add(name)
  }

  /** Returns a reference to a variable that the other program also reads. */
  readVariable(name: string, holds: string): Reference {
    if (!this.variables.has(name)) this.variables.set(name, holds)
    return createReference(name)
  }

  /**
   * Reserves a name that clients use. The import creates no combo with the name, and no connection whose prefix is the part before its slash. This is
   * necessary because `openai/gpt-5` can mean another vendor's model, or several models. With `isItself`, the name means exactly that model. Call
   * this before planning combos and connections.
   */
  reserveName(name: string, { isItself = false }: { isItself?: boolean } = {}): void {
    this.#names.add(name)
    if (!isItself && !name.includes('*')) this.#beginnings.add(name.slice(0, Math.max(0, name.indexOf('/'))))
  }

  /** Returns the connection for an account. The same account always gets the same connection. */
  connection(account: PlannedAccount): string {
    const { provider, apiKey, data, prefix } = account
    const identity = JSON.stringify([provider, apiKey, data, prefix])
    const existing = this.#accounts.get(identity)
    if (existing !== undefined) return existing
    const base = toSlug(account.id ?? provider)
    const id = isSelfHosted(provider) ? this.findFreePrefix(base) : findFreeName(base, (name) => this.#isPrefix(name))
    this.#accounts.set(identity, id)
    this.#connections.set(id, { id, account, prices: new Map(), models: new Set() })
    this.#providers.set(provider, [...this.listConnections(provider), id])
    return id
  }

  /** Finds a prefix that isn't already a provider or server name. `current` is the prefix that the same server already has. */
  findFreePrefix(base: string, current?: string): string {
    return current ?? findFreeName(BUILT_IN_NAMES.has(base) ? `${base}-server` : base, (name) => this.#isPrefix(name))
  }

  /** Returns whether the names of other models start with this prefix. */
  #isPrefix(name: string): boolean {
    return this.#connections.has(name) || this.#beginnings.has(name)
  }

  /** Sets the price of a connection's model, in USD per million tokens. */
  planPrice(connection: string, model: string, price: PlannedValue): void {
    this.#connections.get(connection)?.prices.set(model, price)
  }

  listConnections(provider: string): readonly string[] {
    return this.#providers.get(provider) ?? []
  }

  get connectionCount(): number {
    return this.#connections.size
  }

  /** Records that a name resolves to this model on all of the provider's connections. */
  markUsed(provider: string, model: string): void {
    for (const id of this.listConnections(provider)) this.#connections.get(id)?.models.add(model)
  }

  /**
   * Returns the model name that clients and combos use for a connection's model. Call it once all connections are known, because connections get
   * prefixes if a provider has several.
   */
  planModel(connection: string, model: string): string {
    if (!/[*<]/.test(model)) this.#connections.get(connection)?.models.add(model)
    return `${this.getPrefix(connection)}/${model}`
  }

  /** Returns the prefix of a connection's model names. A provider's name alone would resolve to all its connections. */
  getPrefix(connection: string): string {
    const { account: { provider, prefix } = { provider: connection } } = this.#connections.get(connection) ?? {}
    if (prefix !== undefined) return prefix
    if (isSelfHosted(provider)) return connection
    if (this.listConnections(provider).length === 1 && !this.#beginnings.has(provider)) return provider
    return connection === provider ? findFreeName(`${provider}-1`, (name) => this.#isPrefix(name)) : connection
  }

  /**
   * Finds a free name for a combo: `base`, with unsupported characters replaced. With `isMadeUp`, the name doesn't come from the other program, so it
   * must also differ from that program's names.
   */
  findFreeComboName(base: string, { isMadeUp: isGenerated = false }: { isMadeUp?: boolean } = {}): string {
    const found = base.replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '')
    const name = found.slice(0, MAX_NAME) || 'combo'
    const isTaken = (name: string) =>
      this.combos.has(name) || ((isGenerated || name !== base) && (this.#names.has(name) || this.aliases.has(name)))
    return findFreeName(name, isTaken)
  }

  /** Plans an alias, or reports that its name isn't a valid alias. */
  planAlias(place: string, name: string, model: string): void {
    if (name.trim() === '' || name.length > MAX_NAME || /^\.{1,2}$/.test(name))
      this.reportUnmapped(
        place,
        `An alias must have 1 to ${MAX_NAME} characters and can't be "." or "..". Use ${model} instead.`,
      )
    else this.aliases.set(name, model)
  }

  /** Returns the first entries, up to the maximum for a combo. Reports if there are more. */
  limitEntries<T>(place: string, all: readonly T[]): readonly T[] {
    if (all.length > MAX_ENTRIES)
      this.reportUnmapped(
        place,
        `A combo can have at most ${MAX_ENTRIES} entries. The first ${MAX_ENTRIES} of ${all.length} are imported.`,
      )
    return all.slice(0, MAX_ENTRIES)
  }

  findFreeGroupId(base: string): string {
    return findFreeName(toSlug(base), (id) => this.groups.has(id))
  }

  findFreeKeyName(base: string): string {
    return findFreeName(base, (name) => this.keys.has(name))
  }

  /** Renders the file for `--config` in YAML. `from` names the program and the source file. */
  renderFile(from: string): string {
    const connections = [...this.#connections.values()].map(
      ({ id, account: { provider, apiKey, data = {}, more = {} }, prices, models }) => {
        const prefix = this.getPrefix(id)
        const providerSpecificData = {
          ...data,
          ...(prefix !== provider && { prefix }),
          // The listing doesn't query servers without a key. For local servers, it would list the catalog's models.
          ...((!apiKey || LOCAL_PROVIDERS.includes(provider)) && models.size > 0 && { enabledModels: [...models] }),
        }
        return [
          id,
          {
            ...(provider !== id && { provider }),
            ...(apiKey && { apiKey }),
            ...(Object.values(providerSpecificData).some((value) => value !== undefined) && { providerSpecificData }),
            ...more,
            ...(prices.size > 0 && { prices: Object.fromEntries(prices) }),
          },
        ] as const
      },
    )
    const sections: Record<string, Iterable<readonly [string, PlannedValue]>> = {
      settings: Object.entries(this.settings),
      connections,
      models: this.customModels,
      combos: this.combos,
      aliases: this.aliases,
      groups: this.groups,
      keys: this.keys,
    }
    const content = Object.fromEntries(
      Object.entries(sections)
        .map(
          ([name, entries]) =>
            [name, Object.fromEntries([...entries].map(([key, value]) => [key, toYamlValue(value)]))] as const,
        )
        .filter(([, section]) => Object.keys(section).length > 0),
    )
    return `# Created by "signalbox import" from ${from.replace(/\s+/g, ' ')}\n${stringify(content, { lineWidth: 120 })}`
  }
}

/** Removes secrets from a finding, because it quotes the other program's file. */
const redactFinding = (from: string, to: string): ImportFinding => ({
  from: redactCredentialShapes(from),
  to: redactCredentialShapes(to),
})

/** An alias's maximum length. */
const MAX_NAME = 200
/** Maximum entries in a combo. */
const MAX_ENTRIES = 100

/** All names of built-in providers. */
const BUILT_IN_NAMES: ReadonlySet<string> = new Set(
  Object.entries(definitions).flatMap(([id, { alias, catalogAlias }]) => [id, alias ?? id, catalogAlias ?? id]),
)

/** Providers whose servers have different models than the catalog. */
const LOCAL_PROVIDERS = ['ollama', 'lmstudio']

/** Returns whether the provider is your own server that uses another provider's format. */
const isSelfHosted = (provider: string) => /^(?:openai|anthropic)-compatible/.test(provider)

/** Converts a value to YAML input. */
function toYamlValue(value: PlannedValue | undefined): unknown {
  if (value instanceof Reference) {
    return value.parts
      .map((part, index) => escapeVariables(part) + (index < value.names.length ? `\${${value.names[index]}}` : ''))
      .join('')
  }
  if (typeof value === 'string') return escapeVariables(value)
  if (isList(value)) return value.map(toYamlValue)
  if (typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => [name, toYamlValue(inner)]),
  )
}

const isList = (value: PlannedValue | undefined): value is readonly PlannedValue[] => Array.isArray(value)

const escapeVariables = (text: string) => text.replaceAll('${', () => '$${')

/** Returns `base` if it is free, otherwise the first free name of `base-2`, `base-3`, and so on. */
function findFreeName(base: string, isTaken: (name: string) => boolean, between = '-'): string {
  let name = base
  for (let count = 2; isTaken(name); count++) name = `${base}${between}${count}`
  return name
}

/** Returns combo entries, with weights only if the weights differ. Scales weights down proportionally if any exceeds 1,000. */
export function toComboModels(entries: readonly PlannedEntry[]): PlannedValue[] {
  const weights = entries.map(({ weight }) => weight ?? 1)
  const most = Math.max(...weights)
  const isEven = weights.every((weight) => weight === weights[0])
  return entries.map(({ model, when, params }, index) => {
    if (isEven && when === undefined && params === undefined) return model
    const weight = weights[index] ?? 1
    const scaledWeight = most > 1_000 ? Number(((weight / most) * 1_000).toPrecision(6)) : weight
    return { model, ...(!isEven && { weight: scaledWeight }), when, params }
  })
}
