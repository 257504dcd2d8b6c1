import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveNode } from '../../adapters/mount/node.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { applyConfig, listConfigWarnings, readConfigFile } from '../../src/cli/config-file.ts'
import { createCloudProxy } from '../../src/features/cloud-sync/proxy/proxy.ts'
import type { Gateway } from '../../src/gateway.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { cleanUp, signalbox, temporaryFolder } from '../cli/command.ts'
import { assert, suite } from '../support/suite.ts'
import { COMMAND_PAGES, isGuide } from './command-pages.ts'
import { ADMIN_TOKEN, openGateway } from './gateway.ts'
import { type Block, readPages, SITE } from './pages.ts'
import { openShell } from './shell.ts'

const ENROLMENT = 'an enrollment token of thirty-two characters'

/** The providers to connect before a page's commands run. Default: several. */
const CONNECTED: Record<string, string[]> = {
  [`${SITE}guides/connect-a-provider.md`]: [],
}

/** Variables to set for the commands, in addition to the gateway's URL and tokens. */
const VARIABLES = Object.fromEntries(
  ['OPENAI', 'ANTHROPIC', 'GROQ', 'GEMINI', 'TAVILY', 'COHERE', 'LAB'].map((name) => [
    `${name}_API_KEY`,
    `sk-${name.toLowerCase()}`,
  ]),
)

const pages = readPages().filter(({ path }) => path in COMMAND_PAGES || isGuide(path))
const demo = readPages().find(({ path }) => path === `${SITE}start/first-answer.md`)

const isRun = ({ note }: Block) => note === undefined
const isConfigFile = ({ language, code }: Block) =>
  language === 'yaml' && /^(?:connections|settings|combos):/m.test(code)

const test = suite('commands in the documentation')

test.after(cleanUp)

for (const page of pages) {
  const isOfGuide = isGuide(page.path)
  const connected = CONNECTED[page.path] ?? (isOfGuide ? ['openai', 'anthropic', 'groq', 'cohere'] : ['groq'])
  const written = page.blocks.filter(isRun)
  const data = written.filter(({ language }) => language === 'json')
  const scripts = written.filter(({ language }) => language === 'sh')

  if (data.length > 0)
    test(`the management API accepts the bodies in ${page.path}`, async () => {
      const { gateway, close } = await openGateway(...connected)
      for (const block of data) await sendToGateway(gateway, block)
      await close()
    })

  if (scripts.length > 0)
    test(`the commands in ${page.path} run as written`, async () => {
      const { gateway, url, close } = await openGateway(...connected)
      const proxy = createCloudProxy({ storage: memoryStorage(), logger: false, enrollmentToken: ENROLMENT })
      const cloud = await serveNode(proxy)
      const shell = await openShell()
      const { key } = await gateway.api.keys.create({ name: 'app' })
      for (const block of data) await sendToGateway(gateway, block)
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
          ...(isOfGuide ? { SIGNALBOX_KEY: key, ...VARIABLES } : { OPENAI_API_KEY: 'sk-openai' }),
        })
        assert.match(printed, COMMAND_PAGES[page.path] ?? /./)
      } finally {
        await cloud.close({ graceMs: 0 })
        await proxy.close()
        await close()
        await shell.remove()
      }
    })

  for (const { place, code } of written.filter((block) => isOfGuide && isConfigFile(block)))
    test(`the config file at ${place} can be applied, and every name in it resolves`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'signalbox-docs-config-'))
      const file = join(folder, 'signalbox.yaml')
      await writeFile(file, code)
      const variables = Object.fromEntries(
        [...code.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, `sbx_${'k'.repeat(40)}${name}`]),
      )
      const config = await readConfigFile(file, variables)
      const data = { storage: memoryStorage(), catalog: defaultCatalog, secret: 'a secret of at least 32 characters' }
      await applyConfig(config, data)
      assert.equal(await listConfigWarnings(config, data), [])
      await rm(folder, { recursive: true })
    })
}

test('the requests on the demo page run as written', async () => {
  assert.ok(demo, 'the demo page exists')
  const command = signalbox(['--demo', '--data', await temporaryFolder(), '--no-env'], {
    env: { SIGNALBOX_ADMIN_TOKEN: ADMIN_TOKEN },
  })
  const shell = await openShell()
  try {
    const url = await command.baseUrl()
    const [first = '', ...rest] = demo.blocks
      .filter((block) => isRun(block) && block.language === 'sh')
      .map(({ code }) => code)
    const request = await shell.run(first.replaceAll('http://127.0.0.1:4000', url))
    const header = demo.blocks.find(({ language }) => language === 'text')?.code.trim() ?? ''
    for (const line of header.split('\n')) assert.match(request, line)
    const others = rest
      .filter((code) => !code.includes('openai/'))
      .join('\n')
      .replaceAll('sbx_admin_…', ADMIN_TOKEN)
    assert.match(
      await shell.run(others.replaceAll('npm start -s --', 'npx signalbox'), { SIGNALBOX_URL: url }),
      /sbx_[\s\S]*requireApiKey +(?:true|yes)/,
    )
  } finally {
    await shell.remove()
    await command.stop()
  }
})

test('the example in the config file guide is applied at startup', async () => {
  const [block] = pages
    .filter(({ path }) => path === `${SITE}guides/configure-from-a-file.md`)
    .flatMap(({ blocks }) => blocks.filter(({ language }) => language === 'yaml'))
  const folder = await temporaryFolder()
  const file = join(folder, 'signalbox.yaml')
  await writeFile(file, block?.code ?? '')
  const env = {
    OPENAI_API_KEY: 'sk-openai',
    ANTHROPIC_API_KEY: 'sk-anthropic',
    APP_KEY: `sbx_${'k'.repeat(40)}`,
    NOTEBOOK_KEY: `sbx_${'n'.repeat(40)}`,
  }
  const command = signalbox(['--config', file, '--data', join(folder, 'data')], { env })
  const response = await fetch(`${await command.baseUrl()}/v1/models`, {
    headers: { authorization: `Bearer ${env.APP_KEY}` },
  })
  assert.is(response.status, 200)
  assert.match(await response.text(), '"fast"')
  await command.stop()
})

/** Passes a body from the documentation to the management API operation that accepts it. */
async function sendToGateway({ api }: Gateway, { place, code }: Block): Promise<void> {
  const body = JSON.parse(code)
  const created = body.models
    ? api.combos.create(body)
    : body.provider
      ? api.connections.create(body)
      : api.settings.update(body)
  await created.catch((error: Error) => assert.unreachable(`${place}: ${error.message}`))
}
