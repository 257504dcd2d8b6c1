import { getClient } from '../runtimes/client.ts'
import { startUpstream } from '../runtimes/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { startLambda } from './lambda-service.ts'
import { testHost } from './scenario.ts'

testHost('Hono on AWS Lambda', () => startLambda('lambda-hono'), { seesClientsLeave: 'never' })

const test = suite('a gateway on AWS Lambda')

type Lambda = Awaited<ReturnType<typeof startLambda>>

/** Runs `body` with a Lambda function for this app, whose model `up/m` comes from the test provider. */
async function withFunction(
  app: string,
  options: { timeoutMs?: number },
  body: (stage: {
    lambda: Lambda
    upstream: Awaited<ReturnType<typeof startUpstream>>
    client: ReturnType<typeof getClient>
  }) => Promise<void>,
): Promise<void> {
  const [lambda, upstream] = await Promise.all([startLambda(app, options), startUpstream()])
  try {
    const client = getClient(`${lambda.url}/ai`)
    await client.connect(upstream.url)
    await body({ lambda, upstream, client })
  } finally {
    await lambda.stop()
    upstream.close()
  }
}

test('on AWS Lambda, the gateway returns a 504 and cancels the provider call before a timeout', async () => {
  await withFunction('lambda', { timeoutMs: 3_000 }, async ({ lambda, upstream, client }) => {
    const cut = upstream.nextCut()
    const response = await client.chat('never', false)
    assert.is(response.status, 504)
    assert.equal(await response.json(), { error: 'The function ran out of time.' })
    await cut
    assert.is((await client.chat('Hi', false)).status, 200)
    assert.equal(lambda.exits, [], 'the process keeps running')
  })
})

test('on AWS Lambda, a stream and its provider call are cut off before the function times out', async () => {
  await withFunction('lambda-hooks', { timeoutMs: 3_000 }, async ({ lambda, upstream, client }) => {
    const cut = upstream.nextCut()
    const response = await client.chat('forever', true)
    const end = await response.text().then(
      () => 'the stream ended as if it were complete',
      () => 'cut',
    )
    assert.is(end, 'cut')
    await cut
    assert.match(lambda.output(), 'the hook has seen 499')
    assert.is((await fetch(`${lambda.url}/ai/health`)).status, 200)
  })
})

test('on AWS Lambda, the gateway finishes hooks before the function is frozen', async () => {
  await withFunction('lambda-hooks', {}, async ({ lambda, client }) => {
    const response = await client.chat('Hi', true)
    assert.match(await response.text(), /data: \[DONE\]\n\n$/)
    await client.manage('/health') // only gets a response once the function polls for the next request
    assert.match(lambda.output(), 'the hook has seen 200')
  })
})
