import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { CodeConfig } from '../../src/config/code-config.ts'
import { createGateway, createGatewayWith } from '../../src/gateway.ts'
import type { GatewayOptions } from '../../src/options.ts'
import { SourcedCredentials } from '../../src/request/upstream/sourced-credentials.ts'
import type { CredentialRequest, Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('reloading configuration in code')

interface Call {
  host: string
  authorization: string | null
}

function open(config: CodeConfig, options: GatewayOptions = {}) {
  const clock = fakeClock()
  const calls: Call[] = []
  const storage = memoryStorage({ clock })
  const gateway = createGateway({
    storage,
    clock,
    fetch: async (url: unknown, init?: RequestInit) => {
      calls.push({ host: new URL(String(url)).host, authorization: new Headers(init?.headers).get('authorization') })
      return Response.json(chatResponse())
    },
    logger: false,
    ...config,
    ...options,
  })
  const send = (model: string, headers: Record<string, string> = {}) =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    })
  return { gateway, send, calls }
}

const NOW = '2026-01-01T00:00:00.000Z'

const connect = (id: string, apiKey: NonNullable<CodeConfig['connections']>[string] = {}) => ({
  [id]: { provider: `openai-compatible-${id}`, baseUrl: `http://${id}.test/v1`, ...apiKey },
})

test('after a reload, new requests use the new connections, combos, aliases, and models', async () => {
  const { gateway, send, calls } = open({
    connections: connect('old', { apiKey: 'the-old-key' }),
    combos: { smart: ['openai-compatible-old/m'] },
    aliases: { former: 'smart' },
    models: { 'openai-compatible-old/vectors': 'embedding' },
  })
  assert.is((await send('smart')).status, 200)
  await gateway.reload({
    connections: connect('new', { apiKey: 'the-new-key' }),
    combos: { smart: ['openai-compatible-new/m'] },
    aliases: { latest: 'smart' },
    models: { 'openai-compatible-new/vectors': 'embedding' },
  })
  assert.is((await send('smart')).status, 200)
  assert.is((await send('latest')).status, 200)
  assert.is((await send('former')).status, 404)
  assert.is((await send('openai-compatible-old/m')).status, 404)
  assert.equal(calls, [
    { host: 'old.test', authorization: 'Bearer the-old-key' },
    { host: 'new.test', authorization: 'Bearer the-new-key' },
    { host: 'new.test', authorization: 'Bearer the-new-key' },
  ])
  const { models } = await gateway.api.customModels.list()
  assert.equal(
    models.map(({ providerAlias }) => providerAlias),
    ['openai-compatible-new'],
  )
})

test('a reload with an invalid configuration throws a TypeError and changes nothing', async () => {
  const { gateway, send } = open({ connections: connect('old'), combos: { smart: ['openai-compatible-old/m'] } })
  const invalid: Array<[config: unknown, says: RegExp]> = [
    [
      { combos: { smart: ['smart'] } },
      /^combos\.smart\.models\[0\] must not lead back to the combo itself \(smart → .*smart\)/,
    ],
    [{ connections: { nobody: {} } }, /^connections\.nobody: Unknown provider "nobody"/],
    [{ settings: { maxAttempts: 0 } }, /^settings\.maxAttempts must be/],
    [{ conections: {} }, /^conections is not an option\. Known: /],
    [{ identify: 'nobody' }, /^identify must be a function/],
    [undefined, /^gateway\.reload takes an object/],
    [[], /^gateway\.reload takes an object/],
  ]
  for (const [config, message] of invalid) {
    const error = await gateway.reload(config as CodeConfig).then(
      () => undefined,
      (error: unknown) => error,
    )
    assert.instance(error, TypeError)
    assert.match((error as TypeError).message, message)
    assert.is((await send('smart')).status, 200)
  }
})

test('a stored record applies again once the record that overrode it in code is removed', async () => {
  const { gateway, send, calls } = open({
    connections: { ...connect('old'), ...connect('new') },
    combos: { smart: ['openai-compatible-old/m'] },
    settings: { maxAttempts: 5 },
  })
  await gateway.reload({ connections: { ...connect('old'), ...connect('new') } })
  await gateway.api.combos.create({ name: 'smart', models: ['openai-compatible-new/m'] })
  await gateway.api.settings.update({ maxAttempts: 2 })
  await gateway.reload({
    connections: { ...connect('old'), ...connect('new') },
    combos: { smart: ['openai-compatible-old/m'] },
    settings: { maxAttempts: 5 },
  })
  await send('smart')
  assert.is((await gateway.api.settings.get()).maxAttempts, 5)
  await gateway.reload({ connections: { ...connect('old'), ...connect('new') } })
  await send('smart')
  assert.equal(
    calls.map(({ host }) => host),
    ['old.test', 'new.test'],
  )
  assert.is((await gateway.api.settings.get()).maxAttempts, 2)
  assert.equal(
    (await gateway.api.combos.list()).combos.map(({ source }) => source),
    [undefined],
  )
})

