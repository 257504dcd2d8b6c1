import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseOptions } from '../../src/cli/cli-options.ts'
import { start } from '../../src/cli/start.ts'
import { assert, suite } from '../support/suite.ts'
import { cleanUp, findToken, manage, signalbox } from './command.ts'

const test = suite("reloading the CLI's config file", { folder: '' })

test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'signalbox-reload-'))
})
test.after(async ({ folder }) => {
  await cleanUp()
  await rm(folder, { recursive: true, force: true })
})

const TOKEN = 'a-token-of-at-least-32-characters'

const createConfig = (combo: string, settings = '{}') => `export default {
  connections: { lab: { provider: 'openai-compatible-lab', baseUrl: 'http://lab.test/v1' } },
  combos: { ${combo}: ['openai-compatible-lab/m'] },
  settings: ${settings},
}`

/** Starts a gateway in this process, with a config file. */
async function serve(folder: string, path: string, args: string[] = [], variables: Record<string, string> = {}) {
  const output: string[] = []
  const note = (text: string) => void output.push(text)
  const options = parseOptions([
    '--port',
    '0',
    '--data',
    join(folder, `data-${Math.random()}`),
    '--config',
    path,
    ...args,
  ])
  const running = await start(options, {
    environment: { adminToken: TOKEN, secret: undefined },
    variables,
    logger: { info: note, warn: note, error: note },
    terminal: { out: () => {}, err: () => {} },
  })
  const [, url] = /(http:\/\/[\w.]+:\d+)/.exec(running.welcome) ?? []
  const listNames = async (resource: 'combos' | 'connections', field: 'name' | 'id') => {
    const response = await fetch(`${url}/api/${resource}`, { headers: { authorization: `Bearer ${TOKEN}` } })
    const found = (await response.json()) as Record<string, Array<{ name: string; id: string }>>
    return found[resource]?.map((record) => record[field])
  }
  return {
    running,
    output,
    listCombos: () => listNames('combos', 'name'),
    listConnections: () => listNames('connections', 'id'),
  }
}

async function waitUntil(isTrue: () => boolean): Promise<void> {
  const end = performance.now() + 10_000
  while (!isTrue() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
  assert.ok(isTrue())
}

test('applies a changed config module, and keeps the previous configuration if it has a mistake', async ({
  folder,
}) => {
  const path = join(folder, 'watched.mjs')
  await writeFile(path, createConfig('first'))
  const { running, output, listCombos } = await serve(folder, path)
  try {
    assert.equal(await listCombos(), ['first'])
    output.length = 0
    await writeFile(path, createConfig('second'))
    await waitUntil(() => output.length === 1)
    assert.match(output[0] ?? '', /^Applied the changes in .*watched\.mjs\.$/)
    assert.equal(await listCombos(), ['second'])

    await writeFile(path, "export default { combos: { a: ['a'] } }")
    await waitUntil(() => output.length === 2)
    assert.match(
      output[1] ?? '',
      /watched\.mjs: combos\.a\.models\[0\] must not lead back to the combo itself \(a → a\)\. Remove it or use another model\. The gateway keeps the previous configuration\.$/,
    )
    await writeFile(path, 'export default {')
    await waitUntil(() => output.length === 3)
    assert.match(output[2] ?? '', /watched\.mjs is not valid: Unexpected end of input\. The gateway keeps/)
    assert.equal(await listCombos(), ['second'])
  } finally {
    await running.stop({ graceMs: 0 })
  }
})

test('a connection in the config module replaces one from an environment variable until it is removed', async ({
  folder,
}) => {
  const path = join(folder, 'variables.mjs')
  await writeFile(path, 'export default {}')
  const { running, listConnections } = await serve(folder, path, [], { GROQ_API_KEY: 'gsk_0123456789' })
  try {
    assert.equal(await listConnections(), ['env-groq'])
    await writeFile(path, "export default { connections: { groq: { apiKey: 'gsk_in_code_0123' } } }")
    await running.reload?.()
    assert.equal(await listConnections(), ['groq'])
    await writeFile(path, 'export default {}')
    await running.reload?.()
    assert.equal(await listConnections(), ['env-groq'])
  } finally {
    await running.stop({ graceMs: 0 })
  }
})

test('rejects a config change that would let other machines connect without an API key', async ({ folder }) => {
  const path = join(folder, 'open.mjs')
  const keys = '{ requireApiKey: true }'
  await writeFile(path, createConfig('first', keys))
  const { running, output } = await serve(folder, path, ['--host', '0.0.0.0'])
  try {
    for (const settings of ['{ requireApiKey: false }', '{}']) {
      await writeFile(path, createConfig('second', settings))
      output.length = 0
      await running.reload?.()
      assert.match(
        output[0] ?? '',
        /open\.mjs: clients would no longer need an API key, and --host 0\.0\.0\.0 opens the gateway/,
      )
    }
    await writeFile(path, createConfig('second', keys))
    await running.reload?.()
    assert.match(output.at(-1) ?? '', /^Applied the changes/)
  } finally {
    await running.stop({ graceMs: 0 })
  }
})

test('a gateway without a config file has no reload function', async ({ folder }) => {
  const { running } = await serve(folder, 'none')
  assert.is(running.reload, undefined)
  await running.stop({ graceMs: 0 })
})

test('SIGHUP reloads a config module', async ({ folder }) => {
  const path = join(folder, 'signalled.mjs')
  await writeFile(join(folder, 'name.txt'), 'first')
  await writeFile(
    path,
    `import { readFileSync } from 'node:fs'
    const name = readFileSync(new URL('./name.txt', import.meta.url), 'utf8')
    export default { aliases: { [name]: 'openai/gpt-5-mini' } }`,
  )
  const command = signalbox(['--data', join(folder, 'data'), '--config', path])
  const list = `${await command.baseUrl()}/api/models/aliases`
  await writeFile(join(folder, 'name.txt'), 'second')
  command.kill('SIGHUP')
  await command.printed(/signalbox: Applied the changes in .*signalled\.mjs\.\n/)
  const { body } = await manage(list, findToken(command))
  assert.equal(body, { aliases: { second: 'openai/gpt-5-mini' } })
  assert.equal(await command.stop(), { code: 0, signal: null })
})

test('SIGHUP reloads a YAML config file', async ({ folder }) => {
  const path = join(folder, 'signalled.yaml')
  await writeFile(path, 'aliases: { quick: openai/gpt-5-mini }')
  const command = signalbox(['--data', join(folder, 'yaml-data'), '--config', path])
  const list = `${await command.baseUrl()}/api/models/aliases`
  await writeFile(path, 'aliases: { quick: openai/gpt-5 }')
  command.kill('SIGHUP')
  await command.printed(/signalbox: Applied the changes in .*signalled\.yaml\.\n/)
  assert.equal((await manage(list, findToken(command))).body, { aliases: { quick: 'openai/gpt-5' } })
  await writeFile(path, 'aliases: [')
  command.kill('SIGHUP')
  await command.printed(
    /signalbox: error: .*signalled\.yaml is not valid YAML: .* The gateway keeps the previous configuration\.\n/,
  )
  assert.equal((await manage(list, findToken(command))).body, { aliases: { quick: 'openai/gpt-5' } })
  assert.equal(await command.stop(), { code: 0, signal: null })
})
