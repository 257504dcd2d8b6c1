import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ClientError, type ClientOptions, createClient } from '../../src/client/client.ts'
import { openManagement, TOKEN } from '../management/open-management.ts'
import { plant } from '../support/canaries.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

/** Creates a client for a server that always sends this response. */
const createTestClient = (fetch: ClientOptions['fetch'], options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: 'http://gateway.test/ai/', token: TOKEN, ...(fetch && { fetch }), ...options })

/** Returns the error that a call rejects with. */
async function catchError(call: Promise<unknown>): Promise<ClientError> {
  const error = await call.then(
    () => assert.unreachable('it was answered'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof ClientError, String(error))
  return error
}

/** Returns the error as plain data, with its message unchanged. */
async function failure(call: Promise<unknown>) {
  const { name, status, code, message } = await catchError(call)
  assert.is(name, 'ClientError')
  return [status, code, message]
}

const refusals = suite('gateway errors')

refusals('gateway errors have a status and a message, but no code', async () => {
  const { gateway } = openManagement()
  const client = createClient({ baseUrl: 'http://gateway.test', token: TOKEN, fetch: gateway.fetch })
  assert.equal(await failure(client.combos.get('missing')), [404, undefined, 'Combo not found'])
  assert.equal(await failure(client.keys.create({ name: ' ' })), [400, undefined, '"name" must not be blank'])
  const outsider = createClient({ baseUrl: 'http://gateway.test', fetch: gateway.fetch })
  assert.equal(await failure(outsider.keys.list()), [
    401,
    undefined,
    'Send the admin token as "Authorization: Bearer <token>".',
  ])
  const error = await catchError(outsider.keys.list())
  assert.not.ok('code' in error)
})

refusals('the client also parses errors from model routes, as with a base URL that ends in /v1', async () => {
  const { gateway } = openManagement()
  const [status, code, message] = await failure(
    createClient({ baseUrl: 'http://gateway.test/v1', token: TOKEN, fetch: gateway.fetch }).keys.list(),
  )
  assert.equal([status, code], [404, undefined])
  assert.match(String(message), 'GET /v1/api/keys does not exist here')
})

const answers = suite("responses that don't come from a gateway")

const page = (status: number, body: string, type = 'text/html; charset=utf-8') =>
  new Response(body, { status, headers: { 'content-type': type } })

const strange: Array<[name: string, answer: () => Response, says: string]> = [
  ['an error page from a proxy', () => page(502, '<h1>Bad Gateway</h1>'), '502 with text/html instead of JSON'],
  ['a web page with status 200', () => page(200, '<!doctype html>'), '200 with text/html instead of JSON'],
  ['a JSON list', () => Response.json([1]), '200 with application/json instead of JSON'],
  ['truncated JSON', () => page(200, '{"keys":[', 'application/json'), '200 with application/json instead of JSON'],
  ['an empty response', () => new Response(null, { status: 204 }), '204 with no body instead of JSON'],
  ['an error without a message', () => Response.json({ ok: false }, { status: 500 }), '500 without an error message'],
  [
    'an error with an empty message',
    () => Response.json({ error: '' }, { status: 500 }),
    '500 without an error message',
  ],
]

for (const [name, respond, expected] of strange) {
  answers(`${name} causes an error that contains the base URL`, async () => {
    const [status, code, message] = await failure(createTestClient(async () => respond()).keys.list())
    assert.equal([status, code], [respond().status, 'UNEXPECTED_ANSWER'])
    assert.is(message, `http://gateway.test/ai returned ${expected}. Check that it is the URL of a gateway.`)
  })
}

const redirects = suite('redirects')

redirects("a redirect isn't followed, and the error contains its target without the query", async () => {
  plant(TOKEN)
  let followed = 0
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/elsewhere')) followed++
    response.writeHead(307, { location: '/elsewhere?secret=1' }).end('moved')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const [status, code, message] = await failure(createClient({ baseUrl, token: TOKEN }).settings.get())
    assert.equal([status, code], [307, 'REDIRECTED'])
    assert.is(
      message,
      `${baseUrl} redirects to ${baseUrl}/elsewhere. Redirects are not followed because the token would be sent along. Use the URL of the gateway itself.`,
    )
    assert.is(followed, 0)
  } finally {
    server.close()
  }
})