test('after a reload, new requests use the new settings', async () => {
  const { gateway, send } = open({ connections: connect('old') })
  assert.is((await send('openai-compatible-old/m')).status, 200)
  await gateway.reload({ connections: connect('old'), settings: { requireApiKey: true } })
  assert.is((await send('openai-compatible-old/m')).status, 401)
  await gateway.reload({ connections: connect('old') })
  assert.is((await send('openai-compatible-old/m')).status, 200)
})

test('a reload takes effect even while the storage is unavailable', async () => {
  const inner = memoryStorage()
  let isUnavailable = false
  const fail = () => Promise.reject(new Error('the storage is away'))
  const storage: Storage = {
    ...inner,
    get: (...args) => (isUnavailable ? fail() : inner.get(...args)),
    list: (...args) => (isUnavailable ? fail() : inner.list(...args)),
  }
  const old = { connections: connect('old'), combos: { smart: ['openai-compatible-old/m'] } }
  const { gateway, send, calls } = open({ ...old, settings: { requireApiKey: false } }, { storage })
  await send('smart')
  isUnavailable = true
  await gateway.reload({ connections: connect('new'), combos: { smart: ['openai-compatible-new/m'] } })
  assert.is((await send('smart')).status, 200)
  assert.is((await send('openai-compatible-old/m')).status, 404)
  await gateway.reload({ ...old, settings: { requireApiKey: true } })
  assert.is((await send('smart')).status, 401)
  assert.equal(
    calls.map(({ host }) => host),
    ['old.test', 'new.test'],
  )
})

test('a request that is reading records during a reload uses the new records', async () => {
  const inner = memoryStorage()
  for (let index = 1_000; index <= 2_000; index++) {
    const record = {
      id: `c${index}`,
      provider: 'ollama',
      name: 'Ollama',
      createdAt: NOW,
      updatedAt: NOW,
      isActive: false,
    }
    await inner.set(`connections/c${index}`, JSON.stringify({ order: index, record })) // more than one page of records
  }
  const held: Array<() => void> = []
  const storage: Storage = {
    ...inner,
    async list(prefix, options) {
      if (prefix === 'connections/' && held.length === 0) await new Promise<void>((resolve) => held.push(resolve))
      return inner.list(prefix, options)
    },
  }
  const old = { connections: connect('last'), combos: { smart: ['openai-compatible-last/m'] } }
  const { gateway, send, calls } = open(old, { storage })
  const pending = send('smart')
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await gateway.reload({ connections: connect('a-first'), combos: { smart: ['openai-compatible-a-first/m'] } })
  held[0]?.()
  assert.is((await pending).status, 200)
  assert.equal(
    calls.map(({ host }) => host),
    ['a-first.test'],
  )
})

test('a changed credential function replaces the old one, and an unchanged one keeps its credential', async () => {
  const requests: string[] = []
  const create = (name: string) => () => {
    requests.push(name)
    return `the-key-of-${name}`
  }
  const [first, second] = [create('first'), create('second')]
  const { gateway, send, calls } = open({ connections: connect('lab', { apiKey: first }) })
  await send('openai-compatible-lab/m')
  await gateway.reload({ connections: connect('lab', { apiKey: first }), combos: { a: ['openai-compatible-lab/m'] } })
  await send('a')
  assert.equal(requests, ['first'])
  await gateway.reload({ connections: connect('lab', { apiKey: second }) })
  await send('openai-compatible-lab/m')
  await gateway.reload({ connections: connect('lab', { apiKey: { resolve: second, shared: true } }) })
  await send('openai-compatible-lab/m')
  await gateway.reload({ connections: connect('lab', { apiKey: { resolve: second, shared: true } }) })
  await send('openai-compatible-lab/m')
  assert.equal(requests, ['first', 'second', 'second'])
  await gateway.reload({ connections: connect('lab', { apiKey: first }) })
  await send('openai-compatible-lab/m')
  assert.equal(requests, ['first', 'second', 'second', 'first'], "the function's previous credential is dropped")
  assert.equal(
    calls.map(({ authorization }) => authorization?.replace('Bearer the-key-of-', '')),
    ['first', 'first', 'second', 'second', 'second', 'first'],
  )
})

