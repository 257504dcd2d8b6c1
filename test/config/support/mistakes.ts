/** The config sections whose records the management API can also write. */
export type Section = 'connections' | 'combos' | 'aliases' | 'models' | 'groups' | 'settings'

/** A section, the ID or name of a record, and its invalid content. */
export type Mistake = readonly [section: Section, name: string, input: unknown]

const createMistake =
  (section: Section, usual: string) =>
  (input: unknown, name = usual): Mistake => [section, name, input]

const connection = createMistake('connections', 'openai')
const combo = createMistake('combos', 'fast')
const group = createMistake('groups', 'team')
const model = createMistake('models', 'lab/a')
const alias = createMistake('aliases', 'quick')
const settings = createMistake('settings', '')
const entry = (input: object) => combo([{ model: 'a/b', ...input }])
const createCombo = (input: object) => combo({ models: ['a/b'], ...input })
const when = (input: unknown) => entry({ when: input })
const getPrices = (input: unknown) => model({ prices: input })
const cloud = (provider: string, providerSpecificData: object, extra: object = {}) =>
  connection({ apiKey: 'a-key', providerSpecificData, ...extra }, provider)

const long = 'x'.repeat(600)
const repeat = <T>(count: number, item: T) => Array.from({ length: count }, () => item)
const createNamed = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]))

const connections: readonly Mistake[] = [
  ...['', '  ', 7, 'sk-1…', '"quoted"', "'quoted'", 'two words', 'Bearer abc', 'a\nb', 'x'.repeat(8_193)].map(
    (apiKey) => connection({ apiKey }),
  ),
  ...['{"a":', '{"a":1}'].map((apiKey) => connection({ apiKey })),
  cloud('azure', {}),
  cloud('bedrock', {}),
  cloud('vertex', {}),
  connection({}, 'azure'),
  connection({}, 'bedrock'),
  cloud('azure', { resource: 'mine' }, { format: 'anthropic-messages' }),
  cloud('bedrock', { region: 'us-east-1' }, { format: 'openai-chat' }),
  cloud('bedrock', { region: 'us-east-1' }, { apiKey: 'AKIA0123' }),
  cloud('vertex', { project: 'mine' }, { apiKey: '/key.json' }),
  cloud('vertex', { project: 'mine' }, { apiKey: '{"x":1}' }),
  cloud('vertex', { project: 'My Project' }),
  cloud('vertex', { project: 'mine', resource: 'other' }),
  cloud('azure', { resource: 'https://mine' }),
  cloud('azure', { resource: 'mine', apiVersion: 'a b' }),
  cloud('azure', { resource: 'mine', deployment: 'a b' }),
  cloud('bedrock', { region: 'US' }),
  ...['region', 'resource', 'project', 'apiVersion', 'deployment'].map((name) => cloud('openai', { [name]: 'x12' })),
  ...[
    'lab.test',
    'ftp://lab.test',
    'http://lab.test/v1?key=1',
    'http://lab.test/v1#part',
    'http://me:pass@lab.test',
    'http://lab.test/v 1',
    'http://lab\\test',
    `http://lab.test/${'x'.repeat(2_048)}`,
    'http://lab.test/v1/chat/completions',
    'http://lab.test/v1/embeddings/',
    7,
  ].flatMap((baseUrl) => [connection({ baseUrl }), connection({ providerSpecificData: { baseUrl } })]),
  connection({ baseUrl: 'http://a.test', providerSpecificData: { baseUrl: 'http://b.test' } }),
  connection({ prefix: 'a', providerSpecificData: { prefix: 'b' } }),
  ...['', 7, long, 'opnai', 'claude', 'openai-compatable-x', 'something-else'].map((provider) =>
    connection({ provider }, 'main'),
  ),
  ...['', 7, long, 'a\u0007b', 'a\u2028b', 'a\ud800'].map((name) => connection({ name })),
  ...[7, long, 'a\u2029'].map((prefix) => connection({ prefix })),
  ...['m', [1], [long]].map((enabledModels) => connection({ enabledModels })),
  ...['1', Number.NaN, Number.POSITIVE_INFINITY].map((priority) => connection({ priority })),
  ...[[], { m: {} }, { '': { input: 1 } }, { m: { input: -1 } }, { m: { inpt: 1 } }].map((input) =>
    connection({ prices: input }),
  ),
  ...['on', [], {}, { mode: 'off' }, { mode: 'auto', ttl: '2h' }].map((promptCaching) => connection({ promptCaching })),
  ...[[], { '1a': true }, { a: '' }, { a: 'x,y' }, { a: 1 }, createNamed(17, true)].map((tags) => connection({ tags })),
  connection({ sharesPrefix: 1 }),
  connection({ format: 'x' }),
  connection({ isActive: 1 }),
  connection({ draining: 'y' }),
  connection({ apikey: 'k' }),
  connection({ region: 'eu' }),
  connection({ providerSpecificData: [] }),
  connection({ providerSpecificData: { x: 1 } }),
  connection({ providerSpecificData: { voices: { '': 'a' } } }),
  connection({ providerSpecificData: { voices: { a: '' } } }),
]

