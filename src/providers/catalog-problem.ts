import { isObject } from '../lib/json.ts'
import { membersOf, providerFormats } from '../types/unions.ts'
import type { AuthStyle, CatalogModel, CatalogProvider, Cloud } from '../types.ts'

/** Every style of credentials. */
export const authStyles = membersOf<AuthStyle>({
  bearer: true,
  'x-api-key': true,
  'x-goog-api-key': true,
  'api-key': true,
})

/** Every cloud. */
export const clouds = membersOf<Cloud>({ azure: true, bedrock: true, vertex: true })

/** Checks a value; returns the problem as a sentence that begins with the path, or `undefined`. */
type Rule = (value: unknown, path: string) => string | undefined

/**
 * The first problem of a provider in a host's own catalog that the gateway cannot work with, misspelt fields included; `undefined` when
 * there is none. Unknown values that it can ignore, such as kinds, are accepted.
 */
export function providerProblem(provider: unknown, path: string): string | undefined {
  if (!isObject(provider)) return `${path} must be an object, such as { baseUrl, models }.`
  return misspelt(provider, path) ?? fieldProblem(provider, providerRules, path)
}

const must =
  (be: string, test: (value: unknown) => boolean): Rule =>
  (value, path) =>
    test(value) ? undefined : `${path} must be ${be}.`

const optional =
  (rule: Rule): Rule =>
  (value, path) =>
    value === undefined ? undefined : rule(value, path)

const text = must('text', (value) => typeof value === 'string')
const amount = must('a number that is not negative', (value) => typeof value === 'number' && value >= 0)
const address = must('an address that starts with http:// or https://', (value) => {
  return typeof value === 'string' && /^\s*https?:\/\//i.test(value) && URL.canParse(value)
})

const oneOf = (members: readonly unknown[]): Rule =>
  must(`one of ${members.join(', ')}`, (value) => members.includes(value))

const listOf =
  (rule: Rule): Rule =>
  (value, path) =>
    Array.isArray(value) ? first(value, (item, index) => rule(item, `${path}[${index}]`)) : `${path} must be a list.`

const recordOf =
  (rule: Rule): Rule =>
  (value, path) =>
    isObject(value)
      ? first(Object.entries(value), ([name, item]) => rule(item, `${path}.${name}`))
      : `${path} must be an object.`

const objectOf =
  (rules: Record<string, Rule>): Rule =>
  (value, path) =>
    isObject(value) ? fieldProblem(value, rules, path) : `${path} must be an object.`

const price = optional(
  recordOf(optional((value, path) => (isObject(value) ? recordOf(amount)(value, path) : amount(value, path)))),
)

const modelRules: Record<keyof CatalogModel, Rule> = {
  id: text,
  type: optional(text),
  contextWindow: optional(amount),
  maxOutputTokens: optional(amount),
  price,
}
const named = objectOf({ models: optional(listOf(objectOf({ id: text }))) })

const service = objectOf({
  baseUrl: optional(address),
  keyHeader: optional(text),
  price,
})

const providerRules: Record<keyof CatalogProvider, Rule> = {
  alias: optional(text),
  catalogAlias: optional(text),
  name: optional(text),
  docsUrl: optional(text),
  baseUrl: optional(address),
  format: optional(oneOf(providerFormats)),
  formats: optional(recordOf(oneOf(providerFormats))),
  alsoSpeaks: optional(listOf(oneOf(providerFormats))),
  auth: optional(oneOf(authStyles)),
  cloud: optional(oneOf(clouds)),
  serviceKinds: optional(listOf(text)),
  models: optional(listOf(objectOf(modelRules))),
  ttsConfig: optional(named),
  embeddingConfig: optional(named),
  searchConfig: optional(service),
  fetchConfig: optional(service),
}

const fieldProblem = (value: object, rules: Record<string, Rule>, path: string) =>
  first(Object.entries(rules), ([name, rule]) => rule(Reflect.get(value, name), `${path}.${name}`))

/** Unknown fields are accepted, unless one is nearly the name of a known field. */
function misspelt(provider: object, path: string): string | undefined {
  const plain = (name: string) => name.replace(/[_-]/g, '').toLowerCase()
  return first(Object.keys(provider), (name) => {
    if (Object.hasOwn(providerRules, name)) return undefined
    const meant = Object.keys(providerRules).find((known) => plain(known) === plain(name))
    return meant && `${path}.${name} is no field of a provider. Did you mean "${meant}"?`
  })
}

function first<T>(items: readonly T[], problemOf: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const problem = problemOf(item, index)
    if (problem) return problem
  }
  return undefined
}
