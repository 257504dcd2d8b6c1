import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { assert, suite } from '../support/suite.ts'
import { chat, cleanUp, signalbox, temporaryFolder } from './command.ts'

const TOKEN = 'an admin token of forty characters or so'.replaceAll(' ', '-')

/** A custom server that lists `models`, and a gateway, shared by all tests in this file. */
interface Context {
  url: string
  server: Server
  baseUrl: string
  models: string[]
  asked: number
}

const test = suite<Context>('model discovery in the CLI', {
  url: '',
  server: createServer(),
  baseUrl: '',
  models: [],
  asked: 0,
})

test.before(async (context) => {
  context.server.on('request', (request, response) => {
    const isList = request.url === '/v1/models'
    if (isList) context.asked++
    const list = { object: 'list', data: context.models.map((id) => ({ id, object: 'model', owned_by: 'library' })) }
    response.writeHead(200, { 'content-type': isList ? 'application/json' : 'text/event-stream' })
    response.end(
      isList
        ? JSON.stringify(list)
        : 'data: {"choices":[{"delta":{"content":"Once"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    )
  })
  await new Promise<void>((resolve) => context.server.listen(0, '127.0.0.1', resolve))
  context.baseUrl = `http://127.0.0.1:${(context.server.address() as AddressInfo).port}/v1`
  const gateway = signalbox(['--data', await temporaryFolder()], { env: { SIGNALBOX_ADMIN_TOKEN: TOKEN } })
  context.url = await gateway.baseUrl()
})

test.before.each((context) => {
  context.models = ['llama3.2:latest', 'qwen3:8b']
  context.asked = 0
})

test.after(async ({ server }) => {
  server.close()
  server.closeAllConnections()
  await cleanUp()
})

/** Runs `signalbox connections` to completion. */
async function run(url: string, args: string[]) {
  const command = signalbox(['connections', ...args], { env: { SIGNALBOX_ADMIN_TOKEN: TOKEN, SIGNALBOX_URL: url } })
  const { code } = await command.ended
  return { code, out: command.stdout, err: command.stderr }
}

const getIds = async (url: string) => {
  const listed: { data: { id: string }[] } = await (await fetch(`${url}/v1/models`)).json()
  return listed.data.map(({ id }) => id)
}

test('a new Ollama connection discovers models, which can then be called', async (context) => {
  const { url, baseUrl } = context
  const created = await run(url, ['create', 'ollama', '--base-url', baseUrl])
  assert.equal([created.code, created.err], [0, ''])
  assert.match(created.out, /^providerSpecificData\.enabledModels +llama3\.2:latest, qwen3:8b$/m)
  assert.equal(await getIds(url), ['ollama/llama3.2:latest', 'ollama/qwen3:8b'])
  assert.match(await (await chat(url, 'ollama/qwen3:8b')).text(), 'Once')

  context.models.push('gemma3:4b')
  const again = await run(url, ['discover', 'Ollama', '--json'])
  assert.equal(JSON.parse(again.out).providerSpecificData.enabledModels, context.models)
  assert.equal((await run(url, ['update', 'Ollama', '--paused'])).err, '')
  assert.is(context.asked, 2, 'other changes query no server')
  await run(url, ['delete', 'Ollama'])
})

test('a connection with a fixed model list discovers models only with --discover', async (context) => {
  const { url, baseUrl } = context
  const lab = ['openai-compatible-lab', '--prefix', 'lab', '--base-url']
  await run(url, ['create', ...lab, baseUrl, '--model', 'mine'])
  assert.is(context.asked, 0)
  const kept = await run(url, ['update', 'openai-compatible-lab', '--base-url', `${baseUrl}/`])
  assert.match(kept.out, /enabledModels +mine$/m)
  assert.is(context.asked, 0)
  const found = await run(url, ['update', 'openai-compatible-lab', '--discover'])
  assert.match(found.out, /enabledModels +llama3\.2:latest, qwen3:8b$/m)
  await run(url, ['delete', 'openai-compatible-lab'])
})

test('--no-discover queries no server, and prints a warning that suggests options', async (context) => {
  const { url, baseUrl } = context
  const created = await run(url, ['create', 'openai-compatible-lab', '--base-url', baseUrl, '--no-discover'])
  assert.equal(
    [created.code, created.err],
    [
      0,
      'signalbox: warning: "signalbox models" lists none of this connection\'s models because its server was never queried. Query the server with --discover, or list its models with --model.\n',
    ],
  )
  assert.is(context.asked, 0)
  await run(url, ['delete', 'openai-compatible-lab'])
})

test('creating a connection to an unreachable server succeeds, with a warning that suggests a fix', async ({ url }) => {
  const created = await run(url, ['create', 'lmstudio', '--base-url', 'http://127.0.0.1:9/v1'])
  assert.equal(
    [created.code, created.err],
    [
      0,
      'signalbox: warning: The server at http://127.0.0.1:9/v1/models is unreachable: start it, or set its --base-url. Then try --discover again, or list its models with --model.\n',
    ],
  )
  assert.match(created.out, /^provider +lmstudio$/m)
  await run(url, ['delete', 'LM Studio'])
})

test("the config file's servers are queried for models once per start, and warnings are printed", async (context) => {
  const data = await temporaryFolder()
  const config = join(data, 'config.yaml')
  const start = async (discover: string) => {
    await writeFile(
      config,
      `connections:\n  ollama: { baseUrl: '${context.baseUrl}'${discover} }\n  away: { provider: lmstudio, baseUrl: 'http://127.0.0.1:9/v1', discover: true }\n`,
    )
    const gateway = signalbox(['--data', data, '--config', config, '--no-env'])
    const listed = await getIds(await gateway.baseUrl())
    await gateway.stop()
    return { listed: listed.filter((id) => id.startsWith('ollama/')), err: gateway.stderr }
  }
  const first = await start(', discover: true')
  assert.equal(first.listed, ['ollama/llama3.2:latest', 'ollama/qwen3:8b'])
  assert.is(context.asked, 1)
  assert.match(
    first.err,
    /config\.yaml: connections\.away: The server at http:\/\/127\.0\.0\.1:9\/v1\/models is unreachable/,
  )
  assert.not.match(first.err, 'connections.ollama')
  context.models.pop()
  assert.equal((await start(', discover: true')).listed, ['ollama/llama3.2:latest'])
  assert.equal((await start('')).listed, ['ollama/llama3.2:latest'], 'discovered models are kept')
  assert.is(context.asked, 2)
})
