import { assert, suite } from '../support/suite.ts'
import { getClient } from './client.ts'
import { startUpstream } from './upstream.ts'
import { startWorker } from './worker.ts'

const test = suite('observers in workerd')
const closers: (() => unknown)[] = []
let url = ''

test.before(async () => {
  const upstream = await startUpstream()
  closers.push(upstream.close)
  const worker = await startWorker('worker-observed', {})
  closers.push(worker.stop)
  url = worker.url
  const client = getClient(url)
  await client.connect(upstream.url)
  for (const stream of [false, true]) await (await client.chat('Hi', stream)).text()
})
test.after(async () => {
  for (const close of closers) await close()
})

const readObserved = async (): Promise<{ spans: string[]; lines: string[] }> => (await fetch(`${url}/observed`)).json()

test('otel creates spans, and jsonLog writes log lines', async () => {
  const { spans, lines } = await readObserved()
  const request = 'POST /v1/chat/completions'
  assert.equal(spans, ['chat m', request, 'chat m', request])
  assert.equal(
    lines.map((line) => JSON.parse(line)).map(({ asked, status, end, stream }) => [asked, status, end, stream]),
    [
      ['up/m', 200, 'complete', false],
      ['up/m', 200, 'complete', true],
    ],
  )
})

test('prometheus rejects a scrape with a 501, because it would only see one isolate', async () => {
  const authorization = 'Bearer token-of-the-scrape-0123456789abcdef'
  const reply = await fetch(`${url}/metrics`, { headers: { authorization } })
  assert.is(reply.status, 501)
  assert.match(await reply.text(), /^A scrape would see one of many short-lived instances\. Use otel\(api\)/)
  assert.is((await fetch(`${url}/metrics`)).status, 401)
})
