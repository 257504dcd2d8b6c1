import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { assert, suite } from '../support/suite.ts'
import { type CommandOptions, chat, cleanUp, findToken, signalbox, temporaryFolder } from './command.ts'
import { writeImported } from './imported.ts'

const test = suite('the outbound proxy between the gateway and its providers', { port: 0, proxied: [] as string[] })

/** A provider whose hostname only the proxy can resolve. */
const provider = createServer((_request, response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'by the proxy' }, finish_reason: 'stop' }],
    }),
  ),
)
const proxy = createServer()

test.before(async (context) => {
  provider.listen(0, '127.0.0.1')
  proxy.listen(0, '127.0.0.1')
  await Promise.all([once(provider, 'listening'), once(proxy, 'listening')])
  const to = { port: (provider.address() as AddressInfo).port, host: '127.0.0.1' } // a TCP server always has this type
  context.port = (proxy.address() as AddressInfo).port
  proxy.on('connect', ({ url = '' }, socket) => {
    context.proxied.push(url)
    const tunnel = connect(to, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      socket.pipe(tunnel).pipe(socket)
    })
    for (const item of [socket, tunnel]) item.on('error', () => tunnel.destroy())
  })
  proxy.on('request', (requested, response) => {
    context.proxied.push(new URL(requested.url ?? '').host)
    requested.pipe(
      request({ ...to, method: requested.method, path: requested.url, headers: requested.headers }, (reply) => {
        response.writeHead(reply.statusCode ?? 500, reply.headers)
        reply.pipe(response)
      }),
    )
  })
})
test.after(async () => {
  await cleanUp()
  proxy.close()
  provider.close()
})

async function send(
  env: NonNullable<CommandOptions['env']>,
  { model = 'lab/m', content = 'hello' }: { model?: string; content?: unknown } = {},
) {
  const folder = await temporaryFolder()
  const config = await writeImported(
    folder,
    '.yaml',
    `connections:
  lab: { provider: openai-compatible-lab, baseUrl: "http://lab.invalid:8080/v1", prefix: lab }
  gemini: { apiKey: key-1234567 }`,
  )
  const command = signalbox(['--data', `${folder}/data`, '--config', config], { env })
  const response = await fetch(`${await command.baseUrl()}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  })
  const text = await response.text()
  await command.stop()
  return { status: response.status, text }
}

test('calls providers through HTTP_PROXY with NODE_USE_ENV_PROXY=1, and directly without it', async ({
  port,
  proxied,
}) => {
  proxied.length = 0
  const env = { HTTP_PROXY: `http://127.0.0.1:${port}` }
  assert.is((await send(env)).status, 502)
  assert.equal(proxied, [])
  const { status, text } = await send({ ...env, NODE_USE_ENV_PROXY: '1' })
  assert.is(status, 200, text)
  assert.match(text, 'by the proxy')
  assert.equal([...new Set(proxied)], ['lab.invalid:8080'])
  assert.is((await send({ ...env, NODE_USE_ENV_PROXY: '1', NO_PROXY: 'lab.invalid' })).status, 502)
})

test('never requests media from a private or plain HTTP URL through the proxy', async ({ port, proxied }) => {
  const proxy = `http://127.0.0.1:${port}`
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy, HTTPS_PROXY: proxy }
  for (const [url, calls] of [
    ['https://10.0.0.5/a.png', []],
    ['https://metadata.google.internal/a.png', []],
    ['http://pictures.example/a.png', []],
    ['https://pictures.example.com/a.png', ['pictures.example.com:443']],
  ] as const) {
    proxied.length = 0
    const content = [{ type: 'image_url', image_url: { url } }]
    assert.is((await send(env, { model: 'gemini/gemini-2.5-pro', content })).status, 400, url)
    assert.equal([...new Set(proxied)], calls, url)
  }
})

test("local provider calls and a command's requests to its gateway bypass the proxy", async ({ port, proxied }) => {
  proxied.length = 0
  const folder = await temporaryFolder()
  const { port: at } = provider.address() as AddressInfo // a TCP server always has this type
  const config = await writeImported(
    folder,
    '.yaml',
    `connections: { own: { provider: openai-compatible-own, baseUrl: "http://localhost:${at}/v1", prefix: own } }`,
  )
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: 'lab.invalid' }
  const gateway = signalbox(['--data', `${folder}/data`, '--config', config], { env })
  const url = await gateway.baseUrl()
  const response = await chat(url, 'own/m')
  assert.is(response.status, 200, await response.text())
  const keys = signalbox(['keys', 'list', '--url', url], { env: { ...env, SIGNALBOX_ADMIN_TOKEN: findToken(gateway) } })
  assert.is((await keys.ended).code, 0, keys.stderr)
  await gateway.stop()
  assert.equal(proxied, [])
})

test('bypasses the proxy for provider calls and commands if NO_PROXY has a matching network or wildcard', async ({
  port,
  proxied,
}) => {
  const { port: at } = provider.address() as AddressInfo // a TCP server always has this type
  const folder = await temporaryFolder()
  const config = await writeImported(
    folder,
    '.yaml',
    `connections: { own: { provider: openai-compatible-own, baseUrl: "http://0.0.0.0:${at}/v1", prefix: own } }`,
  )
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: `http://127.0.0.1:${port}` }
  for (const [NO_PROXY, calls] of [
    ['0.0.0.0/8, 10.0.0.0/8', []],
    ['0.*', []],
    ['10.0.0.0/8', [`0.0.0.0:${at}`]],
  ] as const) {
    proxied.length = 0
    const gateway = signalbox(['--data', `${folder}/data`, '--config', config, '--new-token'], {
      env: { ...env, NO_PROXY },
    })
    const url = await gateway.baseUrl()
    const response = await chat(url, 'own/m')
    assert.is(response.status, 200, await response.text())
    assert.equal([...new Set(proxied)], calls, NO_PROXY)
    const keys = signalbox(['keys', 'list', '--url', url.replace('127.0.0.1', '0.0.0.0')], {
      env: { ...env, NO_PROXY, SIGNALBOX_ADMIN_TOKEN: findToken(gateway) },
    })
    await keys.ended
    assert.equal(proxied.includes(new URL(url).host.replace('127.0.0.1', '0.0.0.0')), calls.length > 0, NO_PROXY)
    await gateway.stop()
  }
})

test('reports an invalid NO_PROXY entry at startup and in commands', async () => {
  const env = { NODE_USE_ENV_PROXY: '1', NO_PROXY: 'localhost,10.0.0.0/33' }
  for (const args of [
    ['--data', await temporaryFolder()],
    ['keys', 'list'],
  ]) {
    const command = signalbox(args, { env })
    assert.is((await command.ended).code, 1)
    assert.match(command.stderr, 'NO_PROXY: cannot parse "10.0.0.0/33"')
  }
})

test('rejects an invalid proxy URL at startup', async () => {
  const folder = await temporaryFolder()
  const command = signalbox(['--data', folder], { env: { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'nothing' } })
  assert.is((await command.ended).code, 1)
  // Node 24 rejects it before the program starts.
  assert.match(command.stderr, /HTTPS_PROXY and HTTP_PROXY must be addresses|Invalid URL/)
})