test('an in-flight request falls back with the credentials it started with', async () => {
  const clock = fakeClock()
  const calls: Call[] = []
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const gateway = createGateway({
    storage: memoryStorage({ clock }),
    clock,
    connections: {
      ...connect('one', { apiKey: 'the-key-of-one' }),
      ...connect('two', { apiKey: () => 'old-key-of-two' }),
    },
    combos: { both: ['openai-compatible-one/m', 'openai-compatible-two/m'] },
    fetch: async (url: unknown, init?: RequestInit) => {
      const call = { host: new URL(String(url)).host, authorization: new Headers(init?.headers).get('authorization') }
      calls.push(call)
      if (call.host === 'two.test') return Response.json(chatResponse())
      await released
      return Response.json({ error: { message: 'overloaded' } }, { status: 503 })
    },
    logger: false,
  })
  const send = () =>
    gateway.fetch('http://gateway/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'both', messages: [{ role: 'user', content: 'Hi' }] }),
    })
  const pending = send()
  while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await gateway.reload({
    connections: connect('two', { apiKey: 'new-key-of-two' }),
    combos: { both: ['openai-compatible-two/m'] },
  })
  await gateway.reload({
    connections: connect('two', { apiKey: 'last-key-of-two' }),
    combos: { both: ['openai-compatible-two/m'] },
  })
  assert.is((await send()).status, 200)
  release()
  assert.is((await pending).status, 200)
  assert.is((await send()).status, 200)
  assert.equal(
    calls.map(({ host, authorization }) => `${host} ${authorization}`),
    [
      'one.test Bearer the-key-of-one',
      'two.test Bearer last-key-of-two',
      'two.test Bearer old-key-of-two',
      'two.test Bearer last-key-of-two',
    ],
  )
})

test('an in-flight request evaluates the conditions it started with', async () => {
  const held: Array<() => void> = []
  const { gateway, send, calls } = open(
    {
      connections: { ...connect('old'), ...connect('new') },
      combos: { smart: [{ model: 'openai-compatible-old/m', when: () => true }, 'openai-compatible-new/m'] },
    },
    { route: () => new Promise<undefined>((resolve) => held.push(() => resolve(undefined))) },
  )
  const pending = send('smart')
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await gateway.reload({
    connections: { ...connect('old'), ...connect('new') },
    combos: { smart: [{ model: 'openai-compatible-old/m', when: () => false }, 'openai-compatible-new/m'] },
  })
  held[0]?.()
  assert.is((await pending).status, 200)
  const next = send('smart')
  while (held.length === 1) await new Promise((resolve) => setImmediate(resolve))
  held[1]?.()
  assert.is((await next).status, 200)
  assert.equal(
    calls.map(({ host }) => host),
    ['old.test', 'new.test'],
  )
})

test('old credentials are dropped once no in-flight request can use them', async () => {
  const held: Array<() => void> = []
  const options: GatewayOptions = {
    storage: memoryStorage(),
    fetch: async () => {
      await new Promise<void>((resolve) => held.push(resolve))
      return Response.json(chatResponse())
    },
    logger: false,
    connections: connect('lab', { apiKey: 'the-first-key' }),
  }
  const { gateway, store } = createGatewayWith(options)
  const listSecrets = () => [...store.code.records.secrets.values()]
  const pending = gateway.fetch('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai-compatible-lab/m', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await gateway.reload({ connections: connect('lab', { apiKey: 'the-second-key' }) })
  assert.equal(listSecrets(), ['the-second-key', 'the-first-key'])
  held[0]?.()
  await (await pending).text()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(listSecrets(), ['the-second-key'])
  await gateway.reload({})
  assert.equal(listSecrets(), [])
})

test('a dropped credential is fetched from its function again', async () => {
  const reasons: string[] = []
  const source = ({ reason }: CredentialRequest) => `key-number-${reasons.push(reason)}`
  const credentials = new SourcedCredentials(() => source, fakeClock())
  const connection = { id: 'lab', provider: 'openai', name: 'Lab', createdAt: NOW, updatedAt: NOW }
  const caller = { owner: 'alice', account: { id: 'alice' }, key: undefined }
  const find = (id: string) => credentials.get({ connection: { ...connection, id }, caller, model: 'm' })
  assert.equal(
    [await find('lab'), await find('lab'), await find('lab-2')],
    ['key-number-1', 'key-number-1', 'key-number-2'],
  )
  credentials.forget(connection)
  assert.equal([await find('lab'), await find('lab-2')], ['key-number-3', 'key-number-2'])
})

test('only a reload can change records in code, and a closed gateway rejects reloads', async () => {
  const { gateway } = open({ connections: connect('old'), combos: { smart: ['openai-compatible-old/m'] } })
  const [{ id = '', createdAt } = {}] = (await gateway.api.combos.list()).combos
  await gateway.reload({ connections: connect('old'), combos: { smart: ['openai-compatible-old/n'] } })
  const [combo] = (await gateway.api.combos.list()).combos
  assert.equal([combo?.models, combo?.createdAt], [['openai-compatible-old/n'], createdAt])
  const changing = gateway.api.combos.update(id, { models: ['openai-compatible-old/m'] })
  assert.match(String(await changing.catch(({ code }) => code)), /^DEFINED_IN_CODE$/)
  await gateway.close()
  assert.is(await gateway.reload({}).catch(({ code }) => code), 'CLOSED')
})
