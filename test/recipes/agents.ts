import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { serveNode } from '../../adapters/mount/node.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/index.ts'
import { ANSWER, CITIES, getWeather, QUESTION } from '../pipeline/support/sdk/conversation.ts'
import { outputBy } from '../pipeline/support/sdk/gateway.ts'
import { assert, suite } from '../support/suite.ts'
import { type App, openApp } from './app.ts'
import { DAILY } from './scenario.ts'

const KEY = `sbx_${'a'.repeat(64)}`

/** Starts a provider on loopback that calls a tool twice, and responds once it has the results. It records the request bodies. */
async function startProvider() {
  const bodies: string[] = []
  const server = createServer(async (req, res) => {
    const body = Object(await json(req))
    const text = JSON.stringify(body)
    bodies.push(text)
    const modelOutput = outputBy(req.url?.endsWith('/responses') ? 'openai-responses' : 'openai-chat')
    const { whole, events } = /"(?:tool_call_id|function_call_output)"/.test(text)
      ? modelOutput.response
      : modelOutput.calls
    res.setHeader('content-type', body.stream ? 'text/event-stream' : 'application/json')
    const response = body.stream ? events.join('') : JSON.stringify(whole)
    res.end(response.replaceAll('chatcmpl-1', `chatcmpl-${bodies.length}`)) // LangGraph merges messages with the same ID
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a TCP server's address is never a string
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { bodies, url: `http://127.0.0.1:${port}/v1`, close }
}

/**
 * Runs as one of the app's files: one user sends requests until the limit is reached, and then another user sends one. Prints the responses and the
 * error status.
 */
const DRIVER = `
import { ask } from './for-user.ts'
const answers = []
let status
try {
  for (;;) answers.push(await ask('alan', ${JSON.stringify(QUESTION)}))
} catch (error) {
  for (let at = error; at && !status; at = at.cause) status = at.status ?? at.statusCode
  if (!status) throw error
}
console.log(JSON.stringify({ answers, status, other: await ask('barbara', ${JSON.stringify(QUESTION)}) }))
process.exit()
`

/**
 * Tests that the agent built from the page `slug` calls a tool through the gateway and then streams a response. `limited` is the error status when
 * the limit is reached.
 */
export function addAgentRecipeTests(slug: string, limited: number | string = 429) {
  const test = suite<{ app: App }>(`the recipe ${slug}`)
  let provider: Awaited<ReturnType<typeof startProvider>>
  const closers: Array<() => unknown> = []

  test.before({ timeoutMs: 120_000 }, async (context) => {
    provider = await startProvider()
    closers.push(provider.close)
    context.app = await openApp(slug, {
      providerUrl: provider.url,
      address: '127.0.0.1:4000',
      secrets: { sbx_your_key: KEY },
    })
    closers.push(context.app.remove)
    const gateway = createGateway({
      storage: memoryStorage(),
      connections: { openai: { apiKey: 'sk-openai', baseUrl: provider.url } },
      aliases: { chat: 'openai/gpt-5-mini' },
      settings: { requireApiKey: true },
      logger: false,
    })
    await gateway.api.keys.put({ name: 'app', key: KEY })
    const server = await serveNode(gateway, { port: context.app.port })
    closers.push(() => server.close())
  })
  test.after(async () => {
    for (const close of closers) await close()
  })

  test(`${slug}: the agent calls a tool and streams a response`, async ({ app }) => {
    const output = await app.send()
    assert.match(output, ANSWER.join(''))
    const [first = '', second = ''] = provider.bodies
    for (const body of [first, second]) assert.is(JSON.parse(body).stream, true)
    for (const city of CITIES) assert.match(second.replaceAll('\\', ''), String(getWeather(city).celsius))
  })

  test(`${slug}: in-process, each user has their own limit`, async ({ app }) => {
    await writeFile(join(app.folder, 'driver.mjs'), DRIVER)
    const output = await app.run('node driver.mjs', { OPENAI_API_KEY: 'sk-openai' })
    const { answers, status, other } = JSON.parse(output.trim().split('\n').at(-1) ?? '')
    assert.equal(
      answers,
      Array(DAILY / 2) // each response takes two requests: one for the tool calls, and one for the text
        .fill(ANSWER.join('')),
    )
    assert.is(status, limited)
    assert.is(other, ANSWER.join(''))
  })
}
