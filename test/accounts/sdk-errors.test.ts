import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { clients } from '../pipeline/support/sdk/clients/clients.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { byCookie } from './support/app.ts'
import { SECRET } from './support/token-world.ts'

const test = suite('account and token errors in the official SDKs')

const MODEL = 'the-model'

/** The status of each error, and the client headers that cause it. */
interface Case {
  code: string
  status: number
  headers: Record<string, string>
}

async function open() {
  const clock = fakeClock()
  const gateway = createGateway({
    storage: memoryStorage({ clock }),
    secret: SECRET,
    clock,
    fetch: fakeUpstream(() => json(chatResponse())),
    catalog,
    logger: false,
    allowedOrigins: ['https://app.example'],
    accounts: { newPerMinute: 1 },
    identify(request, about) {
      const { headers } = request
      if (headers.get('x-case') === 'throw') throw new Error('no session store')
      if (headers.get('x-case') === 'invalid') return {} as never
      return headers.get('x-case') === 'token' ? undefined : (byCookie(request, about) ?? null)
    },
  })
  const { api } = gateway
  await api.connections.create({ provider: 'one', apiKey: 'secret-of-one' })
  await api.aliases.set({ alias: MODEL, model: 'one/m' })
  for (const id of ['alice', 'paused']) await api.accounts.put({ id })
  const mint = (account: string, extra: object = {}) => api.tokens.mint({ account, ...extra })
  const [expired, revoked] = [await mint('alice', { expiresIn: 30 }), await mint('paused')]
  await api.accounts.pause('paused')
  await clock.advance(60_000)
  const other = await mint('alice', { origins: ['https://app.example'] })
  const { key } = await api.keys.create({ name: 'plain' })
  await gateway.as({ account: 'the one new account of this minute' }).fetch('http://app.test/v1/models')
  const user = { cookie: 's=alice' }
  const token = (value: string) => ({ 'x-case': 'token', 'api-key': value })
  const cases: Case[] = [
    { code: 'identity_required', status: 401, headers: {} },
    { code: 'identity_conflict', status: 400, headers: { ...user, 'api-key': key } },
    { code: 'identity_unavailable', status: 503, headers: { 'x-case': 'throw' } },
    { code: 'identity_invalid', status: 500, headers: { 'x-case': 'invalid' } },
    { code: 'account_not_allowed', status: 403, headers: { ...user, 'x-signalbox-account': 'bob' } },
    { code: 'account_paused', status: 403, headers: { cookie: 's=paused' } },
    { code: 'too_many_new_accounts', status: 503, headers: { cookie: 's=mallory' } },
    { code: 'cross_site', status: 403, headers: { ...user, 'sec-fetch-site': 'cross-site' } },
    { code: 'token_invalid', status: 401, headers: token('sbt_x') },
    { code: 'token_expired', status: 401, headers: token(expired.token) },
    { code: 'token_revoked', status: 401, headers: token(revoked.token) },
    { code: 'token_not_allowed', status: 403, headers: token(other.token) },
  ]
  const fetchWith =
    (headers: Record<string, string>): typeof globalThis.fetch =>
    (input, init) => {
      const request = new Request(input, init)
      for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
      return gateway.fetch(request)
    }
  return { cases, fetchWith }
}

/** Returns the status and the message of an SDK's error. Field names differ by SDK, and some SDKs quote the response body. */
function readError(error: unknown): { status: unknown; message: string } {
  const { status, statusCode } = Object(error)
  return { status: status ?? statusCode, message: String(error).replaceAll('\\', '') }
}

/** The AI SDK throws this error, with its own message, for any 401 from its gateway. */
const isOwn401 = (error: unknown) => error instanceof Error && error.name === 'GatewayAuthenticationError'

for (const [name, { create }] of Object.entries(clients))
  test(`${name} reads the status and the message of each error`, async () => {
    const { cases, fetchWith } = await open()
    for (const { code, status, headers } of cases)
      for (const stream of [false, true]) {
        const bare = await fetchWith(headers)('http://app.test/v1/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: MODEL, messages: [] }),
        })
        const { error } = (await bare.json()) as { error: { message: string; code?: string } }
        assert.equal([bare.status, error.code], [status, code === 'identity_invalid' ? undefined : code])
        assert.is(bare.headers.get('x-should-retry'), status === 503 ? null : 'false', code)
        const reason = await create(fetchWith(headers))
          .send(MODEL, { stream })
          .then(
            () => undefined,
            (failure: unknown) => failure,
          )
        if (isOwn401(reason)) {
          assert.is(status, 401, code)
          continue
        }
        const recorded = readError(reason)
        assert.is(recorded.status, status, `${code}: ${reason}`)
        assert.match(recorded.message, error.message)
      }
  })
