import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../src/types.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { openWorld, token, type WorldOptions } from '../pipeline/support/world.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the live event stream')

const SECRET = 'the prompt that nobody else may read'

/** Opens a gateway whose provider `one` fails, and whose provider `two` responds. */
async function open(options: WorldOptions = {}) {
  const world = await openWorld({
    fetch: fakeUpstream(({ body, provider }) => {
      if (provider === 'one') return json({ error: { message: 'overloaded' } }, 503)
      return JSON.parse(body).stream ? sse(chatEvents()) : json(chatResponse())
    }),
    combos: { fast: ['one/m', 'two/m'] },
    ...options,
  })
  const follow = async (query = '', headers: Record<string, string> = {}) => {
    const response = await world.gateway.fetch(`http://gateway/api/live${query}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    })
    assert.is(response.status, 200)
    return readEvents(response, world.clock)
  }
  const send = async (extra: object = {}) => {
    const response = await world.chat({ model: 'fast', messages: [{ role: 'user', content: SECRET }], ...extra })
    await response.text()
    return response.headers.get('x-signalbox-request-id') ?? ''
  }
  return { ...world, follow, send }
}

interface Received {
  id: string
  type: string
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the data of its events
  data: any
}

/** Reads events from a stream. The clock advances while it waits for one. */
function readEvents(response: Response, clock: FakeClock) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''

  async function more(): Promise<boolean> {
    let isThere = false
    const reading = (reader?.read() ?? Promise.reject(new Error('no body'))).finally(() => {
      isThere = true
    })
    for (let turns = 0; !isThere && turns < 1_000; turns++) await clock.advance(100)
    const { value = '', done } = await reading
    text += value
    return !done
  }

  /** Resolves to the next event, or the next standalone comment, or `undefined` at the end of the stream. */
  async function next({ comments = false } = {}): Promise<Received | string | undefined> {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end < 0) {
        if (!(await more())) return undefined
        continue
      }
      const event = text.slice(0, end)
      text = text.slice(end + 2)
      const found = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(event)
      if (found) return { id: found[1] ?? '', type: found[2] ?? '', data: JSON.parse(found[3] ?? '') }
      assert.match(event, /^: (?:live|still here)$/)
      if (comments) return event
    }
  }

  /** Resolves to the events up to and including the first of the given type. */
  async function until(type: string): Promise<Received[]> {
    const seen: Received[] = []
    for (;;) {
      const event = await next()
      if (event === undefined || typeof event === 'string') throw new Error(`the stream ended before ${type}`)
      seen.push(event)
      if (event.type === type) return seen
    }
  }

  return { next, until, cancel: () => reader?.cancel() }
}

const listTypes = (events: readonly Received[]) => events.map(({ type }) => type)

test("live events report a request's start, failed attempt, first token, and end", async () => {
  const { follow, send, api } = await open()
  const events = await follow()
  assert.equal(listTypes(await events.until('running')), ['running'])
  const id = await send({ stream: true })
  const seen = await events.until('finished')
  assert.equal(
    listTypes(seen).filter((type) => type !== 'health'),
    ['began', 'attempt', 'attempt', 'attempt', 'attempt', 'first-word', 'finished'],
  )
  assert.equal(new Set(seen.map(({ data }) => data.id ?? id)), new Set([id]))
  const [began, first, failed, second, answered] = seen.filter(({ type }) => type !== 'health').map(({ data }) => data)
  assert.is(began.model, 'fast')
  assert.is(began.streamed, true)
  assert.equal([first.number, first.provider, first.outcome], [1, 'one', undefined])
  assert.equal([failed.number, failed.outcome, failed.status, failed.message], [1, 'server', 503, 'overloaded'])
  assert.equal([second.number, second.provider], [2, 'two'])
  assert.equal([answered.number, answered.outcome], [2, 'answered'])
  const finished = seen.at(-1)?.data
  assert.is(finished.end, 'complete')
  assert.is(finished.attempts.length, 2)
  assert.not.ok(JSON.stringify(seen).includes(SECRET))
  const entries = (await api.health.list()).health
  const health = seen.filter(({ type }) => type === 'health')
  while (health.length < entries.length) health.push(...(await events.until('health')))
  assert.equal(
    health.map(({ data }) => data),
    entries,
  )
  await events.cancel()
})

test('the first event contains a request that is already in flight, with its failed attempt', async () => {
  let finish = () => {}
  const held = new Promise<void>((resolve) => {
    finish = resolve
  })
  const { follow, chat, clock } = await open({
    fetch: fakeUpstream(async ({ provider }) => {
      if (provider === 'one') return json({ error: { message: 'overloaded' } }, 503)
      await held
      return json(chatResponse())
    }),
  })
  const response = chat({ model: 'fast' })
  await clock.advance(1)
  const events = await follow()
  const [running] = await events.until('running')
  const [request] = running?.data.requests ?? []
  assert.is(request.model, 'fast')
  assert.equal(
    request.attempts.map(({ provider, outcome }: Record<string, unknown>) => [provider, outcome]),
    [
      ['one', 'server'],
      ['two', undefined],
    ],
  )
  finish()
  await response
  const seen = await events.until('finished')
  assert.is(seen.at(-1)?.data.id, request.id)
  await events.cancel()
})

test('a reconnecting reader resumes after its last event, or gets a lost event', async () => {
  const { follow, send, clock } = await open()
  const events = await follow()
  const [first] = await events.until('running')
  await send()
  const seen = await events.until('finished')
  await events.cancel()
  await send() // while nobody reads the stream
  for (const again of [await follow('', { 'last-event-id': first?.id ?? '' }), await follow(`?after=${first?.id}`)]) {
    const missed = await again.until('finished')
    assert.equal(missed.slice(0, seen.length), seen)
    assert.equal(listTypes((await again.until('finished')).slice(-2)), ['first-word', 'finished'])
    await again.cancel()
  }
  const other = await follow('?after=00000000-7')
  assert.equal(listTypes(await other.until('running')), ['lost', 'running'])
  await other.cancel()
  await clock.advance(60_000)
  const late = await follow(`?after=${first?.id}`)
  assert.equal(listTypes(await late.until('running')), ['lost', 'running'])
  await late.cancel()
})

test('a slow reader learns how many events it missed, and which requests are in flight', async () => {
  const { follow, chat } = await open()
  const slow = await follow('?types=finished,lost,running')
  await slow.until('running')
  for (let times = 0; times < 2_600; times++) await chat({ model: 'nobody/x' })
  const [...seen] = await slow.until('running')
  const lost = seen.find(({ type }) => type === 'lost')?.data.events
  assert.ok(lost >= 5_000, `${lost}`)
  await slow.cancel()
})

test('live events report changed records by collection and ID, including changes by another instance', async () => {
  const clock = fakeClock()
  const inner = memoryStorage({ clock })
  const listeners: Array<(key: string) => void> = []
  const storage: Storage = {
    ...inner,
    watch(onChange) {
      listeners.push(onChange)
      return () => {}
    },
  }
  const { follow, api } = await open({ storage, clock })
  const events = await follow('?types=changed')
  assert.is(await events.next({ comments: true }), ': live')
  const key = await api.keys.create({ name: 'k' })
  await api.keys.update(key.id, { isActive: false })
  await api.settings.update({ requireApiKey: false })
  await api.health.reset()
  await api.keys.list()
  for (const listener of listeners) listener('combos/fast')
  for (const data of [
    { collection: 'keys' },
    { collection: 'keys', id: key.id },
    { collection: 'settings' },
    { collection: 'health' },
    { collection: 'combos' },
  ]) {
    const event = await events.next()
    assert.equal(typeof event === 'object' && event.data, data)
  }
  assert.not.ok(JSON.stringify(key.id).includes(key.key))
  await events.cancel()
})

test('live events report when a target goes into cooldown, becomes half-open, and recovers', async () => {
  let isUnhealthy = true
  const { follow, chat, clock } = await open({
    fetch: fakeUpstream(() => (isUnhealthy ? json({ error: { message: 'slow down' } }, 429) : json(chatResponse()))),
    connections: ['one'],
    combos: {},
  })
  const events = await follow('?types=health')
  await events.next({ comments: true })
  await chat({ model: 'one/m' })
  const states: string[] = []
  const collect = async () => {
    const event = await events.next()
    if (typeof event === 'object') states.push(event.data.state)
  }
  await collect()
  await collect() // no requests, only elapsed time
  isUnhealthy = false
  await chat({ model: 'one/m' })
  await collect()
  assert.equal(states, ['cooling', 'half-open', 'ok'])
  await events.cancel()
  await clock.advance(1)
})

test('the live stream sends comments while idle, and ends when the gateway closes', async () => {
  const { follow, gateway } = await open()
  const events = await follow()
  await events.until('running')
  assert.is(await events.next({ comments: true }), ': still here')
  const end = events.next()
  await gateway.close()
  assert.is(await end, undefined)
})

for (const [query, message] of [
  ['?after=soon', '"after" must be an event ID'],
  ['?types=finished,began,x', '"types" must be a comma-separated list of running'],
  ['?types=health&types=changed', '"types" can only appear once'],
  ['?form=csv', '"form"'],
] as const)
  test(`the live stream rejects the query ${query}`, async () => {
    const { gateway } = await open()
    const response = await gateway.fetch(`http://gateway/api/live${query}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.is(response.status, 400)
    assert.ok((await response.json()).error.includes(message))
  })

test('the live stream requires a token, and allows at most 100 readers at a time', async () => {
  const { gateway, follow } = await open()
  assert.is((await gateway.fetch('http://gateway/api/live')).status, 401)
  const readers = await Promise.all(Array.from({ length: 100 }, () => follow()))
  const headers = { authorization: `Bearer ${token}` }
  const response = await gateway.fetch('http://gateway/api/live', { headers })
  assert.is(response.status, 503)
  assert.match((await response.json()).error, /100 clients are already following/)
  await Promise.all(readers.map((reader) => reader.cancel()))
  const again = await follow()
  await again.cancel()
})
