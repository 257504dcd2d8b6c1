import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseOptions } from '../../src/cli/cli-options.ts'
import { findCodeFile, isCodeFile, loadCodeFile } from '../../src/cli/code-file.ts'
import { isProblem } from '../../src/cli/problem.ts'
import { start } from '../../src/cli/start.ts'
import { defineConfig } from '../../src/config/define-config.ts'
import { createGateway } from '../../src/gateway.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('a config file written in code', { folder: '' })

test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'signalbox-code-file-'))
})
test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

const CONFIG = `
const config: object = {
  connections: { lab: { provider: 'openai-compatible-lab', baseUrl: 'http://lab.test/v1', apiKey: () => 'key-of-the-lab' } },
  combos: { fast: ['openai-compatible-lab/m'] },
}
export default config
`

async function write(folder: string, name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

const getProblem = (promise: Promise<unknown>) =>
  promise.then(
    () => 'nothing',
    (error: unknown) => (isProblem(error) ? error.message : `not a problem: ${error}`),
  )

test('loads the default export of a TypeScript module', async ({ folder }) => {
  const { combos } = await loadCodeFile(await write(folder, 'typed.ts', CONFIG))
  assert.equal(combos, { fast: ['openai-compatible-lab/m'] })
})

test('finds signalbox.config in a folder, and prefers TypeScript', async ({ folder }) => {
  assert.is(await findCodeFile(folder), undefined)
  await write(folder, 'signalbox.config.mjs', 'export default {}')
  assert.is(await findCodeFile(folder), 'signalbox.config.mjs')
  await write(folder, 'signalbox.config.ts', 'export default {}')
  assert.is(await findCodeFile(folder), 'signalbox.config.ts')
  assert.equal(['a.ts', 'a.MJS', 'a.yaml', 'a.json'].map(isCodeFile), [true, true, false, false])
})

const broken: Array<[name: string, text: string, says: RegExp]> = [
  ['syntax.mjs', 'export default {', /syntax\.mjs is not valid: Unexpected end of input\.$/],
  ['empty.mjs', 'export const config = {}', /empty\.mjs has no default export\. Write: export default defineConfig/],
  ['text.mjs', "export default 'x'", /text\.mjs: the default export must be an object/],
  ['throws.mjs', "throw new Error('no vault')", /throws\.mjs failed to load: Error: no vault$/],
  ['file.mjs', "import './absent.mjs'\nexport default {}", /file\.mjs: Cannot find module '.*absent\.mjs'\.$/],
  [
    'import.mjs',
    "import 'a-missing-package'\nexport default {}",
    /import\.mjs: Cannot find package 'a-missing-package'\. Install it in this folder/,
  ],
  ['storage.mjs', 'export default { storage: {} }', /storage\.mjs: "storage" is set by the options of the command/],
]

for (const [name, text, message] of broken)
  test(`the error for a broken module contains its path: ${name}`, async ({ folder }) => {
    assert.match(await getProblem(loadCodeFile(await write(folder, name, text))), message)
  })

test('reports a missing config file', async ({ folder }) => {
  assert.match(
    await getProblem(loadCodeFile(join(folder, 'none.mjs'))),
    /^Cannot read the config file .*none\.mjs: no such file\.$/,
  )
})

test("the CLI serves the file's records without storing them", async ({ folder }) => {
  const path = await write(folder, 'served.ts', CONFIG)
  const output: string[] = []
  const running = await start(parseOptions(['--port', '0', '--data', join(folder, 'data'), '--config', path]), {
    environment: { adminToken: 'a-token-of-at-least-32-characters', secret: undefined },
    variables: {},
    logger: { warn: (text) => void output.push(text), error: (text) => void output.push(text) },
    terminal: { out: () => {}, err: () => {} },
  })
  try {
    const [, url] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(running.welcome) ?? []
    const call = (path: string, method = 'GET') =>
      fetch(`${url}${path}`, { method, headers: { authorization: 'Bearer a-token-of-at-least-32-characters' } })
    const listed = (await (await call('/api/combos')).json()) as { combos: Array<{ name: string; source: string }> }
    assert.equal(
      listed.combos.map(({ name, source }) => [name, source]),
      [['fast', 'code']],
    )
    assert.is((await call('/api/combos/fast', 'DELETE')).status, 409)
  } finally {
    await running.stop({ graceMs: 0 })
  }
  const bad = await write(folder, 'bad.mjs', "export default { combos: { a: ['a'] } }")
  const failing = start(parseOptions(['--port', '0', '--data', join(folder, 'data'), '--config', bad]), {
    environment: { adminToken: 'a-token-of-at-least-32-characters', secret: undefined },
    variables: {},
    logger: { warn() {}, error() {} },
    terminal: { out: () => {}, err: () => {} },
  })
  assert.match(await getProblem(failing), /bad\.mjs: combos\.a\.models\[0\] must not lead back to the combo itself/)
})

test('defineConfig returns a configuration that createGateway accepts', async () => {
  const config = defineConfig({ connections: { openai: { apiKey: 'sk-1' } }, combos: { fast: ['openai/gpt-5-mini'] } })
  const { combos } = await createGateway({ ...config, logger: false }).api.combos.list()
  assert.equal(
    combos.map(({ name }) => name),
    ['fast'],
  )
})
