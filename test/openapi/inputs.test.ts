import type { ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { type GenericSchema, safeParse } from 'valibot'
import { describeInput } from '../../src/admin/http/openapi/field-words.ts'
import { listServedOperations } from '../../src/management/operations.ts'
import { openManagement } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'
import { describedOperations } from './description.ts'

const test = suite('inputs in the OpenAPI document')

const when = { model: ['a*'], bytes: { min: 1, max: 9 }, stream: true, headers: { 'x-a': 'b' }, metadata: { c: ['d'] } }
const health = { failureShare: 0.5, windowMs: 1_000, minCalls: 1, cooldownMs: 1, maxCooldownMs: 2 }
const rules = { health, maxAttempts: 3, timeouts: { headersMs: 1, idleMs: 2, totalMs: 3 } }
const combo = {
  name: 'c',
  models: ['a', { model: 'b', weight: 1, when, where: { zdr: true }, promptCaching: 'auto' }],
  strategy: 'weighted',
  kind: 'llm',
  on: ['content', 'schema'],
  stickyLimit: 1,
  connectionStrategy: 'random',
  hedge: true,
  sameVectors: true,
  retryAmbiguous: true,
  guards: ['w'],
  ...rules,
}
const prices = {
  input: 1,
  output: 0,
  cacheRead: 0.1,
  cacheWrite: 2,
  search: 1,
  page: 1,
  image: 1,
  second: 1,
  character: 1,
}
const connection = {
  provider: 'openai',
  name: 'n',
  isActive: true,
  draining: false,
  priority: 1.5,
  apiKey: 'sk-1',
  prices: { m: prices },
  tags: { region: 'eu', zdr: true },
  promptCaching: 'off',
  providerSpecificData: {
    prefix: 'p',
    enabledModels: ['m'],
    baseUrl: 'https://a.example',
    format: 'gemini',
    region: 'eu',
  },
  prefix: 'p',
  sharesPrefix: null,
  enabledModels: null,
  discover: true,
  baseUrl: 'https://a.example',
  format: null,
}

const windows = { minute: 1, hour: 2, day: 3, week: 4, month: 5, total: 6 }
const limits = { requests: windows, tokens: windows, usd: { ...windows, day: 0.5 }, parallel: 2 }
const allowed = { models: ['a/*'], kinds: ['llm'], limits, metadata: { team: 'ml' } }
const key = {
  name: 'a',
  ...allowed,
  expiresAt: '2027-01-01T00:00:00Z',
  group: 'g',
  actsFor: { plan: 'p' },
  guards: ['w'],
  guardsExcept: ['p'],
  require: { zdr: true },
  promptCaching: { mode: 'auto', ttl: '1h' },
}
const newKey = { ...key, account: 'a' }
const user = { name: 'a', plan: 'p', isActive: true, require: { zdr: true }, promptCaching: 'off', ...allowed }
const sentBack = { ref: 'x', tokensFrom: 'x', createdAt: 'x', seenOn: 'x', isManaged: true, warnings: [], error: 'e' }

const guard = {
  ...{ name: 'w', kind: 'words', on: ['request'], as: 'answer', message: 'm', older: 'refuse', onError: 'pass' },
  ...{ stage: 'during', timeoutMs: 1, mode: 'watch', media: 'refuse', remote: 'refuse', hold: 'all', maxMatch: 1 },
  ...{ patterns: ['a'], flags: 'i', template: 'gpt-oss-safeguard', prepend: 'a', append: 'b' },
  arguments: { f: { type: 'object' } },
  ...{
    set: { temperature: 1 },
    max: { topP: 1, maxTokens: 1 },
    providerHeaders: { 'x-title': 'App' },
    url: 'https://a.test',
    headers: { authorization: 'Bearer x' },
    changes: true,
    allowPrivate: true,
  },
  ...{ words: ['a'], action: 'mask', types: ['email'] },
  ...{ maxCharacters: 1, maxTurns: 1, maxTools: 1, maxMedia: 1 },
  ...{ allow: ['a'], deny: ['b'], hosted: 'refuse', model: 'm', thresholds: { violence: 0.5 }, policy: 'p' },
}

/** A valid input for each operation, with every field that it may have. */
const samples: Record<string, object> = {
  'keys.create': newKey,
  'keys.update': { ...key, isActive: true },
  'keys.put': { ...newKey, id: 'i', key: `sbx_${'a'.repeat(32)}`, isActive: true },
  'keys.rotate': { graceMs: 0 },
  'keys.limits.settle': { as: 'spent' },
  'groups.limits.settle': { as: 'unspent' },
  'settings.limits.settle': { as: 'spent' },
  'accounts.limits.settle': { as: 'spent' },
  'accounts.put': { ...user, id: 'i' },
  'accounts.update': { ...user, ...sentBack, id: 'i' },
  'tokens.mint': {
    account: 'a',
    plan: 'p',
    require: { zdr: true },
    ...allowed,
    origins: ['https://a.example'],
    expiresIn: '15m',
  },
  'guards.create': guard,
  'guards.update': { ...guard, on: null, source: 'code', createdAt: 'x', updatedAt: 'x', error: 'e' },
  'guards.put': guard,
  'guards.test': { text: 'a', guards: ['w'], guard, stage: 'answer' },
  'groups.create': {
    name: 'a',
    isActive: true,
    each: limits,
    guards: ['w'],
    require: { zdr: true },
    promptCaching: 'off',
    ...allowed,
  },
  'groups.update': {
    name: 'a',
    isActive: true,
    each: limits,
    guards: ['w'],
    require: { zdr: true },
    promptCaching: 'auto',
    ...allowed,
    id: 'i',
    createdAt: 'x',
    source: 'x',
    warnings: [],
    error: 'e',
  },
  'groups.put': {
    name: 'a',
    isActive: true,
    each: limits,
    guards: ['w'],
    require: { zdr: true },
    promptCaching: 'off',
    ...allowed,
    id: 'i',
  },
  'settings.update': {
    requireApiKey: true,
    cloudUrl: 'https://a.example',
    ...rules,
    timeouts: null,
    limits,
    guards: ['w'],
    whenPriceUnknown: 'allow',
    onStorageUnavailable: { usd: 'allow', tokens: null, requests: 'refuse', parallel: 'refuse' },
    allowRequestModels: false,
    showKeyValues: false,
    usage: { keepRequestsDays: 7, keepTotalsDays: null },
    promptCaching: { mode: 'auto' },
  },
  'combos.create': combo,
  'combos.update': { ...combo, id: 'i', createdAt: 'x', updatedAt: 'x', source: 'x', warnings: [], hedge: null },
  'combos.put': { ...combo, id: 'i', hedge: null },
  'connections.create': connection,
  'connections.update': {
    ...connection,
    ...{ id: 'i', createdAt: 'x', updatedAt: 'x', source: 'x', health: [], warnings: [] },
  },
  'connections.put': { ...connection, id: 'i' },
  'connections.test': { model: 'm' },
  'customModels.create': { id: 'm', type: 'tts', providerAlias: 'p', prices },
  'customModels.put': { id: 'm', type: 'tts', providerAlias: 'p', prices },
  'aliases.set': { alias: 'a', model: 'm' },
  'providers.update': { strategy: 'random', stickyLimit: 2 },
  'cloud.enable': { enrollmentToken: 'e'.repeat(32) },
  'cloud.sync': {},
  'cloud.disable': { force: true },
  'catalog.accept': { models: ['openai/x'] },
  'cloud.check': {},
  explain: { model: 'm', body: {}, headers: { a: 'b' }, path: '/v1/messages', keyId: 'k', account: 'a' },
  'damagedRecords.put': { record: {} },
}

/** Returns each operation that has a body, with its input schema (if it has one) and the schema in the description. */
async function listDescribed() {
  const operations = describedOperations(await openManagement().gateway.api.openapi())
  return listServedOperations().flatMap(({ names, path, method, action, input }) => {
    const template = path.replace(/:(\w+)\+?/g, '{$1}')
    const request = operations.find((operation) => operation.path === template && operation.method === method)?.request
    return request ? [{ name: names.join('.'), action, request, schema: input }] : []
  })
}

/** Returns whether a description accepts an input, ignoring whitespace around strings. */
const isAccepted = (request: ValidateFunction, input: object, action: string | undefined) =>
  request(
    JSON.parse(JSON.stringify({ ...(action && { action }), ...input }), (_, value) =>
      typeof value === 'string' ? value.trim() : value,
    ),
  )

test('every operation with a body has an input schema', async () => {
  const names = (await listDescribed()).map(({ name }) => name).sort()
  assert.equal(names, Object.keys(samples).sort(), 'Give each operation a valid input in the `samples` of this file.')
})

test('input schemas have exactly the fields that operations accept', async () => {
  for (const { name, action, request, schema } of await listDescribed()) {
    const sample = samples[name] ?? {}
    if (schema) assert.ok(safeParse(schema, sample).success, name)
    assert.ok(isAccepted(request, sample, action), `${name}: ${JSON.stringify(request.errors)}`)
    assert.not.ok(isAccepted(request, { ...sample, more: 1 }, action), name)
    const entries: Record<string, GenericSchema & { wrapped?: GenericSchema }> = Object(schema).entries ?? {}
    for (const [member, entry] of Object.entries(entries)) {
      const isShown = entry.wrapped?.type !== 'never'
      assert.is(Object.hasOwn(sample, member), isShown, `${name}: does the sample in this file have "${member}"?`)
      const { [member]: _, ...without } = sample as Record<string, unknown>
      assert.is(isAccepted(request, without, action), Boolean(entry.wrapped), `${name} without ${member}`)
    }
  }
})

test('the OpenAPI document limits `action` to the known actions', async () => {
  const cloud = (await listDescribed()).find(({ name }) => name === 'cloud.sync')
  const is = (body: object) => cloud?.request(body)
  assert.equal([{ action: 'check' }, { action: 'none' }, {}, { action: 'sync', force: true }].map(is), [
    true,
    false,
    false,
    false,
  ])
})

/** Returns the paths to a value and to everything nested in it. */
function listPaths(value: unknown, before: readonly string[] = []): (readonly string[])[] {
  const inner = Object.entries(typeof value === 'object' && value !== null ? value : {})
  return [before, ...inner.flatMap(([name, member]) => listPaths(member, [...before, name]))]
}

function withValue(target: unknown, [first, ...rest]: readonly string[], value: unknown): unknown {
  if (first === undefined) return value
  const copy: object = Array.isArray(target) ? [...target] : { ...Object(target) }
  Reflect.set(copy, first, withValue(Reflect.get(copy, first), rest, value))
  return copy
}

test("the gateway rejects every input that the OpenAPI document's schema rejects", async () => {
  const odd = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1.5,
      1e9,
      '',
      ' a ',
      'a',
      'a\n',
      {},
      { a: 1 },
      [],
      ['a'],
      [1],
      'x'.repeat(600),
    ),
    fc.jsonValue({ maxDepth: 2 }),
  )
  let refusals = 0
  for (const { name, action, request, schema } of await listDescribed()) {
    if (!schema) continue
    const sample = samples[name] ?? {}
    fc.assert(
      fc.property(fc.constantFrom(...listPaths(sample).slice(1), ['more']), odd, (place, value) => {
        const input = withValue(sample, place, value) as object
        if (isAccepted(request, input, action)) return true
        refusals++
        return !safeParse(schema, input).success
      }),
      { numRuns: 300, seed: 25 },
    )
  }
  assert.ok(refusals > 1_000, `only ${refusals} inputs were rejected`)
})

test('every input field has a description', () => {
  const missing = listServedOperations().flatMap((operation) => {
    const words = describeInput(operation)
    const fields = Object.keys(operation.input?.entries ?? {}).filter(
      (field) => !(field in words || PLAIN.includes(field)),
    )
    return fields.map((field) => `${operation.names.join('.')} ${field}`)
  })
  assert.equal(
    missing,
    [],
    'Describe each in the `parameters` of its operation, in the table of its resource, or in `types/records/api-words.ts` if it is a field of a record.',
  )
})

/** Fields that clients may send back, but that the gateway ignores. */
const PLAIN = ['id', 'createdAt', 'updatedAt', 'warnings', 'error', 'health']
