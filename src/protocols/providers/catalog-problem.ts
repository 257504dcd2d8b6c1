import { isObject } from '../../lib/json.ts'
import { listMembers, providerFormats } from '../../types/unions.ts'
import type { AuthStyle, CatalogModel, CatalogProvider, Cloud } from '../../types.ts'

/** All ways to send a credential. */
export const authStyles = listMembers<AuthStyle>({
  bearer: true,
  'x-api-key': true,
  'x-goog-api-key': true,
  'api-key': true,
})

/** All cloud platforms. */
export const clouds = listMembers<Cloud>({ azure: true, bedrock: true, vertex: true })

/** Checks a value. Returns the problem as a sentence that starts with the path, or `undefined` if the value is valid. */
type CatalogRule = (value: unknown, path: string) => string | undefined

/**
 * Finds the first problem with a provider in a custom catalog, including misspelled fields. Accepts unknown values that the gateway can ignore, such
 * as kinds.
 */
export function findProviderProblem(provider: unknown, path: string): string | undefined {
  if (!isObject(provider)) return `${path} must be an object, such as { baseUrl, models }.`
  return findMisspelling(provider, path) ?? findFieldProblem(provider, providerRules, path)
}

const createRule =
  (requirement: string, test: (value: unknown) => boolean): CatalogRule =>
  (value, path) =>
    test(value) ? undefined : `${path} must be ${requirement}.`

const optional =
  (rule: CatalogRule): CatalogRule =>
  (value, path) =>
    value === undefined ? undefined : rule(value, path)

const string = createRule('a string', (value) => typeof value === 'string')
const nonNegative = createRule('a non-negative number', (value) => typeof value === 'number' && value >= 0)
const url = createRule('a URL that starts with http:// or https://', (value) => {
  return typeof value === 'string' && /^\s*https?:\/\//i.test(value) && URL.canParse(value)
})

const picklist = (members: readonly unknown[]): CatalogRule =>
  createRule(`one of ${members.join(', ')}`, (value) => members.includes(value))

const array =
  (rule: CatalogRule): CatalogRule =>
  (value, path) =>
    Array.isArray(value)
      ? findFirst(value, (item, index) => rule(item, `${path}[${index}]`))
      : `${path} must be an array.`

const record =
  (rule: CatalogRule): CatalogRule =>
  (value, path) =>
    isObject(value)
      ? findFirst(Object.entries(value), ([name, item]) => rule(item, `${path}.${name}`))
      : `${path} must be an object.`

const object =
  (rules: Record<string, CatalogRule>): CatalogRule =>
  (value, path) =>
    isObject(value) ? findFieldProblem(value, rules, path) : `${path} must be an object.`

const amount: CatalogRule = (value, path) => {
  if (Array.isArray(value)) return array(record(nonNegative))(value, path)
  return isObject(value) ? record(optional(amount))(value, path) : nonNegative(value, path)
}
const price = optional(record(optional(amount)))

const modelRules: Record<keyof CatalogModel, CatalogRule> = {
  id: string,
  type: optional(string),
  contextWindow: optional(nonNegative),
  maxOutputTokens: optional(nonNegative),
  price,
  asOf: optional(string),
  retired: () => undefined,
}
const modelList = object({ models: optional(array(object({ id: string }))) })

const service = object({
  baseUrl: optional(url),
  keyHeader: optional(string),
  price,
})

const providerRules: Record<keyof CatalogProvider, CatalogRule> = {
  alias: optional(string),
  catalogAlias: optional(string),
  name: optional(string),
  docsUrl: optional(string),
  baseUrl: optional(url),
  format: optional(picklist(providerFormats)),
  formats: optional(record(picklist(providerFormats))),
  alsoSpeaks: optional(array(picklist(providerFormats))),
  auth: optional(picklist(authStyles)),
  cloud: optional(picklist(clouds)),
  serviceKinds: optional(array(string)),
  models: optional(array(object(modelRules))),
  asOf: optional(string),
  isLive: () => undefined,
  ttsConfig: optional(modelList),
  embeddingConfig: optional(modelList),
  searchConfig: optional(service),
  fetchConfig: optional(service),
}

const findFieldProblem = (value: object, rules: Record<string, CatalogRule>, path: string) =>
  findFirst(Object.entries(rules), ([name, rule]) => rule(Reflect.get(value, name), `${path}.${name}`))

/** Finds an unknown field that looks like a misspelling of a known one. Other unknown fields are valid. */
function findMisspelling(provider: object, path: string): string | undefined {
  const normalize = (name: string) => name.replace(/[_-]/g, '').toLowerCase()
  return findFirst(Object.keys(provider), (name) => {
    if (Object.hasOwn(providerRules, name)) return undefined
    const suggestion = Object.keys(providerRules).find((ruleName) => normalize(ruleName) === normalize(name))
    return suggestion && `${path}.${name} is not a provider field. Did you mean "${suggestion}"?`
  })
}

function findFirst<T>(
  items: readonly T[],
  findProblem: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const problem = findProblem(item, index)
    if (problem) return problem
  }
  return undefined
}