const combos: readonly Mistake[] = [
  ...[{}, [7], [''], [long], ['a\nb'], ['a\u2028b'], repeat(101, 'a/b'), { models: 'a' }].map((input) => combo(input)),
  combo(['fast']),
  combo(['a/b', 'fast']),
  createCombo({ strategy: 'x' }),
  ...[['x'], ['function'], ['schema', 'schema'], ['schema', 'schema', 'content'], 'schema'].map((on) =>
    createCombo({ on }),
  ),
  createCombo({ stickyLimit: 0 }),
  createCombo({ connectionStrategy: 'conditional' }),
  ...[[], ['a b'], ['..'], ['none'], 'x'].map((guards) => createCombo({ guards })),
  createCombo({ hedge: 1 }),
  createCombo({ kind: 'x' }),
  ...[[], { cooldown: 1 }, { cooldownMs: 9, maxCooldownMs: 5 }, { failureShare: 2 }].map((health) =>
    createCombo({ health }),
  ),
  ...[{ headersMs: 0 }, { headersMs: 0.5 }, { headers: 1 }].map((timeouts) => createCombo({ timeouts })),
  createCombo({ maxAttempts: 101 }),
  createCombo({ strategi: 'x' }),
  combo({ kind: 'embedding', models: ['openai/text-embedding-3-small', 'openai/text-embedding-3-large'] }),
  combo({ kind: 'image', models: ['a/b', { model: 'a/c', params: { seed: 1 } }] }),
  ...[{ weight: -1 }, { weight: '1' }, { weight: 1_001 }, { model: '' }, { model: 7 }, { weigth: 1 }].map(entry),
  combo([{ weight: 1 }]),
  ...[{}, [], null, { image: true }, { stream: 1 }, { function: 0 }, { function: 'x' }].map(when),
  ...[{}, [], { min: -1 }, { min: 2, max: 1 }, { mn: 2 }].map((bytes) => when({ bytes })),
  ...[true, [], ['a', 1], '', repeat(101, 'a')].map((name) => when({ model: name })),
  ...[{}, [], { 'a b': true }, { x: 1 }].map((headers) => when({ headers })),
  ...['x', { a: '' }, { a: [] }, { a: [1] }].map((metadata) => when({ metadata })),
  ...[{}, [], { a: 1 }, { '1': true }, createNamed(17, true)].map((where) => entry({ where })),
  ...[[], { '': 'a' }, { a: '' }, createNamed(201, 'a')].map((voices) => entry({ voices })),
  ...[
    ...[[], { temperatur: 1 }, { temperature: 3 }, { temperature: '1' }, { maxTokens: 0.5 }, { seed: 1e300 }],
    ...[{ reasoning: 'hard' }, { stopSequences: [''] }, { stopSequences: [] }, { stopSequences: 'x' }],
    { stopSequences: repeat(17, 'a') },
  ].map((params) => entry({ params })),
  ...['on', { mode: 'x' }].map((promptCaching) => entry({ promptCaching })),
]

