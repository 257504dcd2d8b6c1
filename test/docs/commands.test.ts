import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { serveNode } from '../../adapters/mount/node.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createCloudProxy } from '../../src/features/cloud-sync/proxy/proxy.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { cleanUp, signalbox, temporaryFolder } from '../cli/command.ts'
import { assert, suite } from '../support/suite.ts'
import { COMMAND_PAGES } from './command-pages.ts'
import { type Block, readPages } from './pages.ts'
import { openShell } from './shell.ts'

const ADMIN_TOKEN = 'sbx_admin_of-thirty-two-characters-or-more'
const ENROLMENT = 'an enrollment token of thirty-two characters'
const ANSWER = 'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'

const pages = readPages().filter(({ path }) => path in COMMAND_PAGES)

const test = suite('the commands in the documentation')

test.after(cleanUp)

/** A gateway on loopback whose providers answer in this process; one is connected. */
async function openGateway() {
  const provider = (url: string) =>
    url.endsWith('/chat/completions')
      ? new Response(ANSWER, { headers: { 'content-type': 'text/event-stream' } })
      : new Response('{}', { status: 404, headers: { 'content-type': 'application/json' } })
  const gateway = createGateway({
    storage: memoryStorage(),
    logger: false,
    management: { token: ADMIN_TOKEN },
    fetch: async (url: string | URL | Request, init?: RequestInit) =>
      /^http:\/\/127\./.test(String(url)) ? fetch(url, init) : provider(String(url)),
  })
  await gateway.api.connections.create({ provider: 'groq', apiKey: 'sk-groq' })
  const server = await serveNode(gateway)
  return {
    gateway,
    url: server.url,
    async close() {
      await server.close({ graceMs: 0 })
      await gateway.close()
    },
  }
}

for (const page of pages) {
  const written = page.blocks.filter(({ note }) => note === undefined)
  const data = written.filter(({ language }) => language === 'json')
  const scripts = written.filter(({ language }) => language === 'sh')

  if (data.length > 0)
    test(`the bodies in ${page.path} are accepted`, async () => {
      const { gateway, close } = await openGateway()
      for (const block of data) await give(gateway, block)
      await close()
    })

  if (scripts.length > 0)
    test(`the commands in ${page.path} run as written`, async () => {
      const { gateway, url, close } = await openGateway()
      const proxy = createCloudProxy({ storage: memoryStorage(), logger: false, enrollmentToken: ENROLMENT })
      const cloud = await serveNode(proxy)
      const shell = await openShell()
      const { key } = await gateway.api.keys.create({ name: 'app' })
      for (const block of data) await give(gateway, block)
      try {
        const script = scripts
          .map(({ code }) => code)
          .join('\n')
          .replaceAll('http://127.0.0.1:4000', url)
          .replaceAll('https://cloud.example', cloud.url)
          .replaceAll('sbx_admin_…', ADMIN_TOKEN)
          .replaceAll('sbx_…', key)
          .replaceAll('SIGNALBOX_ENROLLMENT_TOKEN=…', `SIGNALBOX_ENROLLMENT_TOKEN='${ENROLMENT}'`)
        const printed = await shell.run(script, {
          SIGNALBOX_URL: url,
          SIGNALBOX_ADMIN_TOKEN: ADMIN_TOKEN,
          OPENAI_API_KEY: 'sk-openai',
        })
        assert.match(printed, COMMAND_PAGES[page.path] ?? /./)
      } finally {
        await cloud.close({ graceMs: 0 })
        await proxy.close()
        await close()
        await shell.remove()
      }
    })
}

test('the config file in src/cli/README.md is applied at startup', async () => {
  const [block] = pages.flatMap(({ blocks }) => blocks.filter(({ language }) => language === 'yaml'))
  const folder = await temporaryFolder()
  const file = join(folder, 'signalbox.yaml')
  await writeFile(file, block?.code ?? '')
  const env = { OPENAI_API_KEY: 'sk-openai', APP_KEY: `sbx_${'k'.repeat(40)}` }
  const command = signalbox(['--config', file, '--data', join(folder, 'data')], { env })
  const answer = await fetch(`${await command.baseUrl()}/v1/models`, {
    headers: { authorization: `Bearer ${env.APP_KEY}` },
  })
  assert.is(answer.status, 200)
  assert.match(await answer.text(), '"fast"')
  await command.stop()
})

/** Gives a body of the management API to the operation that takes it. */
async function give({ api }: Gateway, { place, code }: Block): Promise<void> {
  const body = JSON.parse(code)
  const made = body.models
    ? api.combos.create(body)
    : body.provider
      ? api.connections.create(body)
      : api.settings.update(body)
  await made.catch((error: Error) => assert.unreachable(`${place}: ${error.message}`))
}
