import { connect } from 'node:net'
import { signV4 } from '../support/sigv4.ts'
import { assert, suite } from '../support/suite.ts'
import type { Server } from './child.ts'
import { getClient } from './client.ts'
import { startRedirects } from './redirects.ts'
import { addStreamTests } from './streams.ts'
import { startUpstream } from './upstream.ts'

/** Tests the built package in a runtime, with its own HTTP server and `fetch`. */
export function runsIn(name: string, start: () => Promise<Pick<Server, 'url' | 'stop'>>): void {
  const test = suite(name)
  const closers: Array<() => unknown> = []
  let url = ''
  let client: ReturnType<typeof getClient>
  let upstream: Awaited<ReturnType<typeof startUpstream>>

  test.before(async () => {
    upstream = await startUpstream()
    closers.push(upstream.close)
    const server = await start()
    closers.push(server.stop)
    url = server.url
    client = getClient(url)
  })
  test.after(async () => {
    for (const close of closers) await close()
  })

  test('the management API requires the admin token', async () => {
    assert.is((await fetch(`${url}/api/keys`)).status, 401)
    await client.connect(upstream.url)
    assert.is((await (await client.manage('/connections')).json()).connections.length, 1)
  })

  test('/health needs no credential', async () => {
    const response = await fetch(`${url}/health`)
    assert.is(response.status, 200)
    assert.is((await response.json()).status, 'ok')
    assert.is((await fetch(`${url}/health`, { method: 'HEAD' })).status, 200)
  })

  test('lists models', async () => {
    const { data } = await (await fetch(`${url}/v1/models`)).json()
    assert.equal(
      data.map((model: { id: string }) => model.id),
      ['up/m'],
    )
  })

  test('returns a chat completion', async () => {
    const response = await client.chat('Hi', false)
    assert.is(response.status, 200, await response.clone().text())
    assert.is((await response.json()).choices[0].message.content, 'Hello')
  })

  test('streams a chat completion', async () => {
    const response = await client.chat('Hi', true)
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.match(await response.text(), /"Hel"[\s\S]*"lo"[\s\S]*data: \[DONE\]\n\n$/)
  })

  addStreamTests(test, () => ({ client, upstream }))

  test('an invalid status from a provider becomes a 502', async () => {
    for (const stream of [false, true]) {
      const response = await client.chat('odd', stream)
      assert.is(response.status, 502, await response.text())
    }
  })

  test('the provider call ends when a client cancels its stream', async () => {
    const controller = new AbortController()
    const cut = upstream.nextCut()
    const response = await client.chat('forever', true, { signal: controller.signal })
    await response.body?.getReader().read()
    controller.abort()
    await cut
  })

  test("canceling one stream doesn't end another, even after several responses", async () => {
    for (let i = 0; i < 5; i++) await (await client.chat('Hi', i % 2 === 0)).text()
    const controller = new AbortController()
    const leaving = await client.chat('forever', true, { signal: controller.signal })
    const staying = await client.chat('forever', true)
    const reader = staying.body?.getReader()
    await leaving.body?.getReader().read()
    const cut = upstream.nextCut()
    controller.abort()
    await cut
    for (let i = 0; i < 5; i++) assert.is((await reader?.read())?.done, false)
    assert.is(upstream.open, 1)
    const last = upstream.nextCut()
    await reader?.cancel()
    await last
  })

  test('an unknown path gets a 404 with a JSON body', async () => {
    const response = await fetch(`${url}/nowhere`)
    assert.is(response.status, 404)
    assert.type((await response.json()).error, 'string')
  })

  test('rejects a WebSocket request with 426 and serves the next request', async () => {
    for (const path of ['/v1/responses', '/v1/realtime?model=m']) {
      const response = await requestWebSocket(`${url}${path}`)
      assert.match(response, /^HTTP\/1\.1 426 /)
      if (!name.startsWith('workerd')) assert.match(response, /^upgrade: HTTP\/1\.1\r$/im) // workerd doesn't expose hop-by-hop headers
      assert.match(response, /WebSockets are not supported here/)
    }
    assert.is((await client.chat('Hi', false)).status, 200)
  })

  test("never follows a provider's redirect, whichever header or URL contains the credential", async () => {
    const redirects = await startRedirects()
    try {
      const baseUrl = `${redirects.url}/v1`
      const accounts = [
        { provider: 'openai-compatible-lost', providerSpecificData: { baseUrl, prefix: 'lost' } },
        { provider: 'anthropic-compatible-lost', providerSpecificData: { baseUrl, prefix: 'gone' } },
        { provider: 'google', providerSpecificData: { baseUrl } },
        { provider: 'azure', providerSpecificData: { baseUrl, enabledModels: ['m'] } },
      ]
      for (const account of accounts) {
        const created = await client.manage('/connections', { ...account, apiKey: 'canary-of-the-redirects' })
        assert.is(created.status, 201, await created.text())
      }
      for (const model of ['lost/m', 'gone/m', 'google/m', 'azure/m']) {
        for (const stream of [false, true, false]) {
          const response = await client.chat('Hi', stream, { model })
          const text = await response.text()
          assert.is(response.status, 502, `${model}: ${text}`)
          assert.not.match(text, /canary/)
        }
      }
      await (await fetch(`${url}/v1/models`)).text() // makes the gateway request model lists from compatible providers
      assert.ok(redirects.calls >= 14, `${redirects.calls} calls`)
      assert.not.ok(redirects.isRequested)
    } finally {
      redirects.close()
    }
  })

  test('signs calls to AWS Bedrock', async () => {
    const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
    const region = 'eu-west-1'
    const created = await client.manage('/connections', {
      provider: 'bedrock',
      apiKey: `${keys.accessKeyId}:${keys.secretAccessKey}`,
      providerSpecificData: { region, baseUrl: new URL(upstream.url).origin, enabledModels: ['us.m-v1:0'] },
    })
    assert.is(created.status, 201, await created.text())
    const response = await client.chat('Hi', false, { model: 'bedrock/us.m-v1:0' })
    assert.is(response.status, 200, await response.text())
    const { path = '', headers = {}, body = '' } = upstream.signed ?? {}
    assert.is(path, '/model/us.m-v1%3A0/converse')
    const time = String(headers['x-amz-date']).replace(/^(....)(..)(..)T(..)(..)/, '$1-$2-$3T$4:$5:')
    const expected = signV4(
      {
        ...{ method: 'POST', host: headers.host ?? '', pathname: path, search: '' },
        ...{ headers: { 'content-type': headers['content-type'] ?? '' }, body },
      },
      { ...keys, region, service: 'bedrock', now: Date.parse(time) },
    )
    assert.is(headers.authorization, expected.authorization)
  })
}

/** Sends a WebSocket request. Returns everything that the server writes until a complete JSON body has arrived or it hangs up. */
function requestWebSocket(url: string): Promise<string> {
  const { hostname, port, pathname, search } = new URL(url)
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(Number(port), hostname)
    socket.setEncoding('latin1')
    socket.on('data', (part) => {
      text += part
      if (text.includes('}}')) socket.destroy()
    })
    socket.on('error', () => {}) // `close` follows and handles it
    socket.on('close', () => resolve(text))
    socket.write(
      `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
  })
}