const models: readonly Mistake[] = [
  ...['', 7, long, 'a\u2028b', 'quick', null].map((name) => alias(name)),
  model('vision'),
  model({ type: 'x' }),
  model({ typ: 'llm' }),
  model({}, '../m'),
  model({}, 'a/..'),
  ...[[], {}, { input: -1 }, { input: '1' }, { inptu: 1 }, { input: Number.POSITIVE_INFINITY }].map(getPrices),
  ...[{}, [{ input: 2 }], [{ above: 0 }], [{ above: 1.5 }], repeat(11, { above: 1 })].map((tiers) =>
    getPrices({ input: 1, tiers }),
  ),
  ...[[], { '': 1 }, { a: -1 }].map((images) => getPrices({ images })),
  ...[{ a: { search: 1 } }, { a: { input: -1 } }, { '': {} }].map((serviceTiers) => getPrices({ serviceTiers })),
]

const groups: readonly Mistake[] = [
  ...['', long, 7, 'a\u2028b'].map((name) => group({ name })),
  ...[
    ...[{}, { usd: {} }, { usd: 5 }, { usd: { month: 0 } }, { usd: { month: 1e9 } }, { requests: { day: 0.5 } }],
    ...[{ requests: { day: 0 } }, { parallel: 0 }, { request: { day: 1 } }, { usd: { months: 1 } }],
  ].flatMap((limits) => [group({ limits }), group({ each: limits }), settings({ limits })]),
  ...[[], 'x', [''], [7], ['a\nb']].map((names) => group({ models: names })),
  ...[[], ['x'], 'llm'].map((kinds) => group({ kinds })),
  ...[[], { a: 1 }, { '1': true }].map((require) => group({ require })),
  ...[[], ['a b'], ['none']].map((guards) => group({ guards })),
  ...[[], { '': 'a' }, { a: 1 }, { a: long }, createNamed(17, 'a')].map((metadata) => group({ metadata })),
  group({ isActive: 'x' }),
  group({ limit: {} }),
]

const allSettings: readonly Mistake[] = [
  ...[{ requireApiKey: 'x' }, { requireApiKeys: true }, { cloudEnabled: true }, { maxAttempts: 0 }].map((input) =>
    settings(input),
  ),
  ...['x', 7, 'http://me:pass@cloud.test', `http://cloud.test/${'x'.repeat(2_048)}`].map((cloudUrl) =>
    settings({ cloudUrl }),
  ),
  ...[[], { cooldownMs: 400_000 }, { cooldownMs: 9, maxCooldownMs: 5 }, { failureShare: 0 }, { minCall: 1 }].map(
    (health) => settings({ health }),
  ),
  settings({ timeouts: { totalMs: 1e12 } }),
  ...[[], ['none'], ['a b']].map((guards) => settings({ guards })),
  ...[[], { usd: 'x' }, { eur: 'allow' }].map((onStorageUnavailable) => settings({ onStorageUnavailable })),
  settings({ whenPriceUnknown: 'x' }),
  settings({ unpriced: 'allow' }),
  settings({ allowRequestModels: 'x' }),
  settings({ showKeyValues: 1 }),
  settings({ promptCaching: 'on' }),
  ...[{ keepRequestsDays: 0 }, { keepRequestDays: 1 }].map((usage) => settings({ usage })),
]

/** Records that the management API, code, and the config file all reject. Guards aren't included, because they are checked when they are created. */
export const mistakes: readonly Mistake[] = [...connections, ...combos, ...models, ...groups, ...allSettings]