redirects('an opaque redirect, as reported by browsers, causes an error', async () => {
  const opaque = Object.defineProperties(new Response(null), {
    type: { value: 'opaqueredirect' },
    status: { value: 0 },
  })
  const [status, code, message] = await failure(createTestClient(async () => opaque).keys.list())
  assert.equal([status, code], [0, 'REDIRECTED'])
  assert.match(String(message), /^http:\/\/gateway\.test\/ai redirects\. Redirects/)
})

const network = suite('an unreachable gateway')

network('an unreachable gateway causes an error with status 0 and the reason, but without the token', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await new Promise((resolve) => server.close(resolve))
  const [status, code, message] = await failure(createClient({ baseUrl, token: TOKEN }).keys.list())
  assert.equal([status, code], [0, 'UNREACHABLE'])
  assert.is(
    message,
    `The gateway at ${baseUrl} is unreachable (ECONNREFUSED). Check that it is running and that the URL is right.`,
  )
})

network('a connection that closes mid-response causes an error with status 0', async () => {
  const truncate = () => {
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('{"keys":['))
        controller.error(new TypeError('terminated'))
      },
    })
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  }
  assert.equal(await failure(createTestClient(async () => truncate()).keys.list()), [
    0,
    'UNREACHABLE',
    'The connection to http://gateway.test/ai closed before the whole response arrived (terminated).',
  ])
})

network('a fetch that throws synchronously causes an error with status 0', async () => {
  const call = createTestClient(() => {
    throw new TypeError('Failed to fetch')
  }).keys.list()
  assert.equal((await failure(call)).slice(0, 2), [0, 'UNREACHABLE'])
})

const timeouts = suite('client timeouts')

const hang = () => new Promise<Response>(() => {}) // a `fetch` that never settles and ignores its signal

const times: Array<[name: string, ms: number, call: (client: ReturnType<typeof createClient>) => Promise<unknown>]> = [
  ['cloud.enable', 15_000, ({ cloud }) => cloud.enable({ enrollmentToken: 'e'.repeat(32) })],
  ['cloud.sync', 15_000, ({ cloud }) => cloud.sync()],
  ['cloud.check', 8_000, ({ cloud }) => cloud.check()],
  ['cloud.get', 30_000, ({ cloud }) => cloud.get()],
  ['cloud.sessions.list', 30_000, ({ cloud }) => cloud.sessions.list()],
  ['keys.list', 30_000, ({ keys }) => keys.list()],
  ['settings.update', 30_000, ({ settings }) => settings.update({ requireApiKey: true })],
]

for (const [name, ms, call] of times) {
  timeouts(`${name} times out after ${ms / 1000} s with status 408`, async () => {
    const clock = fakeClock()
    let end: unknown
    const running = failure(call(createTestClient(hang, { clock }))).then((found) => {
      end = found
    })
    await clock.untilPending()
    await clock.advance(ms - 1)
    assert.is(end, undefined)
    await clock.advance(1)
    await running
    assert.equal(end, [
      408,
      'TIMEOUT',
      `Timeout: the gateway at http://gateway.test/ai did not respond within ${ms / 1000} s.`,
    ])
    assert.is(clock.pending(), 0)
  })
}

timeouts('cloud.disable times out after 15 s, including up to 6 s for its sync', async () => {
  const clock = fakeClock()
  const call = failure(createTestClient(hang, { clock }).cloud.disable())
  await clock.untilPending()
  await clock.advance(6_000)
  await clock.untilPending()
  await clock.advance(8_999)
  assert.is(clock.pending(), 1)
  await clock.advance(1)
  assert.equal((await call).slice(0, 2), [408, 'TIMEOUT'])
  assert.is(clock.now(), fakeClock().now() + 15_000)
})

