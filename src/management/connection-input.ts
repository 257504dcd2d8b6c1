import * as v from 'valibot'
import type { ProviderSpecificData } from '../types.ts'
import { addressProblem } from './address.ts'
import { fields } from './fields.ts'
import { closed, invalidInput, noList } from './input.ts'

/** A credential is sent as a header: pasted line ends are dropped, what no header can carry is refused. */
const apiKey = v.pipe(
  fields.text,
  v.trim(),
  v.nonEmpty('must not be blank: is the variable that it comes from set? Send null, or leave it out, for none'),
  v.check(
    (key) => !key.includes('…'),
    'holds "…", which stands for what is not shown; send the whole key, or leave it out to keep the stored one',
  ),
  v.regex(
    /^[\x21-\x7e]+$|^\{/,
    'must be the bare key: one line of plain characters, without blanks and without "Bearer"',
  ),
  v.maxLength(8_192, 'must not be longer than 8192 characters'),
)

const baseUrl = v.pipe(
  fields.text,
  v.trim(),
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed && dataset.value !== '' ? addressProblem(dataset.value) : undefined
    if (problem) addIssue({ message: problem })
  }),
)

/** What becomes part of an address. */
function setting(shape: RegExp, message: string) {
  return v.pipe(fields.text, v.trim(), v.regex(shape, message))
}

const providerSpecificData = closed({
  prefix: v.exactOptional(fields.raw(200)),
  sharesPrefix: v.exactOptional(fields.flag),
  enabledModels: v.exactOptional(
    v.pipe(
      v.array(fields.raw(512), 'must be a list of model ids'),
      v.maxLength(5_000, 'must not hold more than 5000 ids'),
    ),
  ),
  baseUrl: v.exactOptional(baseUrl),
  format: v.exactOptional(fields.format),
  resource: v.exactOptional(setting(/^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/, 'must be the name alone, without its address')),
  region: v.exactOptional(setting(/^[a-z0-9-]{2,40}$/, 'must be a region such as "us-east-1"')),
  project: v.exactOptional(setting(/^[a-z0-9][a-z0-9.:-]{0,62}$/, 'must be the id of a project such as "my-project"')),
  apiVersion: v.exactOptional(setting(/^[\w.-]{1,40}$/, 'must be a version such as "2024-10-21"')),
  deployment: v.exactOptional(setting(/^[\w.-]{1,64}$/, 'must be the name of a deployment')),
})

/** What belongs in a field of a connection, by its name. */
export const innerFields = { providerSpecificData: Object.keys(providerSpecificData.entries) }

const shared = {
  isActive: v.exactOptional(fields.flag),
  priority: v.exactOptional(v.nullable(v.pipe(v.number('must be a number'), v.finite('must be a number')))),
  apiKey: v.exactOptional(v.nullable(apiKey)),
  providerSpecificData: v.exactOptional(v.nullable(v.pipe(noList(), providerSpecificData))),
}

/** What `POST /api/connections` takes; `null` counts as absent. */
export const newConnection = closed({ provider: fields.name, name: v.exactOptional(fields.name), ...shared })

/** What `PUT /api/connections/{id}` takes; `null` removes. What the gateway has set may be sent back and is ignored. */
export const connectionChange = closed({
  name: v.exactOptional(fields.name),
  ...shared,
  provider: v.exactOptional(fields.text),
  id: v.exactOptional(fields.text),
  createdAt: fields.ignored,
  updatedAt: fields.ignored,
  health: fields.ignored,
})

/**
 * Throws `INVALID_REQUEST` when the base URL already holds a path that the gateway adds; one that ends in `/messages` is specified
 * (spec.md, Upstream model fetch). A blank one is dropped: it counts as not set.
 */
export function checkedData(data: ProviderSpecificData): ProviderSpecificData {
  const { baseUrl, ...rest } = data
  if (!baseUrl) return rest
  const [path] = ENDPOINT.exec(baseUrl) ?? []
  if (path === undefined) return data
  const base = baseUrl.slice(0, -path.length)
  throw invalidInput(`"providerSpecificData.baseUrl" must end before "${path}", which the gateway adds: "${base}"`)
}

const ENDPOINT = /\/(?:chat\/completions|completions|responses|embeddings)\/*$/i
