import { memoryStorage } from '../../adapters/storage/memory.ts'
import { jsonLog } from '../../src/features/observe/log.ts'
import { otel } from '../../src/features/observe/otel.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import { createGateway } from '../../src/gateway.ts'
import { sdk } from '../observe/sdk.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { SECRET } from './support/token-world.ts'

const test = suite('tokens in observability data')

const SCRAPE = 'token-of-the-scrape-0123456789abcdef'
const ID = 'alice-in-the-token@example.com'

test("spans, metrics, and log lines don't contain a token or its claims", async () => {
  const clock = fakeClock()
  const { module, spans, metrics } = sdk()
  const lines: string[] = []
  const gateway = createGateway({
    storage: memoryStorage({ clock }),
    secret: SECRET,
    clock,
    fetch: fakeUpstream(({ body }) => (body.includes('"stream":true') ? sse(chatEvents()) : json(chatResponse()))),
    catalog,
    logger: false,
    observe: [otel(module), prometheus({ token: SCRAPE }), jsonLog((line) => void lines.push(line))],
  })
  const { api } = gateway
  await api.connections.create({ provider: 'one', apiKey: 'secret-of-one' })
  await api.settings.update({ requireApiKey: true })
  const metadata = { note: 'a-note-in-the-token' }
  const { token } = await api.tokens.mint({ account: ID, models: ['one/m'], metadata, expiresIn: 60 })
  const send = async (
    sent: string,
    { path = '/v1/chat/completions', ...body }: { path?: string; [field: string]: unknown } = {},
  ) => {
    const response = await gateway.fetch(`http://gateway${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': sent },
      body: JSON.stringify({ model: 'one/m', messages: [], ...body }),
    })
    return { status: response.status, text: await response.text() }
  }
  assert.is((await send(token)).status, 200)
  assert.is((await send(token, { stream: true })).status, 200)
  const rejections = [
    await send(token, { model: 'one/other' }),
    await send(token, { model: token }),
    await send(token, { path: `/v1/${token}` }),
    await send(`${token}x`),
    await send('', { path: `/v1/chat/completions?key=${token}` }),
  ]
  await clock.advance(100_000)
  rejections.push(await send(token))
  await api.tokens.mint({ account: ID }).then(({ token: next }) => api.accounts.revoke(ID).then(() => send(next)))
  for (const { status } of rejections) assert.ok(status >= 400 && status < 500, `${status}`)

  const scraped = await gateway.fetch('http://gateway/metrics', { headers: { authorization: `Bearer ${SCRAPE}` } })
  const seen = spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status }))
  const shown = JSON.stringify([seen, await metrics(), await scraped.text(), lines, rejections.map(({ text }) => text)])
  assert.ok(seen.length >= 9 && lines.length >= 8, `${seen.length} spans, ${lines.length} lines`)
  const [header = '', payload = '', signature = ''] = token.slice('sbt_'.length).split('.')
  for (const secret of [token, header, payload, signature, ID, metadata.note])
    assert.not.ok(shown.includes(secret), secret.slice(0, 30))
})