timeouts("a client's timeout also covers the body, and aborts the request", async () => {
  const clock = fakeClock()
  let signal: AbortSignal | null | undefined
  const call = failure(
    createTestClient(
      async (_, init) => {
        signal = init?.signal
        return new Response(new ReadableStream({}), { headers: { 'content-type': 'application/json' } })
      },
      { clock },
    ).cloud.check(),
  )
  await clock.untilPending()
  await clock.advance(8_000)
  assert.is((await call)[0], 408)
  assert.ok(signal?.aborted)
})

timeouts("a client's timeout ends with the response, and uses an injected clock's timers", async () => {
  const clock = fakeClock()
  await createTestClient(async () => Response.json({ keys: [] }), { clock }).keys.list()
  assert.is(clock.pending(), 0)
  const events: unknown[] = []
  const setTimer = (ms: number) => {
    events.push(ms)
    return () => void events.push('cancelled')
  }
  await createTestClient(async () => Response.json({ keys: [] }), { clock: { ...clock, setTimer } }).keys.list()
  assert.equal(events, [30_000, 'cancelled'])
})

const inputs = suite('input that a client rejects before sending anything')

const never: ClientOptions['fetch'] = async () => {
  assert.unreachable('it was sent')
  return Response.error()
}

for (const id of ['', '.', '..', '\ud800', undefined, null, 7]) {
  inputs(`a client rejects the id ${JSON.stringify(id)}`, async () => {
    const { keys, health, customModels } = createTestClient(never)
    const untyped = id as string // callers may be untyped
    const calls = [keys.delete(untyped), customModels.delete('a', untyped), customModels.delete(untyped, 'a')]
    if (id !== undefined) calls.push(health.reset(untyped)) // without the ID, all connections would be reset
    for (const call of calls) {
      const [status, code, message] = await failure(call)
      assert.equal([status, code], [400, 'INVALID_ARGUMENT'])
      assert.match(String(message), /^"(?:id|providerAlias)" must be the string that the gateway lists, but is /)
    }
  })
}

inputs("a client rejects input that can't be serialized as JSON", async () => {
  const input: Record<string, unknown> = { name: 'x' }
  input.self = input
  const call = createTestClient(never).keys.create(input as { name: string })
  assert.equal(await failure(call), [400, 'INVALID_ARGUMENT', 'The input cannot be serialized as JSON.'])
})

const options: Array<[options: object, says: RegExp]> = [
  [{}, /^baseUrl must be the absolute URL of a gateway, such as https:/],
  [{ baseUrl: '/ai' }, /^baseUrl must be the absolute/],
  [{ baseUrl: 'ftp://gateway.test' }, /^baseUrl must be the absolute/],
  [{ baseUrl: 'http://me:secret@gateway.test' }, /^baseUrl must not contain credentials, a query, or a fragment/],
  [{ baseUrl: 'http://gateway.test?token=secret' }, /^baseUrl must not contain credentials, a query, or a fragment/],
  [{ baseUrl: 'http://gateway.test', token: '' }, /^token must be the admin token/],
  [{ baseUrl: 'http://gateway.test', token: 'secret\n' }, /^token must be the admin token/],
  [{ baseUrl: 'http://gateway.test', fetch: 'fetch' }, /^fetch must be a function/],
  [{ baseUrl: 'http://gateway.test', clock: {} }, /^clock must have/],
  [{ baseUrl: 'http://gateway.test', tokn: 'x' }, /^tokn is not an option\. Known: baseUrl, token, fetch, clock\.$/],
]

for (const [input, message] of options) {
  inputs(`a client rejects the options ${JSON.stringify(input)}`, () => {
    assert.throws(
      () => createClient(input as ClientOptions),
      (error: unknown) =>
        error instanceof TypeError && message.test(error.message) && !error.message.includes('secret'),
    )
  })
}
