import { applyConfig, readConfigFile } from '../../src/cli/config-file.ts'
import { assert } from '../support/suite.ts'
import { configSuite, findProblem, openData, write } from './config-files.ts'

const test = configSuite('YAML anchors and merges in the config file')

const env = { OPENAI_KEY: 'sk-canary-0123456789' }

const MERGES = `x-server: &server
  apiKey: \${OPENAI_KEY}
  prefix: shared
x-lists:
  - &retry { on: [rate_limit], params: { temperature: 0 } }
  - &patient { timeouts: { idleMs: 20000 }, on: [error] }
connections:
  a: { <<: *server, provider: openai-compatible-a, baseUrl: http://a.test/v1, prefix: a }
  b: &b
    provider: openai-compatible-b
    prefix: b
    <<: *server
    baseUrl: http://b.test/v1
  c:
    <<: [{ provider: openai-compatible-c, prefix: c }, *b]
combos:
  fast:
    <<: [*retry, *patient]
    models: &both [a/x, b/x]
  slow: { <<: *patient, models: *both }
`

test('YAML config files support anchors, aliases, and << merges like Docker Compose', async ({ folder }) => {
  const { connections, combos } = await readConfigFile(await write(folder, 'merges.yaml', MERGES), env)
  const apiKey = env.OPENAI_KEY
  assert.equal(
    connections.map(({ input }) => input),
    [
      { id: 'a', apiKey, prefix: 'a', provider: 'openai-compatible-a', baseUrl: 'http://a.test/v1' },
      { id: 'b', apiKey, prefix: 'b', provider: 'openai-compatible-b', baseUrl: 'http://b.test/v1' },
      { id: 'c', apiKey, prefix: 'c', provider: 'openai-compatible-c', baseUrl: 'http://b.test/v1' },
    ],
  )
  const timeouts = { idleMs: 20_000 }
  assert.equal(
    combos.map(({ input }) => input),
    [
      { name: 'fast', on: ['rate_limit'], params: { temperature: 0 }, timeouts, models: ['a/x', 'b/x'] },
      { name: 'slow', on: ['error'], timeouts, models: ['a/x', 'b/x'] },
    ],
  )
})

test('a YAML config file can have hundreds of references to an anchor', async ({ folder }) => {
  const lines = Array.from({ length: 300 }, (_, index) => `  c${index}: { <<: *base, models: *models }`)
  const text = `x-a: { a: &base { strategy: random }, b: &models [openai/gpt-5] }\ncombos:\n${lines.join('\n')}`
  assert.is((await readConfigFile(await write(folder, 'many.yaml', text), env)).combos.length, 300)
})

test('reports a mistake in merged YAML fields at the place where they are used', async ({ folder }) => {
  const { data } = openData()
  const text = `x-a: &a { apikey: x, priority: "\${UNUSED_HERE}" }
x-b: &b { apikey: x }
connections:
  openai: { apiKey: "\${OPENAI_KEY}" }
  groq: { <<: *b }`
  const config = await readConfigFile(await write(folder, 'merged.yaml', text), env)
  assert.match(
    await findProblem(applyConfig(config, data)),
    /merged\.yaml: connections\.groq\.apikey is not a known field/,
  )
  const missing = text.replace('*b', '*a')
  assert.match(
    await findProblem(readConfigFile(await write(folder, 'merged.yaml', missing), env)),
    /connections\.groq\.priority needs the environment variable UNUSED_HERE/,
  )
})

const unreadable: ReadonlyArray<[name: string, content: string, says: RegExp]> = [
  [
    'alias.yaml',
    'combos:\n  a: *b',
    /alias\.yaml is not valid YAML: No anchor "&b" found before "\*b" at line 2, column 6\./,
  ],
  ['merge.yaml', 'combos:\n  a: { <<: *b }', /No anchor "&b" found before "\*b" at line 2, column 12\./],
  ['text-merge.yaml', 'keys:\n  a:\n    <<: text', /"<<" must be a map or a list of maps at line 3, column 5\./],
  ['list.yaml', 'keys:\n  a: { <<: [{}, text] }', /"<<" must be a map or a list of maps at line 2, column 8\./],
  [
    'empty-anchor.yaml',
    'x-a: &a\nkeys:\n  a: { <<: *a }',
    /"<<" must be a map or a list of maps at line 3, column 8\./,
  ],
  ['own.yaml', 'keys: &a\n  b: { <<: *a }', /"\*a" is nested inside its own anchor at line 2, column 12\./],
  ['cycle.yaml', 'keys: &a { b: { c: *a } }', /"\*a" is nested inside its own anchor at line 1, column 20\./],
]

for (const [name, content, message] of unreadable) {
  test(`rejects ${name}: ${message.source}`, async ({ folder }) => {
    assert.match(await findProblem(readConfigFile(await write(folder, name, content), env)), message)
  })
}
