import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { EXAMPLE_MODEL } from '../../src/cli/welcome.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { cleanUp, findToken, manage, signalbox, temporaryFolder } from './command.ts'

const run = promisify(execFile)
const sh = async (script: string) =>
  (await run('sh', ['-c', script], { env: { ...process.env, OPENAI_API_KEY: 'sk-canary-0123456789' } })).stdout

const steps = suite('the commands in the startup message')

steps.before(async () => {
  await run('sh', ['-c', 'curl --version']).catch(() => skip('there is no curl'))
})

steps.after(cleanUp)

steps('the first steps, pasted unchanged, lead from a fresh start to a streamed response', async () => {
  const provider = createServer((request, response) => {
    assert.is(request.headers.authorization, 'Bearer sk-canary-0123456789')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end('data: {"choices":[{"delta":{"content":"Once"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const command = signalbox(['--host', '0.0.0.0', '--open', '--log', '--data', await temporaryFolder()])
  const baseUrl = await command.baseUrl()
  const [token = '', connect = '', makeKey = '', item = '', requireKeys = ''] = listCommands(command.stdout)

  const connection = JSON.parse(await sh(`${token}\n${connect}`))
  assert.match(connection.apiKey, '…6789')
  assert.match(command.stdout, /WARNING: 0\.0\.0\.0 is open to the network, and clients need no API key\./)
  assert.is(JSON.parse(await sh(`${token}\n${requireKeys}`)).requireApiKey, true)

  const address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1` // instead of the provider's URL
  await manage(`${baseUrl}/api/connections/${connection.id}`, findToken(command), {
    method: 'PUT',
    body: { apiKey: 'sk-canary-0123456789', providerSpecificData: { baseUrl: address } },
  })
  const reply = await sh(`${token}\n${makeKey}\n${item}`)
  assert.match(reply, /^data: .*"Once".*\n\ndata: \[DONE\]\n\n$/)
  await command.printed(
    new RegExp(
      `^\\S+Z 200 "${EXAMPLE_MODEL}" -> ${EXAMPLE_MODEL} 200 \\(\\d+ ms, streamed, \\d+ tokens in, 1 out\\)\\n`,
      'm',
    ),
  )
  await command.stop()
  assert.not.match(command.stdout, /canary|sbx_(?!admin_)|Tell me a story.*\n.*Tell me a story/)
  provider.close()
})

steps('the first steps use a model from the catalog', () => {
  const [provider = '', model = ''] = EXAMPLE_MODEL.split('/')
  assert.ok(defaultCatalog[provider]?.models?.some(({ id }) => id === model))
})

steps('the first steps call the demo model with --demo, and list models on later starts', async () => {
  const data = await temporaryFolder()
  const demo = signalbox(['--demo', '--data', data])
  const baseUrl = await demo.baseUrl()
  const [, request = ''] = listCommands(demo.stdout)
  assert.match(
    await sh(request),
    /^HTTP\/1\.1 200 OK\r\n[\s\S]*x-signalbox-attempts: demo\/broken=503:server;via=demo:fallback, demo\/storyteller=200\r\n[\s\S]*\[DONE\]\n\n$/,
  )
  await manage(`${baseUrl}/api/connections`, findToken(demo), { body: { provider: 'openai' } })
  await manage(`${baseUrl}/api/settings`, findToken(demo), { method: 'PATCH', body: { requireApiKey: true } })
  const { body } = await manage(`${baseUrl}/api/keys`, findToken(demo), { body: { name: 'app' } })
  await demo.stop()

  const later = signalbox(['--host', '0.0.0.0', '--data', data])
  await later.baseUrl()
  const commands = listCommands(later.stdout)
  assert.is(commands.length, 1, later.stdout)
  assert.match(await sh(`SIGNALBOX_KEY=${body.key}\n${commands[0]}`), `"${EXAMPLE_MODEL}"`)
  await later.stop()
})

/** Finds commands: lines that are indented by two spaces and aren't URLs, with their continuation lines. */
const listCommands = (text: string) =>
  [...text.matchAll(/^ {2}((?:curl|SIGNALBOX_KEY=|export SIGNALBOX_ADMIN_TOKEN=)[\s\S]*?[^\\|])$/gm)].map(
    ([, command]) => command ?? '',
  )
